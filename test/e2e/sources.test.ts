import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NOTIFICATIONS, OFFICE, WORKS } from '../adapters/cisco_samples.ts';
import { RtlsServer, until, write } from '../adapters/rtls_server.ts';
import { assertNear } from '../api/open_api.ts';
import { HALL } from '../support/hall.ts';
import { openTestHub } from '../support/running_hub.ts';
import { borrowHub } from '../support/shared_hubs.ts';

/** In the past, so that its notifications are ordered by their times, whatever the current date. */
const inFeet = { ...NOTIFICATIONS.inFeet, timestamp: 1_600_000_000_000 };
const { inZoneOfVendor, geographic, association, withArrows, nowhere } = NOTIFICATIONS;

test('A stream is forwarded from its server to a subscriber, despite garbage and a reset', async (t) => {
  const server = await RtlsServer.open();
  t.after(() => server.close());
  const address = `host: 127.0.0.1, port: ${server.port}, type: uwb`;
  const hub = await openTestHub({
    iso_24730_connections: `[{${address}, foreign_id: hall}, {${address}, zone_id: none}]`,
  });
  t.after(hub.close);
  const updates = await hub.subscribe('location_updates');
  // Either may be accepted first, so both receive the same data.
  const sockets = [await server.next(), await server.next()];
  const send = async (text: string | Uint8Array) => {
    for (const socket of sockets) await write(socket, text);
  };
  const [known, unknown] = [() => hub.hub.sources.status()[0], () => hub.hub.sources.status()[1]];

  await send('North,DFT,02,early,10,20,0,0,2026-11-20T09:00:00Z\r\n');
  await until(() => known()?.rejected === 1, 'a location without its zone');
  assert.equal((await hub.post('/zones', HALL)).status, 201);

  await send('LocateMessageDefinition,North,POSE,Tag ID Format,Tag ID,X,Y,Z,Battery,Timestamp,Yaw\r\nKeepAlive,20\r\n');
  await send('North,POSE,02,tag,10,2');
  await send('0,1.5,3,2026-11-20T10:00:00.5+01:00,1.57\r\n');
  const first = await updates.next(({ provider_id: id }) => id === 'tag');
  assertNear(first.position.coordinates[0], 9.0001394785, 1e-8);
  assertNear(first.position.coordinates[1], 50.00017978, 1e-8);
  assert.equal(first.position.coordinates[2], 1.5);
  assert.deepEqual(
    [first.source, first.provider_type, first.timestamp_generated, first.floor, first.properties],
    [
      'hall',
      'uwb',
      '2026-11-20T09:00:00.500Z',
      0,
      { iso24730: { Yaw: '1.57', source: 'North', format: 'POSE', tag_id_format: '02', battery: 3 } },
    ],
  );

  await send(Uint8Array.from({ length: 5000 }, (_, i) => (i * 7919) % 256));
  await send('\nNorth,DFT,02,tag,11,20,0,0,2026-11-20T09:00:01Z\n');
  await updates.next(({ timestamp_generated: time }) => time === '2026-11-20T09:00:01.000Z');
  await until(() => unknown()?.rejected === 3, 'the refused locations of the other connection');
  assert.deepEqual([known()?.number_of_updates, unknown()?.number_of_updates], [2, 0]);

  for (const socket of sockets) socket.resetAndDestroy();
  sockets.splice(0, 2, await server.next(), await server.next());
  await send('North,DFT,02,tag,12,20,0,0,2026-11-20T09:00:02Z\n');
  await updates.next(({ timestamp_generated: time }) => time === '2026-11-20T09:00:02.000Z');
  assert.deepEqual([known()?.reconnects, known()?.state, known()?.number_of_updates], [1, 'connected', 3]);
  await hub.settle();
  const { received, processed, outdated, rejected } = hub.hub.counts();
  assert.deepEqual([received, processed + outdated + rejected, rejected], [8, 8, 5]);
  assert.equal((await hub.get('/providers/tag')).body.type, 'uwb');
  assert.deepEqual(
    hub.logged.filter(({ level }) => level === 'error'),
    [],
  );
});

test('A hub starts and stops while the servers of its streams cannot be reached', async (t) => {
  const server = await RtlsServer.open();
  await server.close();
  const hub = await openTestHub({
    iso_24730_connections: `[{host: 127.0.0.1, port: ${server.port}, type: uwb, zone_id: a}]`,
  });
  t.after(hub.close);
  await until(() => hub.hub.sources.status()[0]?.state === 'waiting', 'a refused connect');
  assert.equal((await hub.get('/health')).status, 200);
});

