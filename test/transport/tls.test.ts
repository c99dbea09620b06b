import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { connect as connectPlain } from 'node:net';
import { dirname } from 'node:path';
import { describe as group, type TestContext, test } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { WebSocket } from 'ws';
import { freePort } from '../../bench/process/free_port.ts';
import type { HubError } from '../../src/errors.ts';
import { copied } from '../../src/model/borrowed.ts';
import { makeCertificate, type TestCertificate, writeCertificate } from '../support/certificates.ts';
import { listening } from '../support/listening.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { echo, raw, SOCKET_PATH, serve } from './harness.ts';

const MODES = [
  { only: true, name: 'HTTPS alone' },
  { only: false, name: 'HTTPS and HTTP' },
] as const;

interface Asked {
  readonly made: TestCertificate;
  readonly agent?: Agent;
  readonly path?: string;
  readonly body?: string | Uint8Array;
  readonly method?: string;
  /** Local address of the client. */
  readonly localAddress?: string;
}

/** Sends one HTTPS request that trusts only this certificate. */
async function ask(port: number, { made, agent, path = '/', body, method = 'GET', localAddress = '127.0.0.1' }: Asked) {
  const trust = { ca: made.certificate, ...(agent === undefined ? { agent: false } : { agent }) };
  const sent = request({ host: '127.0.0.1', port, path, method, localAddress, ...trust });
  sent.end(body);
  const [response] = await once(sent, 'response');
  const protocol = response.socket.getProtocol();
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return { status: response.statusCode, text: Buffer.concat(chunks).toString(), protocol };
}

async function socketOf(port: number, made: TestCertificate): Promise<WebSocket> {
  const socket = new WebSocket(`wss://127.0.0.1:${port}${SOCKET_PATH}`, { ca: made.certificate });
  await once(socket, 'open');
  return socket;
}

async function echoed(socket: WebSocket, text: string): Promise<string> {
  socket.send(text);
  const [data] = await once(socket, 'message');
  return String(data);
}

async function serveTls(t: TestContext, only: boolean, options: Parameters<typeof serve>[1] = {}) {
  const folder = temporaryFolder();
  const made = await makeCertificate();
  const tls = { ...writeCertificate(folder, made), keyPassword: undefined, dhParamsPath: undefined, only };
  return { folder, made, ...(await serve(t, { tls, handlePeer: echo, ...options })) };
}

