import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { WebSocketServer } from 'ws';
import { freePort } from '../../bench/process/free_port.ts';
import { Balancer } from './balancer.ts';

interface FakeHub {
  readonly port: number;
  readonly server: Server;
  /** Method, path and body of each request but GET /health. */
  readonly requests: string[];
}

/** Answers GET /health, and everything else as configured. */
async function fakeHub(
  t: TestContext,
  handle: (incoming: IncomingMessage, answer: ServerResponse) => void,
  health = () => 200,
): Promise<FakeHub> {
  const requests: string[] = [];
  const server = createServer(async (incoming, answer) => {
    if (incoming.url === '/health') return void answer.writeHead(health()).end();
    const body = await incoming.toArray();
    requests.push(`${incoming.method} ${incoming.url} ${body.join('')}`);
    handle(incoming, answer);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, server, requests };
}

async function balance(t: TestContext, ports: readonly number[]): Promise<{ balancer: Balancer; base: string }> {
  const balancer = await Balancer.open({ ports });
  t.after(() => balancer.close());
  return { balancer, base: `http://127.0.0.1:${balancer.port}` };
}

const named = (name: string) => (_: IncomingMessage, answer: ServerResponse) => void answer.end(name);
const goneAway = (incoming: IncomingMessage): void => void incoming.socket.destroy();

test('Balancer distributes requests with their bodies round-robin, and passes on answers', async (t) => {
  const hubs = [await fakeHub(t, named('a')), await fakeHub(t, named('b'))];
  const { base } = await balance(
    t,
    hubs.map(({ port }) => port),
  );
  const answers: string[] = [];
  for (let i = 0; i < 4; i++)
    answers.push(await (await fetch(`${base}/x?${i}`, { method: 'PUT', body: 'text' })).text());
  assert.deepEqual(answers, ['a', 'b', 'a', 'b']);
  assert.deepEqual(hubs[1]?.requests, ['PUT /x?1 text', 'PUT /x?3 text']);
});

test('Balancer skips unhealthy hubs until they are healthy again', async (t) => {
  let status = 503;
  const unwell = await fakeHub(t, named('a'), () => status);
  const hubs = [unwell, await fakeHub(t, named('b'))];
  const { balancer, base } = await balance(
    t,
    hubs.map(({ port }) => port),
  );
  const answers = await Promise.all([1, 2, 3].map(async () => (await fetch(base)).text()));
  assert.deepEqual(answers, ['b', 'b', 'b']);
  status = 200;
  while (balancer.up.length < 2) await once(unwell.server, 'request');
  assert.deepEqual(
    balancer.up,
    hubs.map(({ port }) => port),
  );
});

for (const [method, status, goesOn] of [
  ['GET', 200, true],
  ['PUT', 502, false],
  ['POST', 502, false],
] as const) {
  test(`Balancer answers a ${method} that a hub goes away over ${status}`, async (t) => {
    const [first, second] = [await fakeHub(t, goneAway), await fakeHub(t, named('b'))];
    const { base } = await balance(t, [first.port, second.port]);
    const answer = await fetch(base, { method, ...(goesOn ? {} : { body: 'text' }) });
    await answer.text();
    assert.equal(answer.status, status);
    assert.equal(first.requests.length, 1);
    assert.equal(second.requests.length, goesOn ? 1 : 0);
  });
}

test('Balancer retries any request at another hub when it cannot connect to the first', async (t) => {
  const [first, second] = [await fakeHub(t, named('a')), await fakeHub(t, named('b'))];
  const { base } = await balance(t, [first.port, second.port]);
  first.server.closeAllConnections();
  first.server.close();
  const answer = await fetch(base, { method: 'POST', body: 'text' });
  assert.deepEqual([answer.status, await answer.text()], [200, 'b']);
  assert.deepEqual(second.requests, ['POST / text']);
});

test('Balancer aborts requests in flight to a hub that is found to be down', async (t) => {
  const hub = await fakeHub(t, () => hub.server.close());
  const { base } = await balance(t, [hub.port]);
  const answer = await fetch(base, { method: 'PUT', body: 'text' });
  assert.equal(answer.status, 502);
});

test('Balancer answers 503 if no hub is up', async (t) => {
  const { balancer, base } = await balance(t, [await freePort()]);
  assert.deepEqual(balancer.up, []);
  const answer = await fetch(base, { method: 'POST', body: 'text' });
  assert.equal(answer.status, 503);
  assert.match(await answer.text(), /No hub is up/);
  const socket = new WebSocket(base.replace('http', 'ws'));
  await once(socket, 'error');
});

test('Balancer connects WebSockets to the hubs in turn, and closes them with their hub', async (t) => {
  const hubs = [await fakeHub(t, named('a')), await fakeHub(t, named('b'))];
  const servers = hubs.map(({ server }, index) => {
    const sockets = new WebSocketServer({ server });
    sockets.on('connection', (socket) => {
      socket.on('message', (text) => socket.send(`${index} ${text}`));
    });
    return sockets;
  });
  const { base } = await balance(
    t,
    hubs.map(({ port }) => port),
  );
  const answers: string[] = [];
  for (const text of ['one', 'two']) {
    const socket = new WebSocket(`${base.replace('http', 'ws')}/socket`);
    await once(socket, 'open');
    socket.send(text);
    const [{ data }] = (await once(socket, 'message')) as [MessageEvent<string>];
    answers.push(data);
    const closed = once(socket, 'close');
    for (const server of servers) for (const client of server.clients) client.terminate();
    await closed;
  }
  assert.deepEqual(answers, ['0 one', '1 two']);
});

test('Balancer reports when its port is not available', async (t) => {
  const hub = await fakeHub(t, named('a'));
  await assert.rejects(Balancer.open({ ports: [], port: hub.port }), { code: 'EADDRINUSE' });
});
