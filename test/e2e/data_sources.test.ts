import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { WebSocketServer } from 'ws';
import type { SourceStatus } from '../../src/model/source.ts';
import { runCli, runCliIn } from '../cli/run_cli.ts';
import { Broker, whyNo } from '../mqtt/brokers.ts';
import { TestMqttClient, until } from '../mqtt/mqtt_client.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';

const MAP = { provider_id: '/id', provider_type: { value: 'gps' }, x: '/lon', y: '/lat', crs: { value: 'EPSG:4326' } };
const BODY = { name: 'Tags', kind: 'http', format: 'json', map: MAP };
const HOSTS = '["*", "127.0.0.1"]';

async function openHub(t: TestContext, settings: Readonly<Record<string, string>> = {}): Promise<TestHub> {
  const hub = await openTestHub({ source_allowed_hosts: HOSTS, ...settings });
  t.after(() => hub.close());
  return hub;
}

async function create(hub: TestHub, body: object): Promise<{ readonly id: string; readonly token: string }> {
  const created = await hub.post('/sources', body);
  assert.equal(created.status, 201, created.text);
  return created.body as { id: string; token: string };
}

async function statusOf(hub: TestHub, id: string): Promise<SourceStatus> {
  return (await hub.get(`/sources/${id}/status`)).body as SourceStatus;
}

/** Waits until a source has mapped that many items, and returns its status. */
async function mapped(hub: TestHub, id: string, count: number): Promise<SourceStatus> {
  await until(async () => (await statusOf(hub, id)).mapped >= count);
  return statusOf(hub, id);
}