for (const { only, name } of MODES) {
  group(`listen with ${name}`, () => {
    test('serves requests and WebSockets to clients that verify its certificate', async (t) => {
      const { port, made } = await serveTls(t, only);
      const { status, text, protocol } = await ask(port, { made, path: '/v2/zones?crs=local' });
      assert.deepEqual([status, protocol], [200, 'TLSv1.3']);
      assert.deepEqual(JSON.parse(text), { method: 'GET', path: '/v2/zones', query: 'crs=local', bytes: 0 });
      const socket = await socketOf(port, made);
      assert.equal(await echoed(socket, 'größer 🦊'), 'größer 🦊');
      await assert.rejects(ask(port, { made: await makeCertificate() }), /self-signed|unable to verify|signature/);
    });

    test('carries long bodies both ways, complete and in order', async (t) => {
      const { port, made } = await serveTls(t, only, {
        bodyMaxBytes: 5_000_000,
        handleHttp: ({ body }) => ({ status: 200, body: copied(body) }),
      });
      const body = Buffer.from(Uint32Array.from({ length: 1_000_000 }, (_, i) => i).buffer).toString('latin1');
      const { text } = await ask(port, { made, method: 'PUT', body: Buffer.from(body.slice(0, 2_000_000), 'latin1') });
      assert.equal(Buffer.byteLength(text) > 1_900_000, true);
      const socket = await socketOf(port, made);
      const sent = Array.from({ length: 400 }, (_, i) => `${i} ${'x'.repeat(i * 20)}`);
      const got: string[] = [];
      const all = new Promise<void>((resolve) => {
        socket.on('message', (data) => got.push(String(data)) === sent.length && resolve());
      });
      for (const frame of sent) socket.send(frame);
      await all;
      assert.deepEqual(got, sent);
    });

    test('serves a changed certificate to new connections, and keeps the open ones', async (t) => {
      const { server, port, made, folder } = await serveTls(t, only);
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      t.after(() => agent.destroy());
      assert.equal((await ask(port, { made, agent })).status, 200);
      const socket = await socketOf(port, made);
      assert.equal(await server.renewCertificate(), false);

      for (const renewed of [await makeCertificate(), await makeCertificate()]) {
        writeCertificate(folder, renewed);
        assert.equal(await server.renewCertificate(), true);
        assert.equal((await ask(port, { made: renewed })).status, 200);
        await assert.rejects(ask(port, { made }), /self-signed|unable to verify|signature/);
        assert.equal(await echoed(await socketOf(port, renewed), 'new'), 'new');
        // These connections were opened under the first certificate.
        assert.equal(await echoed(socket, 'old'), 'old');
        assert.equal((await ask(port, { made, agent })).status, 200);
      }
    });

    test('keeps its certificate if the new one is invalid', async (t) => {
      const { server, port, made, folder } = await serveTls(t, only);
      const other = await makeCertificate();
      writeCertificate(folder, { ...other, key: made.key });
      await assert.rejects(server.renewCertificate(), /^UnusableCertificate: private_key_path: is not the key of/);
      assert.equal((await ask(port, { made })).status, 200);
      writeCertificate(folder, other);
      assert.equal(await server.renewCertificate(), true);
      assert.equal((await ask(port, { made: other })).status, 200);
    });

    test('opens an encrypted key', async (t) => {
      const made = await makeCertificate();
      const files = writeCertificate(temporaryFolder(), made, 'a secret');
      const tls = { ...files, keyPassword: 'a secret', dhParamsPath: undefined, only };
      const { port } = await serve(t, { tls });
      assert.equal((await ask(port, { made })).status, 200);
    });

    test('rejects TLS before 1.2', async (t) => {
      const { port } = await serveTls(t, only);
      const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' } as const;
      const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...old });
      const [error] = await once(socket, 'error');
      assert.match(String(error), /protocol version|unsupported protocol|ECONNRESET|disconnected/);
    });

    test('closes its sockets with 1001, terminates, and frees the port', async (t) => {
      const port = await freePort();
      const { server, made, folder } = await serveTls(t, only, { port });
      const sockets = [await socketOf(port, made)];
      writeCertificate(folder, await makeCertificate());
      await server.renewCertificate();
      const codes = Promise.all(sockets.map((socket) => once(socket, 'close')));
      await server.close();
      assert.deepEqual(
        (await codes).map(([code]) => code),
        [1001],
      );
      await serve(t, { port });
    });

    test('rejects connections beyond the bound', async (t) => {
      const { port, made } = await serveTls(t, only, { connectionsMax: 2 });
      const kept = [await socketOf(port, made), await socketOf(port, made)];
      await assert.rejects(socketOf(port, made));
      kept[0]?.terminate();
      await once(kept[0] as WebSocket, 'close');
      // The server notices the close a little later than the client.
      for (let left = 200; left > 0; left--) {
        try {
          await socketOf(port, made);
          return;
        } catch {
          await new Promise(setImmediate);
        }
      }
      assert.fail('no connection was accepted in place of the closed one');
    });
  });
}

const GET = 'GET /plain HTTP/1.1\r\nHost: h\r\n\r\n';

test('Plain HTTP is answered that only HTTPS is served, and reaches no handler', async (t) => {
  let handled = 0;
  const { port } = await serveTls(t, true, { handleHttp: () => ({ status: 200, body: String(handled++) }) });
  const answer = await raw(port, [GET, GET], /never/);
  assert.match(answer, /^HTTP\/1\.1 426 Upgrade Required\r\n/);
  assert.match(
    answer,
    /"message":"Cannot answer over HTTP: this hub serves HTTPS only","reason":"https_only","params":\{\}\}$/,
  );
  const socket = new WebSocket(`ws://127.0.0.1:${port}${SOCKET_PATH}`);
  const [error] = await once(socket, 'error');
  assert.match(String(error), /426/);
  assert.equal(handled, 0);
});

