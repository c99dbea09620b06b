import { errorWith, problemWith } from '../support/errors.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { backoffMs } from '../../src/adapters/iso24730/connection.ts';
import type { EachResult } from '../../src/ingest/ingest.ts';
import type { Location } from '../../src/model/location.ts';
import { fix, openConnection, openServer, TAKEN } from './open_connection.ts';
import { until, write } from './rtls_server.ts';

test('Connection passes on locations, regardless of chunk boundaries', async (t) => {
  const server = await openServer(t);
  const { locations, connection, time } = openConnection(t, server);
  const socket = await server.next();
  for (const byte of Buffer.from(fix('A'))) await write(socket, Uint8Array.of(byte));
  await write(socket, `${fix('B', 1)}${fix('C', 2)}North,DF`);
  await write(socket, `T,02,D,1,2,0,0,2026-11-20T09:00:03Z\n`);
  await until(() => locations.length === 4, 'four locations');
  assert.deepEqual(
    locations.map(({ provider_id: id }) => id),
    ['A', 'B', 'C', 'D'],
  );
  time.advance(3500);
  assert.deepEqual(connection.status(), {
    source: 'hall',
    address: `127.0.0.1:${server.port}`,
    state: 'connected',
    connection_established: '2026-11-20T10:00:00.000Z',
    reconnects: 0,
    uptime: 3,
    number_of_updates: 4,
    last_update_received: '2026-11-20T10:00:00.000Z',
    last_update_type: 'iso-24730',
    rejected: 0,
    unknown_messages: 0,
    overlong_lines: 0,
    no_tag_id: 0,
    no_position: 0,
    no_timestamp: 0,
    declared_fields: [],
  });
});

test('Connection continues after garbage, and warns once if there was nothing else', async (t) => {
  const server = await openServer(t);
  const { locations, connection, logged } = openConnection(t, server);
  const socket = await server.next();
  const garbage = Buffer.alloc(300_000);
  for (let i = 0, seed = 1; i < garbage.length; i++) {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    garbage[i] = seed >> 16;
  }
  await write(socket, garbage);
  await write(socket, `\n${'T,0021F7B1,29.53,18.38,1.52,12,1433877485.930,4\n'.repeat(5)}`);
  await write(socket, Buffer.alloc(200_000, 'x'));
  await write(socket, `\n${fix('A')}`);
  await until(() => locations.length === 1, 'the location after the garbage');
  const { state, overlong_lines, unknown_messages } = connection.status();
  assert.deepEqual([state, overlong_lines], ['connected', 1]);
  assert.ok(unknown_messages > 50);
  assert.equal(logged.filter(({ message }) => message.startsWith('A peer does not look like')).length, 1);
  const kinds = logged.filter(({ message }) => message.includes('no messages'));
  assert.ok(kinds.length > 1 && kinds.length <= 50, `${kinds.length} kinds of lines are logged`);
});

test("Connection uses the port of Zebra's older stream", async (t) => {
  const server = await openServer(t);
  const { logged } = openConnection(t, server);
  const socket = await server.next();
  await write(socket, 'T,0021F7B1,29.53,18.38,1.52,12,1433877485.930,4\r\n'.repeat(60));
  await until(() => logged.some(({ facts }) => 'hint' in facts), 'a hint');
  assert.match(String(logged.find(({ facts }) => 'hint' in facts)?.facts['hint']), /Zebra/);
});

test('Connection retries indefinitely, with growing delays, until it reaches the server', async (t) => {
  const server = await openServer(t);
  const { port } = server;
  await server.close();
  const { connection, time, isAt } = openConnection(t, { port });
  for (const seconds of [1, 2, 4, 8, 16, 30, 30, 30]) {
    await isAt('waiting');
    assert.deepEqual(time.pendingMs, [seconds * 1000]);
    time.advance(seconds * 1000);
    assert.equal(connection.status().state, 'connecting');
  }
  await isAt('waiting');
  await openServer(t, port);
  time.advance(30_000);
  await isAt('connected');
  assert.deepEqual([connection.status().reconnects, connection.status().uptime], [0, 0]);
});

