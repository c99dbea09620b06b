import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { hostname } from 'node:os';
import { describe, test } from 'node:test';
import { WebSocket } from 'ws';
import type { BrowserRules } from '../../src/transport/browsers.ts';
import { makeCertificate, writeCertificate } from '../support/certificates.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { echo, raw, SOCKET_PATH, serve } from './harness.ts';

type Headers = Readonly<Record<string, string>>;

const OPEN: BrowserRules = { hosts: [], origins: [], foreign: 'read' };
const CLOSED: BrowserRules = { hosts: [], origins: [], foreign: 'nothing' };
const AUTHORIZED: BrowserRules = { hosts: undefined, origins: [], foreign: 'everything' };

/** Requests that a server with these rules accepts, by method and headers. */
async function isLetIn(port: number, method: string, headers: Headers): Promise<boolean> {
  const sent = { Host: 'h', 'Content-Length': '0', ...headers };
  const lines = Object.entries(sent).map(([name, value]) => `${name}: ${value}\r\n`);
  const answer = await raw(port, [`${method} /x HTTP/1.1\r\n${lines.join('')}\r\n`], /\r\n\r\n.*\}?$/s);
  assert.match(answer, /^HTTP\/1\.1 (200|403) /);
  return answer.startsWith('HTTP/1.1 200');
}

