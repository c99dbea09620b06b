import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import asc from 'assemblyscript/asc';
import { Bodies } from '../../bench/kernel/bodies.ts';
import { diceOf } from '../support/dice.ts';
import { Comparison } from './scanner_compared.ts';
import { wildBody, wildLocation } from './wild_locations.ts';

const CASES = 100_000;
const FLIGHTS = new URL('../../../shared/data/opensky-germany/locations.ndjson', import.meta.url);

test('The scanner is the compiled form of its source', async () => {
  const folder = fileURLToPath(new URL('../../wasm/location_scanner/', import.meta.url));
  const written = new Map<string, Uint8Array>();
  const { error, stderr } = await asc.main(['--config', `${folder}asconfig.json`, '--baseDir', folder], {
    writeFile: (name, bytes) => void written.set(name, bytes as Uint8Array),
  });
  assert.equal(error, null, String(stderr));
  const [compiled] = written.values();
  const isSame = Buffer.from(compiled ?? []).equals(readFileSync(`${folder}scanner.wasm`));
  assert.ok(isSame, 'wasm/location_scanner/scanner.wasm is stale: npm run build:wasm');
});

test('The scanner creates the records of ordinary bodies', () => {
  const comparison = new Comparison();
  const bodies = new Bodies({ providers: 1000, sideMeters: 3000 });
  for (let i = 0; i < 50; i++) comparison.list(Uint8Array.from(bodies.next()));
  assert.equal(comparison.taken, 50);
});

test('The scanner creates the records of recorded flights', { skip: !existsSync(FLIGHTS) && 'no recording' }, () => {
  const comparison = new Comparison();
  const lines = readFileSync(FLIGHTS, 'utf8').split('\n').filter(Boolean);
  for (let i = 0; i < lines.length; i += 100) comparison.list(Buffer.from(`[${lines.slice(i, i + 100).join(',')}]`));
  assert.equal(comparison.taken, Math.ceil(lines.length / 100));
});

test('The scanner creates the record of one location of any provider in a path', () => {
  const comparison = new Comparison();
  const ids = ['tag-1', 'ä', 'a"b', '😀', 'tag-1', 'x'.repeat(1024), 'x'.repeat(1025), 'tag-2', '\u0001', 'ü'];
  for (let seed = 1; seed <= 5000; seed++) {
    const dice = diceOf(seed);
    const id = ids[dice(ids.length)] as string;
    const text = wildLocation(dice).replace(/"tag-\d+"/, dice(2) === 0 ? 'null' : JSON.stringify(id));
    comparison.one(Buffer.from(text), id);
  }
  assert.ok(comparison.taken > 1000, `${comparison.taken} of ${comparison.accepted}`);
});

test('Names with a forged hash collision cost a bounded search', () => {
  const { scanner } = new Comparison();
  const ids = collidingIds(1000);
  let taken = 0;
  for (const id of ids) if (scanner.list(bodyOf(id), 0) === 1) taken++;
  assert.equal(taken, 128, 'the others are left to the parser');
  assert.equal(scanner.nameCount, 128);
  assert.equal(scanner.areNamesFull, false);
  assert.equal(scanner.list(bodyOf('another'), 0), 1);
  assert.equal(scanner.list(bodyOf(ids[127] as string), 0), 1);
  scanner.forgetNames();
  assert.equal(scanner.list(bodyOf(ids[999] as string), 0), 1);
});

function bodyOf(id: string): Buffer {
  const location = {
    position: { type: 'Point', coordinates: [1, 2] },
    crs: 'EPSG:4326',
    provider_type: 'uwb',
    provider_id: id,
  };
  return Buffer.from(JSON.stringify([{ ...location, timestamp_generated: '2026-01-01T00:00:00Z' }]));
}

/** Ids of eight characters: the first four are arbitrary, and the others force the hash to one value. */
function collidingIds(count: number): string[] {
  const [BASIS, PRIME, SAME] = [0x811c9dc5 ^ 8, 0x01000193, 0x2a2a2a2a];
  const ids: string[] = [];
  for (let seed = 0; ids.length < count; seed++) {
    const head = Buffer.from(seed.toString(36).padStart(4, '0'));
    let hash = Math.imul(BASIS ^ head.readInt32LE(), PRIME);
    hash ^= hash >>> 15;
    const tail = Buffer.alloc(4);
    tail.writeInt32LE(hash ^ SAME);
    const id = Buffer.concat([head, tail]).toString('latin1');
    if (/^[ !#-Z^-~]{8}$/.test(id)) ids.push(id);
  }
  return ids;
}

test('For random bodies, the scanner accepts only what parser and checks accept, with the same result', (t) => {
  const comparison = new Comparison();
  for (let seed = 1; seed <= CASES; seed++) comparison.list(wildBody(diceOf(seed)));
  const { accepted, taken } = comparison;
  t.diagnostic(`${CASES} bodies, ${accepted} accepted by the hub, ${taken} of them taken by the scanner`);
  assert.ok(taken > CASES / 5 && taken > accepted / 2, `${taken} of ${accepted}`);
});