test('Cisco notifications are forwarded by REST to a subscriber', async (t) => {
  const { now: hub } = await borrowHub(t);
  for (const zone of [OFFICE, WORKS]) {
    const { status, text } = await hub.post('/zones', zone);
    assert.equal(status, 201, text);
  }
  const updates = await hub.subscribe('location_updates');
  const sent: readonly (readonly [method: string, base: string, body: unknown])[] = [
    ['POST', hub.base, { notifications: [inFeet] }],
    ['PUT', hub.base, { notifications: [inZoneOfVendor, nowhere] }],
    ['PUT', `${hub.origin}/v1`, [geographic]],
    ['POST', `${hub.origin}/deephub/v1`, { notifications: [association, withArrows] }],
    ['POST', hub.base, { notifications: [] }],
    ['POST', hub.base, { notifications: [inFeet] }],
    ['POST', hub.base, { notifications: [{ ...inFeet, timestamp: inFeet.timestamp - 1000 }] }],
  ];
  for (const [method, base, body] of sent) {
    const { status, text } = await hub.request(method, `${base}/adapters/cisco/locations`, body);
    assert.deepEqual([status, text], [204, '']);
  }
  await until(() => updates.events.length >= 5, 'five locations');
  await hub.settle();
  const seen = updates.events.map(({ provider_id: id, floor, accuracy, associated }) => [
    id,
    floor,
    accuracy,
    associated,
  ]);
  // Devices of different shards arrive in any order. The sort preserves the order of each device.
  assert.deepEqual(
    seen.sort(([a], [b]) => a.localeCompare(b)),
    [
      [inFeet.deviceId, 4, 17.069, true],
      [inFeet.deviceId, 4, 17.069, true],
      [inZoneOfVendor.deviceId, 0, 8, undefined],
      [geographic.deviceId, 0, 21.946, false],
      [withArrows.deviceId, 0, 26.822, undefined],
    ],
  );
  const { body } = await hub.get(`/providers/${inFeet.deviceId}/location?crs=local&zone_id=${OFFICE.id}`);
  assertNear(body.position.coordinates[0], 12.5, 0.001);
  assertNear(body.position.coordinates[1], 30, 0.001);
  assert.equal((await hub.get(`/providers/${geographic.deviceId}`)).body.type, 'wifi');
});

test('Bodies that are not Cisco notifications are answered 400, naming the field', async (t) => {
  const { now: hub } = await borrowHub(t);
  const unplaced = { id: '22222222-0000-4000-8000-000000000001', type: 'rfid', foreign_id: 'A>B>C' };
  const reader = { ...unplaced, position: { type: 'Point', coordinates: [8, 49] } };
  assert.equal((await hub.post('/zones', reader)).status, 201);
  const bad: readonly (readonly [body: unknown, message: RegExp])[] = [
    ['', /^body: must be JSON, found nothing$/],
    ['{', /^body: must be JSON, found /],
    ['"x"', /^body: must be an object, found "x"$/],
    [{}, /^notifications: must be an array, found nothing$/],
    [{ notifications: [nowhere] }, /^notifications\[0\]\.locationMapHierarchy: .*"Nowhere>B>F"$/],
    [
      { notifications: [association, { ...nowhere, locationMapHierarchy: 'A>B>C' }] },
      /^notifications\[1\]\.source: must name a zone with ground control points when crs is local, found "A>B>C"$/,
    ],
    [`${'['.repeat(100_000)}${']'.repeat(100_000)}`, /^body: must be nested at most/],
  ];
  for (const method of ['POST', 'PUT']) {
    for (const [body, message] of bad) {
      const reply = await hub.request(method, '/adapters/cisco/locations', body);
      assert.deepEqual([reply.status, reply.body.code, reply.body.type], [400, 400, 'com.flowcate.http.bad_request']);
      assert.match(reply.body.message, message);
    }
  }
  assert.equal((await hub.get('/adapters/cisco/locations')).status, 405);
});

test('Cisco notifications may have 1 MiB together, regardless of the limit on other bodies', async (t) => {
  const { now: hub } = await borrowHub(t);
  const bodyOf = (bytes: number) => {
    const body = JSON.stringify({ notifications: [], filler: '' });
    return body.replace('""', `"${'x'.repeat(bytes - body.length)}"`);
  };
  for (const method of ['POST', 'PUT']) {
    const most = await hub.request(method, '/adapters/cisco/locations', bodyOf(1 << 20));
    assert.equal(most.status, 204, most.text);
    const more = await hub.request(method, '/adapters/cisco/locations', bodyOf((1 << 20) + 1));
    assert.equal(more.status, 413);
    assert.equal(more.body.message, 'body: must have at most 1,048,576 bytes, found 1,048,577');
  }
  assert.equal((await hub.put('/providers/x/sensors', bodyOf(2 << 20))).status, 404);
});