async function listen(t: TestContext, server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

async function coordinatesOf(hub: TestHub, provider: string): Promise<unknown> {
  return (await hub.get(`/providers/${provider}/location`)).body.position?.coordinates;
}

test('An http source accepts payloads with its own token alone, which is shown once and can be rotated', async (t) => {
  const hub = await openHub(t);
  const { id, token, ...stored } = await create(hub, BODY);
  assert.deepEqual(stored, BODY);
  const send = (body: unknown, authorization?: string) =>
    hub.request('POST', `/sources/${id}/data`, body, authorization === undefined ? {} : { authorization });
  assert.equal((await send({ id: 'a', lon: 8, lat: 50 }, `Bearer ${token}`)).status, 204);
  assert.deepEqual(await coordinatesOf(hub, 'a'), [8, 50]);
  const basic = Buffer.from(`any:${token}`).toString('base64');
  assert.equal((await send([{ id: 'b', lon: 9, lat: 50 }], `Basic ${basic}`)).status, 204);
  for (const wrong of [undefined, 'Bearer wrong', `Bearer ${token}x`, 'Basic eDp5', `Digest ${token}`]) {
    assert.equal((await send({ id: 'c', lon: 9, lat: 50 }, wrong)).status, 401, wrong);
  }
  const unknown = await hub.request('POST', '/sources/nobody/data', {}, { authorization: `Bearer ${token}` });
  assert.equal(unknown.status, 404);

  const refused = await send([{ id: 'd', lon: 'far', lat: 50 }], `Bearer ${token}`);
  assert.deepEqual([refused.status, refused.body.message], [400, '$/0/lon: must be a number, found "far"']);
  const partial = await send(
    [
      { id: 'e', lon: 200, lat: 50 },
      { id: 'f', lon: 8, lat: 51 },
    ],
    `Bearer ${token}`,
  );
  assert.equal(partial.status, 204);
  const { received, mapped: accepted, refused_by: by, last_refused: last } = await statusOf(hub, id);
  assert.deepEqual([received, accepted, by], [4, 3, { not_a_number: 1, axis_out_of_range: 1 }]);
  assert.match(last?.message ?? '', /^\$\/0\.position\.coordinates\[0\]: must be a longitude .* found 200/);
  assert.equal((await send('x'.repeat((1 << 20) + 1), `Bearer ${token}`)).status, 413);

  const replies = await Promise.all(
    ['/sources', `/sources/${id}`, `/sources/${id}/status`].map((path) => hub.get(path)),
  );
  for (const { text } of replies) assert.ok(!text.includes(token));
  const rotated = await hub.post(`/sources/${id}/token`);
  assert.equal((await send({ id: 'a', lon: 8, lat: 50 }, `Bearer ${token}`)).status, 401);
  assert.equal((await send({ id: 'a', lon: 8, lat: 50 }, `Bearer ${rotated.body.token}`)).status, 204);

  const off = await hub.request('PATCH', `/sources/${id}`, { op: 'add', path: '/enabled', value: false });
  assert.equal(off.status, 200, off.text);
  assert.equal((await send({}, `Bearer ${rotated.body.token}`)).status, 503);
  assert.equal((await hub.delete(`/sources/${id}`)).status, 204);
  assert.equal((await send({}, `Bearer ${rotated.body.token}`)).status, 404);
});

test('A flood gets 429, and other sources and clients are not affected', async (t) => {
  const hub = await openHub(t);
  const [flooding, other] = [
    await create(hub, { ...BODY, rate_limit: 5 }),
    await create(hub, { ...BODY, name: 'Other' }),
  ];
  const send = async ({ id, token }: typeof other) =>
    (
      await hub.request(
        'POST',
        `/sources/${id}/data`,
        { id: 'a', lon: 8, lat: 50 },
        { authorization: `Bearer ${token}` },
      )
    ).status;
  const statuses = await Promise.all(Array.from({ length: 200 }, () => send(flooding)));
  assert.ok(statuses.filter((status) => status === 429).length > 150, String(statuses));
  assert.ok(statuses.every((status) => status === 204 || status === 429));
  assert.equal(await send(other), 204);
  const metrics = (await hub.get(`${hub.origin}/metrics`)).text;
  assert.match(metrics, new RegExp(`^hub_source_throttled_total\\{source="${flooding.id}"\\} 1[5-9]\\d$`, 'm'));
  assert.match(metrics, /^hub_sources\{state="receiving"\} 2$/m);
  const { sources } = (await hub.get('/health/system')).body as { sources: SourceStatus[] };
  assert.deepEqual(
    sources.map(({ state }) => state),
    ['receiving', 'receiving'],
  );
});

test('A preview returns locations with their positions and warnings, or the path and the value found', async (t) => {
  const hub = await openHub(t);
  const zone = {
    type: 'uwb',
    foreign_id: 'hall-1',
    ground_control_points: [
      [8.6821, 50.1109],
      [0, 0],
      [8.6835, 50.1109],
      [100, 0],
      [8.6835, 50.1118],
      [100, 100],
    ],
  };
  assert.equal((await hub.post('/zones', zone)).status, 201);
  const local = {
    ...{ kind: 'http', format: 'json' },
    map: {
      provider_id: '/id',
      x: '/x',
      y: '/y',
      source: { path: '/map', lookup: { 7: 'hall-1' } },
      timestamp_generated: { path: '/t', unit: 'ms' },
    },
  };
  const preview = async (value: unknown, source: object = local) =>
    (await hub.post('/sources/preview', { source, payload: typeof value === 'string' ? value : JSON.stringify(value) }))
      .body;
  const t0 = Date.now();
  const { items, count, problems } = await preview([
    { id: 'a', x: 60, y: 40, map: 7, t: t0 },
    // Millimeters instead of meters, and seconds instead of milliseconds.
    { id: 'b', x: 50_000, y: 50_000, map: 7, t: t0 / 1000 },
    { id: 'c', x: 1, y: 1, map: 8, t: t0 },
    { x: 1, y: 1 },
  ]);
  assert.equal(count, 3);
  assert.deepEqual(
    problems.map((problem: { message: string }) => problem.message),
    ['$/3/id: is required, but is missing'],
  );
  const [right, wrongUnit, wrongZone] = items;
  assert.deepEqual(right.warnings, []);
  assert.ok(Math.abs(right.position[0] - 8.68294) < 1e-5 && Math.abs(right.position[1] - 50.11126) < 1e-4);
  assert.deepEqual(
    wrongUnit.warnings.map(({ reason }: { reason: string }) => reason),
    ['outside_zones', 'time_far_off'],
  );
  assert.match(wrongZone.problem.message, /^source: must name a zone when crs is local, found "8"/);
  assert.match((await preview('{"id":')).problems[0].message, /^\$: must be JSON, found /);
  const invalid = await preview({}, { ...local, map: { ...local.map, x: 'x' } });
  assert.match(invalid.message, /^map\.x: must be a JSON Pointer/);
  assert.deepEqual((await hub.get('/providers')).body, []);
});

test('Lines of a TCP server arrive, and again after the server was away', async (t) => {
  const hub = await openHub(t);
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket.on('error', () => undefined)));
  const port = await listen(t, server);
  const map = { provider_id: { value: 'boat' }, x: '/longitude', y: '/latitude', crs: { value: 'EPSG:4326' } };
  const { id } = await create(hub, { name: 'GNSS', kind: 'tcp', url: `tcp://127.0.0.1:${port}`, format: 'nmea', map });
  await until(async () => sockets.length === 1 && (await statusOf(hub, id)).state === 'receiving');
  sockets[0]?.write('$GPGGA,123519,4807.0');
  sockets[0]?.write('38,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,*47\r\nnoise\r\n');
  const { refused_by: by } = await mapped(hub, id, 1);
  assert.deepEqual(by, { not_nmea: 1 });
  assert.deepEqual(
    await coordinatesOf(hub, 'boat'),
    [11 + 31 / 60, 48.1173].map((degrees) => Number(degrees.toFixed(15))),
  );
  sockets[0]?.destroy();
  await until(async () => sockets.length === 2);
  sockets[1]?.write('$GPGGA,123520,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,\n');
  const { failures, state } = await mapped(hub, id, 2);
  assert.deepEqual([failures, state], [1, 'receiving']);
});