test('Connection waits longer for a server that hangs up, unless it has spoken the protocol', async (t) => {
  const server = await openServer(t);
  const { connection, time, isAt, logged } = openConnection(t, server);
  for (const [said, seconds] of [
    ['', 1],
    ['hello\n', 2],
    ['', 4],
    ['KeepAlive,20\n', 1],
    ['KeepAl', 2],
    [fix('A'), 1],
  ] as const) {
    (await server.next()).end(said);
    await isAt('waiting');
    assert.deepEqual(time.pendingMs, [seconds * 1000], `after ${JSON.stringify(said)}`);
    assert.equal(connection.status().connection_established, undefined);
    time.advance(seconds * 1000);
  }
  await isAt('connected');
  assert.deepEqual([connection.status().reconnects, connection.status().number_of_updates], [6, 1]);
  const lost = logged.filter(({ message }) => message.startsWith('There is no connection'));
  assert.deepEqual(
    lost.map(({ facts }) => facts['reason']),
    ['closed by the server'],
  );
});

test('Connection survives a reset, discards partial lines and definitions, and reconnects', async (t) => {
  const server = await openServer(t);
  const { connection, time, locations, isAt } = openConnection(t, server);
  const first = await server.next();
  await write(first, 'LocateMessageDefinition,North,DFT,Tag ID,Y,X\nNorth,DFT,A,1,2\nNorth,DFT,B,');
  await until(() => locations.length === 1, 'a location');
  first.resetAndDestroy();
  await isAt('waiting');
  time.advance(1000);
  const second = await server.next();
  await write(second, `1,2\n${fix('C')}`);
  await until(() => locations.length === 2, 'a location after the reset');
  assert.deepEqual(
    locations.map(({ provider_id: id, position }) => [id, position.coordinates]),
    [
      ['A', [2, 1]],
      ['C', [1, 2, 0]],
    ],
  );
  assert.equal(connection.status().reconnects, 1);
});

test('Connection counts rejected locations, warns once a minute, and continues', async (t) => {
  const server = await openServer(t);
  const deliver = (values: readonly Location[]): EachResult => {
    const problems = values
      .filter(({ provider_id: id }) => id === 'bad')
      .map(() => problemWith('source: must name a zone'));
    return { problems, committed: Promise.reject(new Error('the disk is full')) };
  };
  const { connection, time, locations, logged } = openConnection(t, { port: server.port, deliver });
  const socket = await server.next();
  for (let i = 1; i <= 5; i++) {
    await write(socket, fix('bad') + fix('good'));
    await until(() => locations.length === 2 * i, 'locations');
  }
  assert.deepEqual([connection.status().rejected, connection.status().number_of_updates], [5, 5]);
  const warnings = () => logged.filter(({ message }) => message.includes('are refused'));
  assert.equal(warnings().length, 1);
  assert.equal(warnings()[0]?.facts['problem'], 'source: must name a zone');
  time.advance(59_000);
  await write(socket, fix('bad'));
  await until(() => locations.length === 11, 'another location');
  assert.equal(warnings().length, 1);
  time.advance(1000);
  await write(socket, fix('bad'));
  await until(() => locations.length === 12, 'another location');
  assert.equal(warnings().length, 2);
  assert.ok(Number(warnings()[1]?.facts['keptBack']) >= 5);
});

test('Connection applies backpressure to the server while the hub is full', async (t) => {
  const server = await openServer(t);
  let isFull = true;
  const deliver = (): EachResult => {
    if (isFull) throw errorWith('HUB_UNAVAILABLE', 'too many are waiting');
    return TAKEN;
  };
  const { connection, time, locations } = openConnection(t, { port: server.port, deliver });
  const socket = await server.next();
  await write(socket, fix('A'));
  await until(() => connection.status().rejected === 1, 'a refused location');
  await write(socket, fix('B'));
  await write(socket, fix('C'));
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual([connection.status().rejected, locations.length], [1, 0]);
  isFull = false;
  time.advance(100);
  await until(() => locations.length === 2, 'the locations that have waited');
  assert.equal(connection.status().rejected, 1);
});

test('Connection continues when the hub fails', async (t) => {
  const server = await openServer(t);
  let failures = 0;
  const deliver = (): EachResult => {
    if (failures++ === 0) throw new TypeError('a fault');
    return TAKEN;
  };
  const { connection, locations } = openConnection(t, { port: server.port, deliver });
  const socket = await server.next();
  await write(socket, fix('A'));
  await until(() => failures === 1, 'the fault');
  await write(socket, fix('B'));
  await until(() => locations.length === 1, 'the next location');
  assert.deepEqual([connection.status().rejected, connection.status().number_of_updates], [1, 1]);
});

test('backoffMs varies delays by up to a quarter', () => {
  assert.deepEqual([backoffMs(0, 0), backoffMs(0, 0.5), backoffMs(0, 0.999999)], [750, 1000, 1250]);
  assert.deepEqual([backoffMs(5, 0), backoffMs(1_000_000, 0.999999)], [22_500, 37_500]);
});
