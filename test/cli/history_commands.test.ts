import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { sqlText } from '../../src/history/columns.ts';
import { Duck } from '../../src/history/duck.ts';
import { openTestHub, whileHubRuns } from '../support/running_hub.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import type { TestHub } from '../support/test_hub.ts';
import { type Finished, runCliIn } from './run_cli.ts';

const START_MS = Date.parse('2026-03-01T10:00:00Z');
const MINUTES = 180;
const at = (minute: number): string => new Date(START_MS + 60_000 * minute).toISOString();

/** A spreadsheet would evaluate it. */
const SOURCE = '=1+1';

/** A person moves through a gate and back, every minute. */
async function pass(hub: TestHub): Promise<void> {
  await hub.post('/fences', { region: { type: 'Point', coordinates: [8, 50] }, radius: 20, name: 'Gate' });
  for (let minute = 0; minute < MINUTES; minute++) {
    const location = {
      ...{ provider_id: 'a', provider_type: 'uwb', source: SOURCE, crs: 'EPSG:4326', timestamp_generated: at(minute) },
      ...{ position: { type: 'Point', coordinates: [minute % 2 === 0 ? 8 : 8.01, 50] }, properties: { minute } },
    };
    await hub.put('/providers/a/location', location);
  }
}

describe('The commands of the history', () => {
  let folder: string;
  let hub: TestHub;
  const run = (...args: readonly string[]): Promise<Finished> => runCliIn(folder, 'history', ...args);
  const file = (name: string): string => join(folder, name);

  before(async () => {
    folder = temporaryFolder();
    const settings = { history: true, history_properties: true, history_retention_days: 36_500 };
    // A hub has written everything when it has exited.
    await whileHubRuns(folder, settings, pass);
    hub = await openTestHub(settings, { folder });
  });
  after(async () => {
    await hub.close();
  });

  test('info lists the recorded data while the hub runs', async () => {
    const { code, out, err } = await run('info');
    assert.equal(code, 0, err);
    assert.match(out, /^locations: 180 rows from 2026-03-01T10:00:00.000Z to 2026-03-01T12:59:00.000Z, 3 files/m);
    assert.match(out, /^fence_events: 180 rows from /m);
    assert.match(out, /^motions: nothing$/m);
  });

  test('export replaces ids by pseudonyms, which are the same in each export with the same key only', async () => {
    writeFileSync(file('key'), 'k'.repeat(32));
    const rowsOf = async (name: string, topic: string, ...options: readonly string[]) => {
      const { code, err } = await run('export', '--topic', topic, '--out', file(name), '--pseudonymize', ...options);
      assert.equal(code, 0, err);
      const duck = await Duck.open({ memoryMb: 128, spillFolder: undefined });
      const rows = await duck.rows(`FROM read_parquet(${sqlText(file(name))})`);
      duck.close();
      return rows;
    };
    const locations = await rowsOf('p1.parquet', 'locations', file('key'));
    const events = await rowsOf('p2.parquet', 'fence_events', file('key'));
    const ofRandomKey = await rowsOf('p3.parquet', 'locations');
    const pseudonyms = (rows: typeof locations, column: string) => [...new Set(rows.map((row) => row[column]))];
    const [pseudonym] = pseudonyms(locations, 'id');
    assert.match(String(pseudonym), /^[0-9a-f]{32}$/);
    assert.deepEqual(pseudonyms(locations, 'provider_id'), [pseudonym]);
    assert.deepEqual(pseudonyms(events, 'object_id'), [pseudonym]);
    assert.deepEqual([locations.length, events.length], [180, 180]);
    assert.notEqual(pseudonyms(ofRandomKey, 'id')[0], pseudonym);
    for (const { properties, event, fence_id: fence } of [...locations, ...events]) {
      assert.deepEqual([properties ?? null, event ?? null], [null, null]);
      assert.ok(fence === undefined || String(fence).length === 36);
    }
    writeFileSync(file('short'), 'k');
    const { code, err } = await run('export', '--out', file('p4.csv'), '--pseudonymize', file('short'));
    assert.equal(code, 1);
    assert.match(err, /must have at least 32 bytes, found 1/);
  });

  test('export writes a half-open span in each format, with the recorded rows', async () => {
    const span = ['--from', at(10), '--to', at(70)];
    for (const name of ['span.parquet', 'span.csv', 'span.geojson']) {
      const { code, out, err } = await run('export', ...span, '--out', file(name));
      assert.equal(code, 0, err);
      assert.match(out, /^Exported 60 rows of locations to /);
    }
    const duck = await Duck.open({ memoryMb: 128, spillFolder: undefined });
    const ofParquet = await duck.rows(`FROM read_parquet(${sqlText(file('span.parquet'))})`);
    const ofCsv = await duck.rows(`FROM read_csv(${sqlText(file('span.csv'))}, all_varchar = true)`);
    duck.close();
    const { features } = JSON.parse(readFileSync(file('span.geojson'), 'utf8'));
    const minutes = Array.from({ length: 60 }, (_, i) => i + 10);
    assert.deepEqual(
      ofParquet.map(({ properties }) => JSON.parse(String(properties)).minute),
      minutes,
    );
    assert.deepEqual(
      ofCsv.map(({ time }) => Date.parse(String(time))),
      minutes.map((minute) => Date.parse(at(minute))),
    );
    assert.deepEqual([...new Set(ofParquet.map(({ source }) => source))], [SOURCE]);
    assert.deepEqual(
      [...new Set(ofCsv.map(({ source }) => source))],
      [`'${SOURCE}`],
      'text that is a formula is guarded',
    );
    const byRest = await hub.get(`/providers/a/history?from=${at(10)}&to=${at(11)}&format=csv`);
    assert.match(byRest.text, /,'=1\+1\r\n/, 'as in the API');
    assert.deepEqual(
      features.map((each: { properties: { properties: object } }) => each.properties.properties),
      minutes.map((minute) => ({ minute })),
    );
    assert.deepEqual(features[0].geometry, { type: 'Point', coordinates: [8, 50] });
  });

  test('export of events has each as it was published', async () => {
    const { code, err } = await run('export', '--topic', 'fence_events', '--out', file('events.json'));
    assert.equal(code, 0, err);
    const { features } = JSON.parse(readFileSync(file('events.json'), 'utf8'));
    assert.equal(features.length, 180);
    const { properties, geometry } = features[0];
    assert.equal(geometry, null);
    assert.equal(properties.event.id, properties.id);
  });

  test('export replaces a file with --force only, and reports invalid arguments', async () => {
    writeFileSync(file('there.csv'), 'mine');
    const cases: readonly (readonly [args: readonly string[], said: RegExp])[] = [
      [['export', '--out', file('there.csv')], /there.csv: it exists already; --force replaces it/],
      [['export', '--out', file('x')], /--format is needed: .*x ends in none of .parquet, .csv, .geojson/],
      [['export', '--out', file('x.csv'), '--from', 'noon'], /'noon' is invalid. It must be a time/],
      [['export', '--out', file('x.csv'), '--from', at(1), '--to', at(1)], /--from must be before --to, found /],
      [['export', '--out', file('x.csv'), '--topic', 'places'], /'places' is invalid. Allowed choices are locations/],
      [['export', '--out', file('x.csv'), '--from', '2027-01-01T00:00:00Z'], /Nothing to export: no locations/],
      [['export', '--out', join(folder, 'none', 'x.csv')], /Cannot write .*x.csv: /],
      [['export', '--out', file('data.dat')], /it is .*, a file of the database/],
      [['prune'], /specify --before or --max-size/],
    ];
    for (const [args, said] of cases) {
      const { code, err } = await run(...args);
      assert.equal(code, 1, args.join(' '));
      assert.match(err, said);
    }
    assert.equal(readFileSync(file('there.csv'), 'utf8'), 'mine');
    assert.deepEqual(
      readdirSync(folder).filter((name) => /^x|writing|spill/.test(name)),
      [],
    );
    assert.equal((await run('export', '--out', file('there.csv'), '--force')).code, 0);
    assert.equal(readFileSync(file('there.csv'), 'utf8').split('\n').length, 182);
  });

  test('a damaged file is named by info, and skipped by export with a warning', async () => {
    const hour = file('history/locations/date=2026-03-02/hour=00');
    mkdirSync(hour, { recursive: true });
    writeFileSync(join(hour, 'part-1.parquet'), 'PAR1 and no more');
    const { code, out, err } = await run('info');
    assert.equal(code, 1);
    assert.match(out, /^Problem: .*hour=00\/part-1.parquet: /m);
    assert.match(err, /Cannot read 1 file in/);
    const exported = await run('export', '--out', file('rest.csv'));
    assert.match(exported.out, /^Exported 180 rows .*; left out what is in 1 damaged files/);
    rmSync(join(hour, '..'), { recursive: true });
  });

  test('prune is rejected while the hub runs, deletes whole hours when it has stopped, and nothing with --dry-run', async () => {
    const before = ['prune', '--before', at(119)];
    assert.match((await run(...before)).err, /another hub is using it/);
    await hub.hub.close();
    const tried = await run(...before, '--dry-run');
    assert.match(tried.out, /^Would delete 2 files, .*, hours 2026-03-01T10:00:00.000Z to 2026-03-01T10:00:00.000Z\n/);
    const locations = join(folder, 'history', 'locations', 'date=2026-03-01');
    assert.deepEqual(readdirSync(locations).sort(), ['hour=10', 'hour=11', 'hour=12']);
    assert.match((await run(...before)).out, /^Deleted 2 files/);
    assert.deepEqual(readdirSync(locations).sort(), ['hour=11', 'hour=12']);
    const names = readdirSync(join(folder, 'history'), { recursive: true, encoding: 'utf8' });
    const parts = names.filter((name) => name.endsWith('.parquet')).length;
    assert.ok(parts >= 4, names.join(' '));
    const { out } = await run('prune', '--max-size', '0');
    assert.ok(out.startsWith(`Deleted ${parts} files,`), out);
    assert.equal(existsSync(join(folder, 'history', 'fence_events', 'date=2026-03-01')), false);
  });
});