test('Datagrams arrive on an allowed port alone', async (t) => {
  const probe = createSocket('udp6');
  await new Promise<void>((resolve) => probe.bind(0, resolve));
  const { port } = probe.address();
  probe.close();
  const hub = await openHub(t, { source_udp_ports: `[${port}]` });
  const body = { ...BODY, kind: 'udp', map: { ...MAP, properties: { from: '$sender' } } };
  const other = await hub.post('/sources', { ...body, port: port === 5000 ? 5001 : 5000 });
  assert.deepEqual([other.status, other.body.reason], [400, 'source_port_not_allowed']);
  const { id } = await create(hub, { ...body, port });
  await until(async () => (await statusOf(hub, id)).state === 'receiving');
  const client = createSocket('udp4');
  t.after(() => client.close());
  client.send('{"id":"a","lon":8,"lat":50}', port, '127.0.0.1');
  await mapped(hub, id, 1);
  assert.deepEqual((await hub.get('/providers/a/location')).body.properties, { from: '127.0.0.1' });
});

test('A WebSocket gets the open message and credentials, and its messages arrive', async (t) => {
  const hub = await openHub(t);
  const server = createHttpServer();
  const sockets = new WebSocketServer({ server });
  const seen: unknown[] = [];
  sockets.on('connection', (socket, { headers }) => {
    seen.push(headers.authorization);
    socket.on('message', (message) => {
      seen.push(String(message));
      socket.send('{"id":"a","lon":8,"lat":50}');
    });
  });
  t.after(() => sockets.close());
  const port = await listen(t, server);
  const secrets = { password: 'p4ss', open_message: 'subscribe with k3y' };
  const { id } = await create(hub, { ...BODY, kind: 'websocket', url: `ws://127.0.0.1:${port}/feed`, ...secrets });
  await mapped(hub, id, 1);
  assert.deepEqual(seen, ['Bearer p4ss', 'subscribe with k3y']);
  assert.doesNotMatch((await hub.get(`/sources/${id}`)).text, /p4ss|k3y/);
});

test('A polled server is requested repeatedly, with errors and long bodies as failures', async (t) => {
  const hub = await openHub(t);
  let answer = { status: 200, body: '{"tags":[{"id":"a","lon":8,"lat":50}]}' };
  const server = createHttpServer((_request, response) => {
    response.writeHead(answer.status).end(answer.body);
  });
  t.after(() => server.closeAllConnections());
  const port = await listen(t, server);
  const url = `http://127.0.0.1:${port}/tags`;
  const { id } = await create(hub, { ...BODY, kind: 'poll', url, interval: 100, map: { ...MAP, items: '/tags/*' } });
  await mapped(hub, id, 2);
  answer = { status: 500, body: '' };
  await until(async () => (await statusOf(hub, id)).state === 'failing');
  assert.equal((await statusOf(hub, id)).error, 'the server has answered 500');
  answer = { status: 200, body: `["${'x'.repeat(2 << 20)}"]` };
  await until(async () => /has more than 1048576 bytes/.test((await statusOf(hub, id)).error ?? ''));
});

