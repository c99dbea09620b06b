import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { outgoingFetch } from '../../src/hub/outgoing_fetch.ts';
import type { Failure } from '../../src/model/target_failure.ts';
import { openOmloxServer } from '../links/omlox_server.ts';
import { makeCertificate } from '../support/certificates.ts';

const MADE = await makeCertificate();

async function portOf(t: TestContext, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

/** Opens a WebSocket and resolves with why it ended. */
function failureOf(t: TestContext, url: string, opened = (): void => undefined): Promise<Failure> {
  const outgoing = outgoingFetch({ env: {} });
  t.after(() => outgoing.close());
  return new Promise((resolve) => {
    outgoing.openSocket(url, { opened, message: () => undefined, pong: () => undefined, closed: resolve });
  });
}

test('A WebSocket that cannot be opened names the cause', async (t) => {
  const closed = createHttpServer();
  const closedPort = await portOf(t, closed);
  closed.close();
  const refusing = createHttpServer((_, response) => response.writeHead(401).end());
  refusing.on('upgrade', (_, socket: Socket) => socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n'));
  const refusingPort = await portOf(t, refusing);
  const untrusted = await portOf(t, createTlsServer({ cert: MADE.certificate, key: MADE.key }));
  for (const [url, why, reason] of [
    [`ws://127.0.0.1:${closedPort}/ws`, /^The WebSocket failed: connect ECONNREFUSED 127\.0\.0\.1/, 'target_refused'],
    [`ws://127.0.0.1:${refusingPort}/ws`, /^The WebSocket failed: the server answered 403$/, 'target_answered'],
    [`wss://127.0.0.1:${untrusted}/ws`, /^The WebSocket failed: self-signed certificate$/, 'target_certificate'],
    ['ws://nowhere.invalid/ws', /^The WebSocket failed: getaddrinfo \w+ nowhere\.invalid$/, 'target_host_unknown'],
  ] as const) {
    const failure = await failureOf(t, url);
    assert.match(failure.why, why);
    assert.equal(failure.problem?.reason, reason);
  }
});

test('A WebSocket whose connection ends without a close frame says so', async (t) => {
  const omlox = await openOmloxServer(t);
  const opened = Promise.withResolvers<void>();
  const failed = failureOf(t, `${omlox.url.replace('http', 'ws')}/v2/ws/socket`, opened.resolve);
  await opened.promise;
  omlox.terminate();
  const { why, problem } = await failed;
  assert.equal(why, 'The WebSocket failed: the connection ended without a close frame');
  assert.equal(problem?.reason, 'target_connection_lost');
});
