import { ROUTES } from '../../src/api/routes/routes.ts';
import { READER } from '../scenarios/bad_locations.ts';
import { HALL, square } from '../support/hall.ts';
import { type Dice, hostileJson, TRACKABLE } from './hostile_values.ts';

/** The bytes of a request. A request that never ends gets no response. */
export interface HostileRequest {
  readonly bytes: Buffer;
  readonly isWhole: boolean;
}

const SEGMENTS = [
  HALL.id,
  READER.id,
  square().id,
  TRACKABLE.id,
  'tag',
  'hall',
  'nobody',
  'summary',
  'locations',
].concat(
  ['..', '.', '%2e%2e', '%2e%2e%2f%2e%2e%2fetc%2fpasswd', '..%2f..', '..%5c..', '%00', 'a%00b', '%', '%zz', '%ff%fe'],
  ['%c0%ae%c0%ae', '%ed%a0%80', '__proto__', 'constructor', 'a%2Fb', '%252e%252e', '', ' ', '%0d%0aX-Injected:%201'],
  ['x'.repeat(3000), '%F0%9F%98%80', ';a=b', '*', '~', 'a%20b', '$(x)', "'--"],
);
const PREFIXES = [
  '/hub/v2',
  '/hub/v1',
  '/v2',
  '/v1',
  '/deephub/v2',
  '',
  '/',
  '//hub//v2',
  '/hub/v3',
  '/hub/../hub/v2',
].concat([
  '/%68ub/v2',
  '/hub/v2/..',
  '/hub/v2/./',
  '/HUB/V2',
  '/hub\\v2',
  '/.git',
  '/hub/docs',
  '/docs/../..',
  '/hub/docs/%2e%2e',
]);
const QUERIES = [
  '',
  '?',
  '?crs=local',
  '?crs=EPSG:99999',
  '?crs=%ff',
  '?zone_id=%00',
  '?spatial_query=maybe',
  '?&&&=&',
].concat([
  '?__proto__=1',
  '?crs=local&crs=EPSG:4326',
  `?foreign_id=${'x'.repeat(5000)}`,
  '?%',
  '?crs[]=1',
  '?a=b#c',
  `?${'a&'.repeat(4000)}`,
]);
const METHODS = [
  'GET',
  'PUT',
  'POST',
  'PATCH',
  'DELETE',
  'HEAD',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'get',
  'X'.repeat(200),
];
const HEADERS = [
  'Content-Encoding: gzip',
  'Content-Encoding: br, gzip',
  'Content-Type: multipart/form-data; boundary=x',
  'Content-Type: application/json; charset=utf-16',
  'Expect: 100-continue',
  'Authorization: Bearer x.y.z',
  'Authorization: Basic OjpA',
  `Authorization: Bearer ${'A'.repeat(20_000)}`,
  'Host: evil.example',
  'X-Forwarded-For: 127.0.0.1',
  'X-HTTP-Method-Override: DELETE',
  'Range: bytes=0-,0-,0-',
  'Accept: */*;q=x',
  'If-None-Match: *',
  'Connection: close, Upgrade',
  'Upgrade: h2c',
  `X-Big: ${'x'.repeat(40_000)}`,
  'Cookie: __proto__=1',
  '__proto__: polluted',
  'Origin: null',
  'Sec-Fetch-Site: cross-site',
  'Transfer-Encoding: identity',
  'Content-Length: 5',
  'Content-Length: -1',
  'Content-Length: 99999999999999999999',
];
/** The native server waits for more bytes after these, until its timeout. */
const BROKEN_HEADERS = [': no name', 'No colon', 'Sp ace: x', 'Nul\0: x', 'Escape: \x1b[2J', 'Folded:\r\n x'];

/** A request that only attackers or faulty clients send. */
export function hostileRequest(dice: Dice): HostileRequest {
  const kind = dice.below(20);
  if (kind === 0) return garbage(dice);
  if (kind === 1) return unfinished(dice);
  if (kind === 2) return request(dice, { method: dice.one(METHODS), path: tricky(dice) });
  if (kind <= 5) return request(dice, { method: dice.one(METHODS), path: route(dice).path });
  return request(dice, route(dice));
}

function route(dice: Dice): { method: string; path: string } {
  const { method, path } = dice.one(ROUTES);
  const prefix = dice.one(PREFIXES.slice(0, 5));
  const filled = path.replaceAll(/:\w+/g, () => dice.one(dice.oneIn(3) ? SEGMENTS : SEGMENTS.slice(0, 9)));
  return { method, path: prefix + filled + (dice.oneIn(3) ? dice.one(QUERIES) : '') };
}

function tricky(dice: Dice): string {
  const segments = Array.from({ length: dice.below(5) }, () => dice.one(SEGMENTS));
  return [dice.one(PREFIXES), ...segments].join('/') + dice.one(QUERIES);
}

function request(dice: Dice, { method, path }: { method: string; path: string }): HostileRequest {
  const body = Buffer.from(hostileJson(dice) as string);
  const headers = ['Host: h'];
  for (let left = dice.oneIn(3) ? 1 + dice.below(2) : 0; left > 0; left--) headers.push(dice.one(HEADERS));
  const isBroken = dice.oneIn(30);
  if (isBroken) headers.push(dice.one(BROKEN_HEADERS));
  const isChunked = dice.oneIn(6);
  headers.push(isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`);
  const head = Buffer.from(`${method} ${path} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`, 'latin1');
  // Two framings in one request, or an invalid length: the server may wait for more data.
  const isAmbiguous = headers.filter((header) => /^(content-length|transfer-enc|upgrade)/i.test(header)).length > 1;
  const isWhole = !isBroken && !isAmbiguous && !/[ ;#\\$'*~{}]| \0/.test(path);
  return { bytes: Buffer.concat([head, ...(isChunked ? chunks(body, dice) : [body])]), isWhole };
}

function chunks(body: Buffer, dice: Dice): Buffer[] {
  const parts: Buffer[] = [];
  for (let at = 0; at < body.length; ) {
    const part = body.subarray(at, at + 1 + dice.below(20_000));
    parts.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n'));
    at += part.length;
  }
  return [...parts, Buffer.from('0\r\n\r\n')];
}

function garbage(dice: Dice): HostileRequest {
  const texts = [
    '\x16\x03\x01\x02\0\x01\0',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'GET / HTTP/9.9\r\n\r\n',
    'GET /\r\n\r\n',
    '\r\n\r\n\r\n',
  ];
  const bytes = dice.oneIn(2) ? dice.bytes(1 + dice.below(300)) : Buffer.from(dice.one(texts), 'latin1');
  return { bytes, isWhole: false };
}

function unfinished(dice: Dice): HostileRequest {
  const { bytes } = request(dice, route(dice));
  return { bytes: bytes.subarray(0, dice.below(bytes.length)), isWhole: false };
}
