import { errorWith } from '../support/errors.ts';
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { HubError } from '../../src/errors.ts';
import type { HttpReply, HttpRequest } from '../../src/exchange.ts';
import { lend } from '../../src/model/borrowed.ts';
import { rangeOf, whyNoMap } from '../../src/site/map_file.ts';
import { kindOfTiles } from '../../src/site/map_tiles.ts';
import { type SiteSettings, withSite } from '../../src/site/site.ts';
import { type SiteFile, type SiteFiles, siteFilesIn } from '../../src/site/site_files.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';

const SETTINGS: SiteSettings = {
  hub_version: '1.2.3',
  map_tiles: null,
  sign_in: null,
  history: false,
  entity_properties_bytes: 1 << 20,
};
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
  return withSite(() => other, { files: () => files, settings, refuse })(request) as HttpReply;
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
  test(`withSite answers ${path} with the page, which must be revalidated`, () => {
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
  test(`withSite compresses a file for "${accepted}" as ${encoding ?? 'plain bytes'}`, () => {
    const reply = ask('/hub-ui/assets/main-1a2b.js', { headers: { 'accept-encoding': accepted } });
    assert.equal(reply.headers?.['Content-Encoding'], encoding);
    assert.equal(reply.headers?.['Vary'], 'Accept-Encoding');
    assert.equal(Buffer.from(reply.body as Uint8Array).toString(), body);
  });
}

test('withSite marks files with hashed names as immutable, and revalidates by ETag', () => {
  const { headers } = ask('/hub-ui/assets/main-1a2b.js');
  assert.match(headers?.['Cache-Control'] ?? '', /immutable/);
  for (const tag of ['"assets/main-1a2b.js"', 'W/"assets/main-1a2b.js"', '"x", "assets/main-1a2b.js"']) {
    const again = ask('/hub-ui/assets/main-1a2b.js', { headers: { 'if-none-match': tag } });
    assert.equal(again.status, 304);
    assert.equal(again.body, undefined);
  }
  assert.equal(ask('/hub-ui/assets/main-1a2b.js', { headers: { 'if-none-match': '"y"' } }).status, 200);
});

test('withSite does not answer requests for deleted files with the page, which a browser would execute', () => {
  assert.deepEqual(ask('/hub-ui/assets/main-old.js'), {
    status: 404,
    body: 'Cannot get /hub-ui/assets/main-old.js: there is no such file',
  });
});

test('withSite rejects writing methods', () => {
  const { status, headers } = ask('/hub-ui/zones', { method: 'POST' });
  assert.equal(status, 405);
  assert.equal(headers?.['Allow'], 'GET, HEAD');
});

test('withSite explains what to do if the page was never built', () => {
  const { status, body } = ask('/hub-ui/', { files: new Map() });
  assert.equal(status, 503);
  assert.match(String(body), /npm run build:ui/);
});

test('withSite sends the page its settings', () => {
  const { headers, body } = ask('/hub-ui/settings.json');
  assert.deepEqual(JSON.parse(String(body)), SETTINGS);
  assert.equal(headers?.['Cache-Control'], 'no-store');
});

const TILES = [
  ['https://tiles.example/{z}/{x}/{y}.png', 'images', 'img-src', 'https://tiles.example'],
  ['https://{a-c}.tiles.example:8443/{z}/{x}/{y}.png', 'images', 'img-src', 'https://*.tiles.example:8443'],
  ['http://10.0.0.5/{z}/{x}/{y}', 'images', 'img-src', 'http://10.0.0.5'],
  ['https://tiles.example/{z}/{x}/{y}.mvt?key=1.png', 'vector', 'connect-src', 'https://tiles.example'],
  ['https://tiles.example/{z}/{x}/{y}.pbf', 'vector', 'connect-src', 'https://tiles.example'],
  ['https://files.example/town.pmtiles', 'pmtiles', 'connect-src', 'https://files.example'],
  ['/tiles/{z}/{x}/{y}.png', 'images', undefined, undefined],
  ['/hub-ui/map.pmtiles', 'pmtiles', undefined, undefined],
] as const;

const OWN = { 'img-src': "img-src 'self' data: blob:", 'connect-src': "connect-src 'self'" };

for (const [url, kind, directive, origin] of TILES) {
  test(`withSite permits the page ${kind} at ${url} from ${origin ?? 'this hub'}, and nothing else`, () => {
    assert.equal(kindOfTiles(url), kind);
    const settings = { ...SETTINGS, map_tiles: { url, kind, attribution: '', max_zoom: null } };
    const policy = ask('/hub-ui/', { settings }).headers?.['Content-Security-Policy']?.split('; ') ?? [];
    for (const [name, own] of Object.entries(OWN)) {
      assert.ok(policy.includes(name === directive ? `${own} ${origin}` : own), policy.join('; '));
    }
    assert.ok(policy.includes("script-src 'self'"), policy.join('; '));
  });
}

const FOUR_MIB = 4 * 2 ** 20;

for (const [header, size, start, end] of [
  ['bytes=0-126', 1_000, 0, 127],
  ['bytes=990-2000', 1_000, 990, 1_000],
  ['bytes=10-', 1_000, 10, 1_000],
  ['bytes=-10', 1_000, 990, 1_000],
  ['bytes=-2000', 1_000, 0, 1_000],
  ['bytes=5-', 1e9, 5, 5 + FOUR_MIB],
  ['bytes=1000-1001', 1_000, undefined, undefined],
  ['bytes=7-6', 1_000, undefined, undefined],
  ['bytes=-0', 1_000, undefined, undefined],
  ['bytes=-', 1_000, undefined, undefined],
  ['bytes=0-1,5-6', 1_000, undefined, undefined],
  ['lines=0-1', 1_000, undefined, undefined],
] as const) {
  test(`"${header}" of ${size} bytes requests ${start === undefined ? 'nothing' : `${start} up to ${end}`}`, () => {
    assert.deepEqual(rangeOf(header, size), start === undefined ? undefined : { start, end });
  });
}

test('A page that is built after the start of the hub is served, and is asked for again until then', async () => {
  const folder = temporaryFolder();
  const built = join(folder, 'built');
  const handle = withSite(() => other, { files: siteFilesIn(built), settings: SETTINGS, refuse });
  const get = (path: string): HttpReply =>
    handle({ method: 'GET', path, query: '', header: () => undefined, body: lend(new Uint8Array()) }) as HttpReply;
  const early = get('/hub-ui/');
  assert.deepEqual([early.status, early.headers?.['Refresh']], [503, '3']);
  assert.match(String(early.body), /^The web UI is not built yet\./);
  await mkdir(built);
  await writeFile(join(built, 'index.html'), '<!doctype html>');
  assert.deepEqual([get('/hub-ui/').status, String(get('/hub-ui/').body)], [200, '<!doctype html>']);
});

test('withSite serves ranges of the map file to clients with a valid token', async () => {
  const folder = temporaryFolder();
  const mapFile = join(folder, 'town.pmtiles');
  const askFor = async (range: string | undefined, permitted?: () => Promise<string>): Promise<HttpReply> => {
    const header = (name: string) => (name === 'range' ? range : undefined);
    const request = { method: 'GET', path: '/hub-ui/map.pmtiles', query: '', header, body: lend(new Uint8Array()) };
    const handle = withSite(() => other, {
      ...{ files: () => FILES, settings: SETTINGS, refuse, mapFile },
      ...(permitted && { permitted }),
    });
    return handle(request);
  };
  const missing = 'Cannot read the map file town.pmtiles: there is no such file in the folder of hub_config.yaml';
  assert.deepEqual(await askFor('bytes=0-9'), { status: 404, body: missing });
  assert.equal(await whyNoMap(mapFile), missing);
  await writeFile(mapFile, 'This is a letter, and no map.');
  assert.equal(await whyNoMap(mapFile), 'town.pmtiles is not a PMTiles file of version 3');
  await writeFile(mapFile, Buffer.alloc(FOUR_MIB + 1, 'PMTiles\x03'));
  assert.equal(await whyNoMap(mapFile), undefined);
  const part = await askFor('bytes=8-14');
  assert.deepEqual([part.status, String(part.body)], [206, 'PMTiles']);
  assert.equal(part.headers?.['Content-Range'], `bytes 8-14/${FOUR_MIB + 1}`);
  assert.equal((await askFor('bytes=9000000-')).status, 416);
  assert.equal((await askFor(undefined)).status, 413);
  const refused = () => Promise.reject(errorWith('HUB_NOT_AUTHENTICATED', 'Cannot know you'));
  assert.deepEqual(await askFor('bytes=0-9', refused), { status: 401, body: 'Cannot know you' });
});

test('Both encodings of the built page decompress to the same bytes', async () => {
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
