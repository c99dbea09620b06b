import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { openConnection, openServer } from './open_connection.ts';
import { until, write } from './rtls_server.ts';

test('Connection gives up a silent server after a minute, or as announced by its KeepAlive', async (t) => {
  const server = await openServer(t);
  const { connection, time, isAt } = openConnection(t, server);
  const silent = await server.next();
  await isAt('connected');
  time.advance(59_999);
  assert.equal(connection.status().state, 'connected');
  time.advance(1);
  assert.equal(connection.status().state, 'waiting');
  await once(silent.resume(), 'close');
  time.advance(1000);

  const { unknown_messages: before } = connection.status();
  const announced = await server.next();
  await write(announced, 'KeepAlive,20\r\n');
  await until(() => time.pendingMs[0] === 40_000, 'the announced time is waited for');
  time.advance(39_000);
  await write(announced, 'anything\n');
  await until(() => connection.status().unknown_messages > before, 'a line');
  time.advance(39_000);
  assert.equal(connection.status().state, 'connected');
  time.advance(1000);
  assert.equal(connection.status().state, 'waiting');
});

for (const [announced, seconds] of [
  [1, 6],
  [5, 10],
  [100, 200],
  ['9'.repeat(300), 86_400],
] as const) {
  test(`Connection waits ${seconds} s for the server that announces ${String(announced).slice(0, 9)} s`, async (t) => {
    const server = await openServer(t);
    const { time } = openConnection(t, server);
    await write(await server.next(), `KeepAlive,${announced}\n`);
    await until(() => time.pendingMs[0] === seconds * 1000, `${seconds} s`);
    assert.equal(time.pendingMs.length, 1);
  });
}

test('Connection gives up a connect that takes longer than 10 s', (t) => {
  const sockets: Socket[] = [];
  const dial = () => {
    const socket = new Socket();
    sockets.push(socket);
    return socket;
  };
  const { connection, time } = openConnection(t, { port: 1, dial });
  time.advance(9999);
  assert.equal(connection.status().state, 'connecting');
  time.advance(1);
  assert.equal(connection.status().state, 'waiting');
  assert.equal(sockets[0]?.destroyed, true);
  time.advance(1000);
  assert.equal(sockets.length, 2);
});

test('Connection leaves no timer and no socket when it is closed in any state', async (t) => {
  const server = await openServer(t);
  const open = openConnection(t, server);
  const socket = await server.next();
  await open.isAt('connected');
  const waiting = openConnection(t, { port: 1, dial: () => new Socket() });
  waiting.time.advance(10_000);
  const connecting = openConnection(t, { port: 1, dial: () => new Socket() });
  assert.deepEqual(
    [waiting.connection.status().state, connecting.connection.status().state],
    ['waiting', 'connecting'],
  );
  for (const { connection, time } of [open, waiting, connecting]) {
    connection.close();
    connection.close();
    connection.start();
    assert.deepEqual(time.pendingMs, []);
    assert.equal(connection.status().state, 'waiting');
  }
  await once(socket.resume(), 'close');
});
