import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { withDuck } from '../../src/cli/data/history_files.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import { runCli, temporaryFile } from './run_cli.ts';

const CSV = [
  'Tag;Lon;Lat;When',
  'a;8.2;50;2026-07-01 12:00:02',
  'a;8.1;50;2026-07-01 12:00:01',
  'b;9;"50";2026-07-01 12:00:03',
  'c;east;50;2026-07-01 12:00:04',
  'd;200;50;2026-07-01 12:00:05',
].join('\r\n');
const COLUMNS = ['--id', 'Tag', '--x', 'Lon', '--y', 'Lat', '--time', 'When', '--time-zone', 'Europe/Berlin'];

async function openHub(t: TestContext): Promise<TestHub> {
  const hub = await openTestHub({ history: true });
  t.after(() => hub.close());
  return hub;
}

test('Positions of a CSV file arrive in the order of their times, in the time zone, with trackables', async (t) => {
  const hub = await openHub(t);
  const existing = { type: 'virtual', name: 'Mine', location_providers: ['b'] };
  assert.equal((await hub.post('/trackables', existing)).status, 201);
  const file = temporaryFile(t, 'positions.csv', CSV);
  const run = () => runCli('import', file, ...COLUMNS, '--make-trackables', '--hub', hub.origin);
  const { code, out, err } = await run();
  assert.equal(code, 0, err);
  assert.match(out, /^Read 5 rows, 1 of them without a position\nSent 4 locations: accepted 3, rejected 1\n$/);
  assert.match(err, /Refused: row 4: \$\/Lon: must be a number, found "east"/);
  assert.match(err, /Rejected: line 5: 400 /);
  const location = (await hub.get('/providers/a/location')).body;
  assert.deepEqual(
    [location.position.coordinates, location.timestamp_generated],
    [[8.2, 50], '2026-07-01T10:00:02.000Z'],
  );
  const names = async () => {
    return ((await hub.get('/trackables/summary')).body as { name: string }[]).map(({ name }) => name).toSorted();
  };
  // The hub rejects the location of d.
  assert.deepEqual(await names(), ['Mine', 'a', 'd']);
  await run();
  assert.deepEqual(await names(), ['Mine', 'a', 'd']);
});

test('NDJSON is mapped by a file, and Parquet by its columns', async (t) => {
  const hub = await openHub(t);
  const lines = [{ tag: { id: 'n' }, pos: [8, 50], ms: Date.parse('2026-07-01T10:00:00Z') }];
  const file = temporaryFile(t, 'positions.ndjson', lines.map((line) => JSON.stringify(line)).join('\n'));
  const map = {
    provider_id: '/tag/id',
    x: '/pos/0',
    y: '/pos/1',
    crs: { value: 'EPSG:4326' },
    timestamp_generated: { path: '/ms', unit: 'ms' },
  };
  const { code, err } = await runCli(
    'import',
    file,
    '--map',
    temporaryFile(t, 'map.json', JSON.stringify(map)),
    '--hub',
    hub.origin,
  );
  assert.equal(code, 0, err);
  assert.deepEqual((await hub.get('/providers/n/location')).body.position.coordinates, [8, 50]);

  const parquet = join(temporaryFile(t, 'empty', ''), '../positions.parquet');
  await withDuck(undefined, (duck) =>
    duck.run(
      `COPY (SELECT 'p' AS id, 9.5 AS x, 51.0 AS y, TIMESTAMP '2026-07-01 10:00:00.25' AS time) TO '${parquet}' (FORMAT parquet)`,
    ),
  );
  const imported = await runCli('import', parquet, '--hub', hub.origin);
  assert.equal(imported.code, 0, imported.err);
  const { position, timestamp_generated: time } = (await hub.get('/providers/p/location')).body;
  assert.deepEqual([position.coordinates, time], [[9.5, 51], '2026-07-01T10:00:00.250Z']);
});

test('A file without positions, or with an unknown column or map, is rejected with the reason', async (t) => {
  const file = temporaryFile(t, 'positions.csv', CSV);
  const empty = temporaryFile(t, 'empty.csv', 'id,x,y,time\n');
  const noParquet = temporaryFile(t, 'no.parquet', 'id,x,y,time\na,8,50,2026-07-01\n');
  const broken = temporaryFile(t, 'broken.csv', 'id,x\n"a,1\n');
  for (const [args, message] of [
    [
      [file, '--x', 'Lon', '--y', 'Lat', '--id', 'Tags'],
      /Cannot import .*positions\.csv: it has no column "Tags", only Tag, Lon, Lat, When/,
    ],
    [[file, '--id', 'Tag', '--x', 'Lon', '--y', 'Lat', '--time', 'Time'], /it has no column "Time"/],
    [[file], /Refused: row 1: \$\/x: is required, but is missing\n[\s\S]*it contains no positions/],
    [[noParquet], /^Cannot read .*no\.parquet: [^\n]*No magic bytes[^\n]*\n$/],
    [[empty], /Cannot import .*empty\.csv: it contains no positions/],
    [[broken], /broken\.csv: Record 2: unterminated quote/],
    [[file, '--time-zone', 'Berlin'], /map\.time_zone: must be a time zone/],
    [['nothing.csv'], /Cannot read nothing\.csv/],
  ] as const) {
    const { code, err } = await runCli('import', ...args, '--hub', 'http://127.0.0.1:9');
    assert.equal(code, 1);
    assert.match(err, message);
  }
});
