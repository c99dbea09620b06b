import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { test } from 'node:test';
import type { Fate } from '../../bench/load/connection.ts';
import { HttpConnection } from '../../bench/load/http_connection.ts';
import { answeringInPieces } from './pieces.ts';

const REQUEST = Buffer.from('PUT / HTTP/1.1\r\nContent-Length: 0\r\n\r\n');
const REFUSED = 'HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 5\r\n\r\n{"a"}';

/** Outcome of a response that arrives in these chunks, each in a separate packet. */
async function fateOf(pieces: readonly string[]): Promise<{ fate: Fate; retryAfterMissing: number }> {
  const { server, port } = await answeringInPieces(pieces);
  const connection = await HttpConnection.open(port);
  const fate = await new Promise<Fate>((resolve) => connection.send(REQUEST, resolve));
  connection.close();
  server.close();
  return { fate, retryAfterMissing: connection.retryAfterMissing };
}

test('HttpConnection distinguishes accepted, rejected and failed, regardless of chunk boundaries', async () => {
  const accepted = 'HTTP/1.1 204 No Content\r\nuWebSockets: 20\r\n\r\n';
  const cases: [pieces: string[], fate: Fate, retryAfterMissing: number][] = [
    [[accepted], 'accepted', 0],
    [[accepted.slice(0, 5), accepted.slice(5)], 'accepted', 0],
    [[...REFUSED], 'refused', 0],
    [[REFUSED.replace('Retry-After: 1\r\n', '')], 'refused', 1],
    [['HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n'], 'failed', 0],
    [[], 'failed', 0],
  ];
  for (const [pieces, fate, retryAfterMissing] of cases) {
    assert.deepEqual(await fateOf(pieces), { fate, retryAfterMissing }, pieces.join('|'));
  }
});

async function untilNoneOf(server: Server): Promise<void> {
  while ((await new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)))) > 0) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  await new Promise((resolve) => setImmediate(resolve));
}

test('HttpConnection reconnects after the server has closed the connection', async (t) => {
  const server = createServer((socket) => {
    socket.on('data', () => socket.end('HTTP/1.1 204 No Content\r\n\r\n'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const connection = await HttpConnection.open((server.address() as AddressInfo).port);
  for (let turn = 0; turn < 3; turn++) {
    assert.equal(await new Promise<Fate>((resolve) => connection.send(REQUEST, resolve)), 'accepted');
    // The close of the connection follows the response.
    await untilNoneOf(server);
  }
  connection.close();
});