async function isUpgraded(port: number, headers: Headers): Promise<boolean> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${SOCKET_PATH}`, { headers });
  const upgraded = await new Promise<boolean>((resolve, reject) => {
    socket.once('open', () => resolve(true));
    socket.once('error', ({ message }) => (message.includes('403') ? resolve(false) : reject(new Error(message))));
  });
  socket.on('error', () => undefined).terminate();
  return upgraded;
}

const FOREIGN_PAGE = { Origin: 'http://stranger.example' };
const OWN = { Host: 'hub:8081', Origin: 'http://hub:8081' };

/** Rules, headers of a page, and whether it may read, write, and open a WebSocket. */
const PAGES: readonly (readonly [what: string, BrowserRules, Headers, read: boolean, change: boolean])[] = [
  ['a program', OPEN, {}, true, true],
  ['a program', CLOSED, {}, true, true],
  ['the own page', OPEN, OWN, true, true],
  ['the own page', CLOSED, OWN, true, true],
  ["the hub's own page behind HTTPS", CLOSED, { Host: 'hub', Origin: 'https://hub' }, true, true],
  [
    'the own page, by its browser',
    CLOSED,
    { 'Sec-Fetch-Site': 'same-origin', Origin: 'https://elsewhere' },
    true,
    true,
  ],
  ['an address that was typed', CLOSED, { 'Sec-Fetch-Site': 'none' }, true, true],
  ["the hub's own page, with the default port", CLOSED, { Host: 'hub:80', Origin: 'http://hub' }, true, true],
  ['the own page, with the port of HTTPS', CLOSED, { Host: 'HUB:443', Origin: 'https://hub' }, true, true],
  ['a page on a port of another name', CLOSED, { Host: 'hub:8080', Origin: 'http://hub' }, false, false],
  ['a foreign page', OPEN, FOREIGN_PAGE, true, false],
  ['a foreign page', CLOSED, FOREIGN_PAGE, false, false],
  ['a foreign page, where a token is required', AUTHORIZED, FOREIGN_PAGE, true, true],
  ['a foreign page without Origin', OPEN, { 'Sec-Fetch-Site': 'cross-site' }, true, false],
  ['a foreign page without Origin', CLOSED, { 'Sec-Fetch-Site': 'same-site' }, false, false],
  ['a page on another port', CLOSED, { Host: 'hub:8081', Origin: 'http://hub:3000' }, false, false],
  ['a file', OPEN, { Origin: 'null' }, true, false],
  ['a page of this machine', OPEN, { Origin: 'http://localhost:4200' }, true, true],
  ['a page of this machine', CLOSED, { Origin: 'http://127.0.0.1:4200' }, false, false],
  ['a name that looks like this machine', OPEN, { Origin: 'http://127.0.0.1.stranger.example' }, true, false],
  ['a name that looks like this machine', OPEN, { Origin: 'http://localhost.stranger.example' }, true, false],
  ['a page that is allowed', { ...CLOSED, origins: ['http://stranger.example'] }, FOREIGN_PAGE, true, true],
  ['a neighbor of an allowed origin', { ...CLOSED, origins: ['http://other.example'] }, FOREIGN_PAGE, false, false],
  ['any page', { ...CLOSED, origins: ['*'] }, FOREIGN_PAGE, true, true],
];

/** Headers of a proxy, and whether the page of https://rtls.example counts as the hub's own. */
const FORWARDED: readonly (readonly [headers: Headers, isOwn: boolean])[] = [
  [{ 'X-Forwarded-Host': 'rtls.example' }, true],
  [{ 'X-Forwarded-Host': 'RTLS.example:443' }, true],
  [{ 'X-Forwarded-Host': 'rtls.example, inner.example' }, true],
  [{ 'X-Forwarded-Host': 'inner.example,rtls.example:443' }, true],
  [{ 'X-Forwarded-Host': 'rtls.example:8443' }, false],
  [{ 'X-Forwarded-Host': 'other.example, not-rtls.example' }, false],
  [{ Forwarded: 'for=192.0.2.60;proto=https;host=rtls.example' }, true],
  [{ Forwarded: 'for="[2001:db8::1]:4711"; Host="rtls.example:443", for=10.0.0.1;host=inner.example' }, true],
  [{ Forwarded: 'for=rtls.example;by=rtls.example' }, false],
  [{ Forwarded: 'host=' }, false],
];

describe('Rights of pages behind a proxy', () => {
  for (const [headers, isOwn] of FORWARDED) {
    for (const proxies of [['127.0.0.0/8'], ['10.0.0.0/8', '::1'], []]) {
      const expected = isOwn && proxies[0] === '127.0.0.0/8';
      test(`${expected ? 'all' : 'nothing'} with ${JSON.stringify([headers, proxies])}`, async (t) => {
        const forwarded = { proxies, basePath: '' };
        const { port } = await serve(t, { browsers: CLOSED, forwarded, handlePeer: echo });
        const sent = { Origin: 'https://rtls.example', ...headers };
        assert.equal(await isLetIn(port, 'GET', sent), expected);
        assert.equal(await isLetIn(port, 'PUT', sent), expected);
        assert.equal(await isUpgraded(port, sent), expected, 'the WebSocket has another rule');
      });
    }
  }

  test('all on the port of X-Forwarded-Port', async (t) => {
    const { port } = await serve(t, { browsers: CLOSED, forwarded: { proxies: ['*'], basePath: '' } });
    const sent = { Origin: 'https://rtls.example:8443', 'X-Forwarded-Host': 'rtls.example' };
    assert.equal(await isLetIn(port, 'PUT', { ...sent, 'X-Forwarded-Port': '8443' }), true);
    assert.equal(await isLetIn(port, 'PUT', { ...sent, 'X-Forwarded-Port': '443' }), false);
  });

  test('nothing, with an error that names the settings', async (t) => {
    const { port } = await serve(t, { browsers: CLOSED });
    const answer = await raw(port, ['GET /x HTTP/1.1\r\nHost: inner\r\nOrigin: https://rtls\r\n\r\n'], /\}$/);
    assert.match(
      answer,
      /another origin, \\"https:\/\/rtls\\", to Host \\"inner\\"; allowed_origins .* trusted_proxies/,
    );
  });
});

describe('Rights of pages', () => {
  for (const [what, browsers, headers, mayRead, mayChange] of PAGES) {
    test(`${what} ${JSON.stringify(headers)}, with foreign pages ${browsers.foreign}`, async (t) => {
      const { port } = await serve(t, { browsers, handlePeer: echo });
      for (const method of ['GET', 'HEAD', 'OPTIONS'])
        assert.equal(await isLetIn(port, method, headers), mayRead, method);
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
        assert.equal(await isLetIn(port, method, headers), mayChange, method);
      }
      assert.equal(await isUpgraded(port, headers), mayChange);
    });
  }
});

const NAMES: readonly (readonly [host: string, allowed: readonly string[], isLetIn: boolean])[] = [
  ['localhost:8081', [], true],
  ['LOCALHOST', [], true],
  ['site.localhost', [], true],
  ['10.1.2.3:80', [], true],
  ['[fe80::1]:80', [], true],
  ['hub', [], true],
  [hostname(), [], true],
  ['stranger.example', [], false],
  ['127.0.0.1.stranger.example', [], false],
  ['localhost.stranger.example:8081', [], false],
  ['hub.lan', [], false],
  ['hub.lan:8081', ['hub.lan'], true],
  ['HUB.lan.', ['hub.LAN'], true],
  ['other.lan', ['hub.lan'], false],
  ['xhub.lan', ['hub.lan', '.hub.lan'], false],
  ['a.site.example', ['.site.example'], true],
  ['site.example', ['.site.example'], true],
  ['stranger.example', ['*'], true],
];

describe('Accepted host names', () => {
  for (const [host, hosts, expected] of NAMES) {
    test(`${host} is ${expected ? 'accepted' : 'rejected'} with ${JSON.stringify(hosts)}`, async (t) => {
      const { port } = await serve(t, { browsers: { ...OPEN, hosts }, handlePeer: echo });
      for (const method of ['GET', 'POST']) assert.equal(await isLetIn(port, method, { Host: host }), expected);
      // The cached decision is the same.
      assert.equal(await isLetIn(port, 'GET', { Host: host }), expected);
      assert.equal(await isUpgraded(port, { Host: host }), expected);
    });
  }

  test('names of the certificate are accepted', async (t) => {
    const folder = temporaryFolder();
    const made = await makeCertificate('rtls.example');
    const tls = { ...writeCertificate(folder, made), keyPassword: undefined, dhParamsPath: undefined, only: true };
    const { port } = await serve(t, { browsers: OPEN, tls });
    const statusOf = async (name: string): Promise<number | undefined> => {
      const options = {
        host: '127.0.0.1',
        port,
        ca: made.certificate,
        headers: { Host: name },
        servername: 'rtls.example',
      };
      const [answer] = (await once(request(options).end(), 'response')) as [IncomingMessage];
      answer.resume();
      return answer.statusCode;
    };
    assert.equal(await statusOf('rtls.example:443'), 200);
    assert.equal(await statusOf('other.example'), 403);
  });

  test('every name is accepted if Host is not checked', async (t) => {
    const { port } = await serve(t, { browsers: AUTHORIZED });
    assert.equal(await isLetIn(port, 'POST', { Host: 'stranger.example' }), true);
  });
});
