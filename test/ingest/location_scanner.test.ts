import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import asc from 'assemblyscript/asc';
import { Bodies } from '../../bench/kernel/bodies.ts';
import { Comparison } from './scanner_compared.ts';
import { diceOf, wildBody } from './wild_locations.ts';

const CASES = 100_000;
const FLIGHTS = new URL('../../../shared/data/opensky-germany/locations.ndjson', import.meta.url);

test('The scanner is what its source compiles to', async () => {
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

test('The scanner makes the records of ordinary bodies', () => {
  const comparison = new Comparison();
  const bodies = new Bodies({ providers: 1000, sideMetres: 3000 });
  for (let i = 0; i < 50; i++) comparison.list(Uint8Array.from(bodies.next()));
  assert.equal(comparison.taken, 50);
});

test('The scanner makes the records of recorded flights', { skip: !existsSync(FLIGHTS) && 'no recording' }, () => {
  const comparison = new Comparison();
  const lines = readFileSync(FLIGHTS, 'utf8').split('\n').filter(Boolean);
  for (let i = 0; i < lines.length; i += 100) comparison.list(Buffer.from(`[${lines.slice(i, i + 100).join(',')}]`));
  assert.equal(comparison.taken, Math.ceil(lines.length / 100));
});

test('What the scanner takes of wild bodies is what the parser and the checks make of them', (t) => {
  const comparison = new Comparison();
  for (let seed = 1; seed <= CASES; seed++) comparison.list(wildBody(diceOf(seed)));
  const { accepted, taken } = comparison;
  t.diagnostic(`${CASES} bodies, ${accepted} accepted by the hub, ${taken} of them taken by the scanner`);
  assert.ok(taken > CASES / 5 && taken > accepted / 2, `${taken} of ${accepted}`);
});
