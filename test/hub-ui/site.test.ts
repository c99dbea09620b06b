import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { HubError } from '../../src/errors.ts';
import type { HttpReply, HttpRequest } from '../../src/exchange.ts';
import { lend } from '../../src/model/borrowed.ts';
import { type SiteSettings, withSite } from '../../src/site/site.ts';
import type { SiteFile, SiteFiles } from '../../src/site/site_files.ts';

const SETTINGS: SiteSettings = { hub_version: '1.2.3', map_tiles: null, sign_in: null, history: false };
const TEXT = 'const answer = 42;\n'.repeat(50);

function file(name: string, mediaType: string, text: string): [string, SiteFile] {
  const plain = Buffer.from(text);
  const isLasting = name.startsWith('assets/');
  return [name, { mediaType, etag: `"${name}"`, isLasting, plain, br: undefined, gzip: undefined }];
}

const [SCRIPT_NAME, SCRIPT] = file('assets/main-1a2b.js', 'text/javascript; charset=utf-8', TEXT);
const FILES: SiteFiles = new Map([
  file('index.html', 'text/html; charset=utf-8', '<!doctype html>'),
  [SCRIPT_NAME, { ...SCRIPT, br: Buffer.from('brotli'), gzip: Buffer.from('gzip') }],
]);

const other: HttpReply = { status: 200, body: 'the API' };
const refuse = (error: HubError): HttpReply => ({ status: error.status, body: error.message });

function ask(
  path: string,
  {
    method = 'GET',
    headers = {},
    files = FILES,
    settings = SETTINGS,
  }: { method?: string; headers?: Record<string, string>; files?: SiteFiles; settings?: SiteSettings } = {},
): HttpReply {
  const request: HttpRequest = {
    method,
    path,
    query: '',
    header: (name) => headers[name],
    body: lend(new Uint8Array()),
  };
  return withSite(() => other, { files, settings, refuse })(request) as HttpReply;
}

for (const path of ['/hub/v2/zones', '/hub-uix', '/health', '/v1/website', '/hub']) {
  test(`withSite leaves ${path} to the API`, () => {
    assert.equal(ask(path), other);
  });
}

for (const path of ['/', '/hub-ui', '/v1/web', '/v1/web/map', '/hub/v1/web', '/deephub-ui/admin/']) {
  test(`withSite sends ${path} to the web UI`, () => {
    assert.deepEqual(ask(path), { status: 302, headers: { Location: '/hub-ui/' } });
  });
}

for (const path of ['/hub-ui/', '/hub-ui/zones', '/hub-ui/fences/a%2Fb', '/hub-ui/index.html']) {
  test(`withSite answers ${path} with the page, to be asked for again each time`, () => {
    const { status, headers, body } = ask(path);
    assert.equal(status, 200);
    assert.equal(String(body), '<!doctype html>');
    assert.equal(headers?.['Content-Type'], 'text/html; charset=utf-8');
    assert.equal(headers?.['Cache-Control'], 'no-cache');
  });
}

const OFFERS = [
  ['br, gzip', 'br', 'brotli'],
  ['gzip, deflate', 'gzip', 'gzip'],
  ['gzip;q=1.0, br;q=0', 'gzip', 'gzip'],
  ['br ; q=0.5', 'br', 'brotli'],
  ['identity', undefined, TEXT],
  ['', undefined, TEXT],
  ['brotli', undefined, TEXT],
] as const;

for (const [accepted, encoding, body] of OFFERS) {
  test(`withSite packs a file for "${accepted}" as ${encoding ?? 'plain bytes'}`, () => {
    const reply = ask('/hub-ui/assets/main-1a2b.js', { headers: { 'accept-encoding': accepted } });
    assert.equal(reply.headers?.['Content-Encoding'], encoding);
    assert.equal(reply.headers?.['Vary'], 'Accept-Encoding');
    assert.equal(Buffer.from(reply.body as Uint8Array).toString(), body);
  });
}

test('withSite lets files whose names have a hash be kept for ever, and knows those that a client has', () => {
  const { headers } = ask('/hub-ui/assets/main-1a2b.js');
  assert.match(headers?.['Cache-Control'] ?? '', /immutable/);
  for (const tag of ['"assets/main-1a2b.js"', 'W/"assets/main-1a2b.js"', '"x", "assets/main-1a2b.js"']) {
    const again = ask('/hub-ui/assets/main-1a2b.js', { headers: { 'if-none-match': tag } });
    assert.equal(again.status, 304);
    assert.equal(again.body, undefined);
  }
  assert.equal(ask('/hub-ui/assets/main-1a2b.js', { headers: { 'if-none-match': '"y"' } }).status, 200);
});

test('withSite does not answer a file that is gone with the page: a browser would run it', () => {
  assert.deepEqual(ask('/hub-ui/assets/main-old.js'), {
    status: 404,
    body: 'Cannot get /hub-ui/assets/main-old.js: there is no such file',
  });
});

test('withSite refuses to be written to', () => {
  const { status, headers } = ask('/hub-ui/zones', { method: 'POST' });
  assert.equal(status, 405);
  assert.equal(headers?.['Allow'], 'GET, HEAD');
});

test('withSite says what to do where the page was never built', () => {
  const { status, body } = ask('/hub-ui/', { files: new Map() });
  assert.equal(status, 503);
  assert.match(String(body), /npm run build:ui/);
});

test('withSite tells the page its settings', () => {
  const { headers, body } = ask('/hub-ui/settings.json');
  assert.deepEqual(JSON.parse(String(body)), SETTINGS);
  assert.equal(headers?.['Cache-Control'], 'no-store');
});

const TILES = [
  ['https://tiles.example/{z}/{x}/{y}.png', 'https://tiles.example'],
  ['https://{a-c}.tiles.example:8443/{z}/{x}/{y}.png', 'https://*.tiles.example:8443'],
  ['http://10.0.0.5/{z}/{x}/{y}', 'http://10.0.0.5'],
] as const;

for (const [url, origin] of TILES) {
  test(`withSite lets the page load images from ${origin} for tiles at ${url}`, () => {
    const settings = { ...SETTINGS, map_tiles: { url, attribution: '' } };
    const policy = ask('/hub-ui/', { settings }).headers?.['Content-Security-Policy'] ?? '';
    assert.ok(policy.includes(`img-src 'self' data: blob: ${origin};`), policy);
    assert.ok(policy.includes("script-src 'self';"), policy);
  });
}

test('The built page is packed in both ways to the same bytes', async () => {
  const { readSiteFiles } = await import('../../src/site/site_files.ts');
  const builder = new URL('../../src/build_ui.mjs', import.meta.url).href;
  const { builtFolder, ensureBuilt } = (await import(builder)) as { builtFolder(): string; ensureBuilt(): void };
  ensureBuilt();
  const files = readSiteFiles(builtFolder());
  assert.ok(files.has('index.html'));
  for (const [name, { plain, br, gzip }] of files) {
    if (!/\.(js|css|html)$/.test(name)) continue;
    assert.deepEqual(brotliDecompressSync(br ?? Buffer.alloc(0)), plain, name);
    assert.deepEqual(gunzipSync(gzip ?? Buffer.alloc(0)), plain, name);
  }
});
