import assert from 'node:assert/strict';
import { get } from 'node:https';
import { test } from 'node:test';
import { WebSocket } from 'ws';
import type { HttpRequest } from '../../src/exchange.ts';
import { makeCertificate, writeCertificate } from '../support/certificates.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { echo, SOCKET_PATH, serve } from './harness.ts';

const LOCAL = ['127.0.0.1'];
const reported = ({ path, prefix }: HttpRequest) => ({ status: 200, body: JSON.stringify([prefix, path]) });

/** Base path, path and X-Forwarded-Prefix of a request; resulting prefix and path. */
const PREFIXES: readonly (readonly [
  base: string,
  path: string,
  header: string | undefined,
  found: [string, string],
])[] = [
  ['', '/v2/zones', undefined, ['', '/v2/zones']],
  ['', '/v2/zones', '/rtls', ['/rtls', '/v2/zones']],
  ['', '/v2/zones', '/rtls/', ['/rtls', '/v2/zones']],
  ['', '/v2/zones', '/', ['', '/v2/zones']],
  ['', '/v2/zones', '/outer, /inner', ['/outer/inner', '/v2/zones']],
  ['/rtls', '/rtls/v2/zones', undefined, ['/rtls', '/v2/zones']],
  ['/rtls', '/rtls', undefined, ['/rtls', '/']],
  ['/rtls', '/rtls/', undefined, ['/rtls', '/']],
  // A proxy that strips the prefix without X-Forwarded-Prefix.
  ['/rtls', '/v2/zones', undefined, ['/rtls', '/v2/zones']],
  ['/rtls', '/rtlsx/v2', undefined, ['/rtls', '/rtlsx/v2']],
  ['/rtls', '/v2/zones', '/rtls', ['/rtls', '/v2/zones']],
  ['/rtls', '/rtls/v2/zones', '/site', ['/site/rtls', '/v2/zones']],
  // These would lead to another host, or upward.
  ['', '/', '//other.example', ['', '/']],
  ['', '/', 'https://other.example', ['', '/']],
  ['', '/', '/a/../b', ['', '/']],
  ['', '/', '/a"><script>', ['', '/']],
  ['', '/', `/${'a'.repeat(300)}`, ['', '/']],
];

for (const [basePath, path, header, found] of PREFIXES) {
  test(`With base_path ${basePath || 'none'} and X-Forwarded-Prefix ${header}, ${path} is ${found.join(' + ')}`, async (t) => {
    const { url } = await serve(t, { forwarded: { proxies: LOCAL, basePath }, handleHttp: reported });
    const headers: Record<string, string> = header === undefined ? {} : { 'X-Forwarded-Prefix': header };
    assert.deepEqual(await (await fetch(url + path, { headers })).json(), found);
  });
}

test('X-Forwarded-Prefix counts only from trusted proxies', async (t) => {
  const { url } = await serve(t, { forwarded: { proxies: ['10.0.0.0/8'], basePath: '/base' }, handleHttp: reported });
  const headers = { 'X-Forwarded-Prefix': '/rtls' };
  assert.deepEqual(await (await fetch(`${url}/x`, { headers })).json(), ['/base', '/x']);
});

test('A trusted proxy is recognized by its own address behind TLS, too', async (t) => {
  const folder = temporaryFolder();
  const made = await makeCertificate('localhost');
  const tls = { ...writeCertificate(folder, made), keyPassword: undefined, dhParamsPath: undefined, only: true };
  for (const [proxies, prefix] of [
    [LOCAL, '/rtls'],
    [['10.0.0.0/8'], ''],
  ] as const) {
    const { port } = await serve(t, { tls, forwarded: { proxies, basePath: '' }, handleHttp: reported });
    const options = { host: '127.0.0.1', port, servername: 'localhost', ca: made.certificate, path: '/x' };
    const text = await new Promise<string>((resolve, reject) => {
      get({ ...options, headers: { 'X-Forwarded-Prefix': '/rtls' } }, (answer) => {
        answer.setEncoding('utf8').once('data', resolve);
      }).once('error', reject);
    });
    assert.deepEqual(JSON.parse(text), [prefix, '/x']);
  }
});

test('WebSockets open with and without the base path, and on no other path', async (t) => {
  const { port } = await serve(t, { forwarded: { proxies: LOCAL, basePath: '/site/rtls' }, handlePeer: echo });
  const opens = (path: string): Promise<boolean> => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`);
    return new Promise((resolve) => {
      socket.once('open', () => resolve(true)).once('error', () => resolve(false));
    }).finally(() => socket.on('error', () => undefined).terminate()) as Promise<boolean>;
  };
  for (const path of [SOCKET_PATH, `${SOCKET_PATH}/`, `/site/rtls${SOCKET_PATH}`])
    assert.equal(await opens(path), true, path);
  for (const path of [`/other${SOCKET_PATH}`, `/site${SOCKET_PATH}`]) assert.equal(await opens(path), false, path);
});
