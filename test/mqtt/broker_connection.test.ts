import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { mock, type TestContext, test } from 'node:test';
import { connectBroker } from '../../src/mqtt/broker_connection.ts';

const CONNACK = [0x20, 3, 0, 0, 0];
const SUBACK = [0x90, 4, 0, 1, 0, 1];
const MESSAGE = [0x30, 4, 0, 1, 0x61, 0];
const [CONNECT, SUBSCRIBE, PING] = [1, 8, 12];

/** A broker that accepts every client and subscription, and sends nothing else. */
async function openSilentBroker(t: TestContext) {
  let socket: Socket | undefined;
  let pings = 0;
  const server = createServer((accepted) => {
    socket = accepted;
    accepted.on('error', () => undefined);
    accepted.on('data', ([first = 0, ...rest]) => {
      if (first >> 4 === CONNECT) accepted.write(Buffer.from(CONNACK));
      if (first >> 4 === SUBSCRIBE) accepted.write(Buffer.from(SUBACK.with(2, rest[1] ?? 0).with(3, rest[2] ?? 0)));
      // Several may arrive together, of two bytes each.
      if (first >> 4 === PING) pings += (1 + rest.length) / 2;
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    socket?.destroy();
    server.close();
  });
  return {
    port: (server.address() as { port: number }).port,
    pings: () => pings,
    send: () => void socket?.write(Buffer.from(MESSAGE)),
  };
}

test('A silent broker is abandoned, and an active one is not', async (t) => {
  const broker = await openSilentBroker(t);
  mock.timers.enable({ apis: ['setInterval'] });
  t.after(() => mock.timers.reset());
  const up = Promise.withResolvers<void>();
  const down = Promise.withResolvers<string>();
  let received = Promise.withResolvers<void>();
  const address = { protocol: 'mqtt', host: '127.0.0.1', port: broker.port, path: '', clientId: 'hub' } as const;
  connectBroker(
    { ...address, username: undefined, password: undefined, tls: undefined },
    {
      subscriptions: [{ filter: 'a', qos: 1, getsRetained: false, getsOwn: true }],
      keepsSession: true,
      will: { topic: 'will', payload: '' },
    },
    {
      up: () => up.resolve(),
      message: () => received.resolve(),
      ...{ room: () => undefined, notice: () => undefined, down: down.resolve },
    },
  );
  await up.promise;
  for (let minute = 0; minute < 10; minute++) {
    broker.send();
    await received.promise;
    received = Promise.withResolvers();
    mock.timers.tick(45_000);
  }
  mock.timers.tick(45_000);
  assert.equal(await down.promise, 'Keepalive timeout');
  assert.ok(broker.pings() >= 10, `${broker.pings()} pings`);
});