test('The error that only HTTPS is served follows the requested path, as far as it can be parsed', async (t) => {
  const refuse = ({ status }: HubError, path: string) => ({ status, body: `for <${path}>` });
  const { port } = await serveTls(t, true, { refuse });
  for (const [request, path] of [
    ['GET /v1/zones?x=/v2 HTTP/1.1\r\nHost: h\r\n\r\n', '/v1/zones'],
    ['DELETE /hub/v2/zones HTTP/1.1\r\n\r\n', '/hub/v2/zones'],
    ['POST /hub', '/hub'],
    ['rubbish', ''],
    [`GET /${'x'.repeat(6000)} HTTP/1.1\r\n\r\n`, `/${'x'.repeat(4096 - 'GET /'.length)}`],
  ] as const) {
    assert.ok((await raw(port, [request], /never/)).endsWith(`\r\n\r\nfor <${path}>`), path.slice(0, 40));
  }
});

test('HTTP and its WebSockets are served on the port of HTTPS unless force_https is set', async (t) => {
  const { port } = await serveTls(t, false);
  assert.match(await raw(port, [GET], /"\/plain"/), /^HTTP\/1\.1 200 OK/);
  const socket = new WebSocket(`ws://127.0.0.1:${port}${SOCKET_PATH}`);
  await once(socket, 'open');
  assert.equal(await echoed(socket, 'plain'), 'plain');
});

test('A client that sends a PROXY header is disconnected, wherever the header is split', async (t) => {
  let handled = 0;
  const { port } = await serveTls(t, false, {
    handleHttp() {
      handled++;
      return { status: 200, body: 'done' };
    },
  });
  const header = '\r\n\r\n\0\r\nQUIT\n!\x11\0\x0c\x01\x02\x03\x04\x01\x02\x03\x04\0\0\0\0';
  for (const at of [1, 5, 11, header.length]) {
    const parts = [GET, header.slice(0, at), header.slice(at) + GET];
    assert.match(await raw(port, parts, /never/).catch(() => ''), /^(HTTP\/1\.1 200 OK|$)/);
  }
  assert.ok(handled <= 4, `${handled} requests were handled`);
});

const skip = process.platform !== 'linux' && 'Other systems have only one IPv4 loopback address';
test('Requests are counted by the address of the client, also behind the TLS front end', { skip }, async (t) => {
  const { port, made } = await serveTls(t, false, { requestsPerSecond: 1 });
  const statuses: (number | undefined)[] = [];
  for (let i = 0; i < 30; i++) statuses.push((await ask(port, { made, localAddress: '127.0.0.2' })).status);
  assert.equal(statuses[0], 200);
  assert.ok(statuses.includes(429));
  assert.equal((await ask(port, { made })).status, 200);
});

test('Only this user can reach the server behind the TLS front end', { skip }, async (t) => {
  const before = listening();
  const { port, server } = await serveTls(t, true);
  const now = listening();
  assert.deepEqual(
    now.ports.filter((one) => !before.ports.includes(one)),
    [port],
  );
  const [path = '', ...others] = now.paths.filter((one) => !before.paths.includes(one));
  assert.deepEqual(others, []);
  assert.equal(statSync(dirname(path)).mode & 0o777, 0o700);
  await server.close();
  assert.equal(existsSync(dirname(path)), false, 'it is removed with the server');
});

group('A server with TLS disconnects', { concurrency: true }, () => {
  for (const [name, first] of [
    ['a client that sends nothing', ''],
    ['a handshake that stalls', '\x16\x03\x01\x02\0\x01'],
  ] as const) {
    test(name, { timeout: 60_000 }, async (t) => {
      const { port } = await serveTls(t, true);
      const socket = connectPlain(port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.resume();
      if (first !== '') socket.write(Buffer.from(first, 'latin1'));
      await new Promise((resolve) => socket.on('close', resolve));
    });
  }
});

test('Connections that break off in any phase are no error', async (t) => {
  const { port, made, reported } = await serveTls(t, false);
  const bytes = ['\x16', '\x16\x03\x01\x02', '\x16\x03\x01\xff\xffgarbage', 'G', 'GET / HTTP', '\0\0\0'];
  for (const text of bytes) {
    const socket = connectPlain(port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write(Buffer.from(text, 'latin1'));
    socket.resetAndDestroy();
  }
  const tls: TLSSocket = connect({ host: '127.0.0.1', port, ca: made.certificate });
  await once(tls, 'secureConnect');
  tls.destroy();
  assert.equal((await ask(port, { made })).status, 200);
  assert.deepEqual(reported, []);
});