test('A broker that restarts is subscribed to again', { skip: (await whyNo('mosquitto')) ?? false }, async (t) => {
  const broker = await Broker.start('mosquitto');
  t.after(() => broker.close());
  const hub = await openHub(t);
  const map = { as: 'proximity', provider_id: '/id', provider_type: { value: 'ibeacon' }, source: '$topic/3' };
  const kitchen = {
    type: 'ibeacon',
    foreign_id: 'kitchen',
    position: { type: 'Point', coordinates: [8, 50] },
    radius: 5,
  };
  assert.equal((await hub.post('/zones', kitchen)).status, 201);
  const url = `mqtt://127.0.0.1:${broker.port}`;
  const { id } = await create(hub, {
    name: 'BLE',
    kind: 'mqtt',
    url,
    topic: 'espresense/devices/+/+',
    format: 'json',
    map,
  });
  const publish = async (): Promise<void> => {
    await until(async () => (await statusOf(hub, id)).state === 'receiving');
    const client = await TestMqttClient.open(broker.port);
    await client.publish('espresense/devices/a/kitchen', '{"id":"a","distance":2}');
    await client.close();
  };
  await publish();
  await mapped(hub, id, 1);
  assert.deepEqual(await coordinatesOf(hub, 'a'), [8, 50]);
  await broker.kill();
  await until(async () => (await statusOf(hub, id)).state === 'failing');
  await broker.start();
  await publish();
  await mapped(hub, id, 2);
});

test('A source cannot reach an address that is not allowed, in any notation', async (t) => {
  const hub = await openHub(t, { source_allowed_hosts: '["*"]' });
  const urls = ['http://169.254.169.254/latest', 'http://127.1:80/', 'http://[::ffff:127.0.0.1]/', 'http://10.0.0.1/'];
  for (const url of urls) {
    const { status, body } = await hub.post('/sources', { ...BODY, kind: 'poll', url });
    assert.deepEqual([status, body.reason], [400, 'source_host_not_allowed'], url);
  }
  for (const [kind, url] of [
    ['poll', 'http://localhost:8089/'],
    ['websocket', 'ws://localhost:8089/'],
    ['tcp', 'tcp://127.1:1'],
    ['mqtt', 'mqtt://localhost:1'],
  ]) {
    const topic = kind === 'mqtt' ? { topic: '#' } : {};
    const { id } = await create(hub, { ...BODY, name: String(kind), kind, url, ...topic });
    await until(async () => (await statusOf(hub, id)).state === 'failing');
    assert.match((await statusOf(hub, id)).error ?? '', /is not public, and source_allowed_hosts/, kind);
  }
});

test('Sources and their tokens survive a restart, and an export has the sources without secrets', async (t) => {
  const folder = temporaryFolder();
  const first = await openTestHub({}, { folder, isAlone: true });
  const { id, token } = await create(first, BODY);
  await first.close();
  const file = join(folder, 'export.json');
  await runCliIn(folder, 'export', file);
  const [exported] = JSON.parse(await readFile(file, 'utf8')).sources;
  assert.deepEqual(exported, { id, ...BODY });
  const second = await openTestHub({}, { folder, isAlone: true });
  t.after(() => second.close());
  const sent = await second.request(
    'POST',
    `/sources/${id}/data`,
    { id: 'a', lon: 8, lat: 50 },
    { authorization: `Bearer ${token}` },
  );
  assert.equal(sent.status, 204, sent.text);
});

test('The commands list sources, test a payload and replace a token', async (t) => {
  const hub = await openHub(t);
  const { id, token } = await create(hub, BODY);
  const folder = temporaryFolder();
  const [payload, bad, source] = [join(folder, 'payload'), join(folder, 'bad'), join(folder, 'source.json')];
  await writeFile(payload, '[{"id":"a","lon":8,"lat":50},{"id":"b","lat":50}]');
  await writeFile(bad, '{"id":"b","lat":50}');
  await writeFile(source, JSON.stringify({ ...BODY, map: { ...MAP, x: { value: 7 } } }));
  const run = (...args: string[]) => runCli('sources', ...args, '--hub', hub.origin);
  const tested = (await run('test', id, payload)).out;
  assert.match(tested, /^\{"at":"\$\/0","location":\{.*\},"position":\[8,50\]\}$/m);
  assert.match(tested, /^problem: \$\/1\/lon: is required, but is missing$/m);
  assert.match(tested, /^1 mapped, 0 skipped, 1 refused$/m);
  assert.match((await run('test', source, bad)).out, /"position":\[7,50\]/);
  assert.match((await run('test', id, bad)).err, /The source would refuse the payload/);
  const rotated = (await run('token', id)).out.trim();
  assert.notEqual(rotated, token);
  const headers = { authorization: `Bearer ${rotated}` };
  assert.equal((await hub.request('POST', `/sources/${id}/data`, { id: 'a', lon: 8, lat: 50 }, headers)).status, 204);
  const listed = (await run('list')).out;
  assert.match(listed, new RegExp(`^${id}\thttp\tTags\treceiving\t1 received, 1 mapped, 0 refused, 0 throttled$`, 'm'));
});
