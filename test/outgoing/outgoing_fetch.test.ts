import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { StartupError } from '../../src/errors.ts';
import { type OutgoingOptions, outgoingFetch, proxyAddress } from '../../src/hub/outgoing_fetch.ts';
import { makeCertificate } from '../support/certificates.ts';
import { openConnectProxy } from '../support/connect_proxy.ts';

/** A name that no system resolves: only a proxy can. */
const HOST = 'identity.invalid';
const MADE = await makeCertificate(HOST);

async function openServer(t: TestContext) {
  const server = createServer({ cert: MADE.certificate, key: MADE.key }, (request, response) => {
    response.end(`hello ${request.headers.host} ${request.headers.accept}`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

async function get(t: TestContext, url: string, options: OutgoingOptions): Promise<string> {
  const outgoing = outgoingFetch(options);
  t.after(() => outgoing.close());
  const signal = AbortSignal.timeout(10_000);
  const response = await outgoing.fetch(url, { signal, headers: { Accept: 'application/json' } });
  return response.text();
}

describe('outgoingFetch', () => {
  const forms: readonly [name: string, variable: (port: number) => object, authorization: string | undefined][] = [
    ['with a scheme', (port) => ({ https_proxy: `http://127.0.0.1:${port}` }), undefined],
    ['without a scheme', (port) => ({ https_proxy: `127.0.0.1:${port}` }), undefined],
    ['in upper case', (port) => ({ HTTPS_PROXY: `127.0.0.1:${port}` }), undefined],
    ['with a user', (port) => ({ https_proxy: `ann:secret@127.0.0.1:${port}` }), 'ann:secret'],
    ['with a strange password', (port) => ({ https_proxy: `ann:a@b#c/d:e%20f@127.0.0.1:${port}` }), 'ann:a@b#c/d:e f'],
    ['beside others', (port) => ({ https_proxy: `127.0.0.1:${port}`, no_proxy: 'example.com, other' }), undefined],
  ];
  for (const [name, variables, credentials] of forms) {
    test(`reaches HTTPS through an https_proxy ${name}`, async (t) => {
      const port = await openServer(t);
      const proxy = await openConnectProxy(t, port);
      const env = variables(proxy.port) as Record<string, string>;
      const text = await get(t, `https://${HOST}/x`, { env, trusted: MADE.certificate });
      assert.equal(text, `hello ${HOST} application/json`);
      const authorization = credentials && `Basic ${Buffer.from(credentials).toString('base64')}`;
      assert.deepEqual(proxy.tunnels, [{ target: `${HOST}:443`, authorization }]);
    });
  }

  for (const list of ['127.0.0.1', 'localhost,other', 'https://localhost/x', '.invalid,127.0.0.1', '*', '']) {
    test(`connects directly to a host of this machine with no_proxy "${list}"`, async (t) => {
      const port = await openServer(t);
      const proxy = await openConnectProxy(t, port);
      const env = { https_proxy: `127.0.0.1:${proxy.port}`, no_proxy: list };
      const text = await get(t, `https://127.0.0.1:${port}/`, { env, trusted: MADE.certificate });
      assert.match(text, /^hello 127\.0\.0\.1/);
      assert.deepEqual(proxy.tunnels, []);
    });
  }

  for (const list of ['invalid', '.invalid', HOST, `http://${HOST}`, `${HOST}:443`, `a b,${HOST}`]) {
    test(`does not use the proxy for ${HOST} with no_proxy "${list}"`, async (t) => {
      const port = await openServer(t);
      const proxy = await openConnectProxy(t, port);
      const env = { https_proxy: `127.0.0.1:${proxy.port}`, no_proxy: list };
      // The name does not resolve.
      await assert.rejects(get(t, `https://${HOST}/`, { env }), /fetch failed/);
      assert.deepEqual(proxy.tunnels, []);
    });
  }

  test('sends plain HTTP directly, even if http_proxy is set for other programs', async (t) => {
    const server = createHttpServer((_request, response) => response.end('plain')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => server.close());
    const proxy = await openConnectProxy(t, 1);
    const env = { https_proxy: `127.0.0.1:${proxy.port}`, http_proxy: `127.0.0.1:${proxy.port}` };
    const { port } = server.address() as AddressInfo;
    assert.equal(await get(t, `http://127.0.0.1:${port}/`, { env }), 'plain');
    assert.deepEqual(proxy.tunnels, []);
  });

  test('verifies the server unless that is disabled', async (t) => {
    const port = await openServer(t);
    const url = `https://127.0.0.1:${port}/`;
    await assert.rejects(get(t, url, { env: {} }), /fetch failed/);
    await assert.rejects(get(t, url, { env: {}, trusted: (await makeCertificate()).certificate }), /fetch failed/);
    assert.match(await get(t, url, { env: {}, verify: false }), /^hello/);
    assert.match(await get(t, url, { env: {}, trusted: MADE.certificate }), /^hello/);
  });

  test('verifies the server behind a proxy, too', async (t) => {
    const port = await openServer(t);
    const proxy = await openConnectProxy(t, port);
    const env = { https_proxy: `127.0.0.1:${proxy.port}` };
    await assert.rejects(get(t, `https://${HOST}/`, { env }), /fetch failed/);
    await assert.rejects(get(t, 'https://another.invalid/', { env, trusted: MADE.certificate }), /fetch failed/);
    assert.match(await get(t, `https://${HOST}/`, { env, verify: false }), /^hello/);
  });

  test('fails when the proxy rejects', async (t) => {
    const proxy = await openConnectProxy(t, 1, { refuse: 407 });
    await assert.rejects(get(t, `https://${HOST}/`, { env: { https_proxy: `127.0.0.1:${proxy.port}` } }));
    assert.equal(proxy.tunnels.length, 1);
  });
});

describe('proxyAddress', () => {
  const good: readonly [string, string][] = [
    ['', ''],
    ['  ', ''],
    ['proxy:3128', 'http://proxy:3128'],
    ['proxy', 'http://proxy'],
    ['http://proxy:3128/', 'http://proxy:3128'],
    ['HTTPS://proxy:3128', 'https://proxy:3128'],
    ['[::1]:3128', 'http://[::1]:3128'],
    ['u:p@proxy:3128', 'http://u:p@proxy:3128'],
    ['u@proxy:3128', 'http://u:@proxy:3128'],
    ['http://u:p%40q@proxy:1', 'http://u:p%40q@proxy:1'],
    ['u:100%@proxy:1', 'http://u:100%25@proxy:1'],
  ];
  for (const [text, url] of good) {
    test(`parses ${JSON.stringify(text)}`, () => assert.equal(proxyAddress(text), url));
  }

  for (const text of [
    'http://',
    'proxy:port',
    'socks5://proxy:1080',
    'u:secret@',
    'u:secret@a b:1',
    'u:secret@h:99999',
  ]) {
    test(`rejects ${JSON.stringify(text)} without showing a password`, () => {
      assert.throws(
        () => proxyAddress(text),
        (error: Error) => {
          assert.ok(error instanceof StartupError);
          assert.match(error.message, /^environment: https_proxy: must be \[user:password@\]host:port, found "/);
          return !error.message.includes('secret');
        },
      );
    });
  }
});
