import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { withDuck } from '../../src/cli/data/history_files.ts';
import { HALL, square } from '../support/hall.ts';
import { openTestHub, type TestHub, whileHubRuns } from '../support/running_hub.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { runCli, startCliWith, temporaryFile } from './run_cli.ts';

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
  const file = temporaryFile('positions.csv', CSV);
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
  const file = temporaryFile('positions.ndjson', lines.map((line) => JSON.stringify(line)).join('\n'));
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
    temporaryFile('map.json', JSON.stringify(map)),
    '--hub',
    hub.origin,
  );
  assert.equal(code, 0, err);
  assert.deepEqual((await hub.get('/providers/n/location')).body.position.coordinates, [8, 50]);

  const parquet = join(temporaryFile('empty', ''), '../positions.parquet');
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

test('A file without positions, or with an unknown column or map, is rejected with the reason', async () => {
  const file = temporaryFile('positions.csv', CSV);
  const empty = temporaryFile('empty.csv', 'id,x,y,time\n');
  const noParquet = temporaryFile('no.parquet', 'id,x,y,time\na,8,50,2026-07-01\n');
  const broken = temporaryFile('broken.csv', 'id,x\n"a,1\n');
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

test('Positions are written into the history of a stopped hub, with motions of trackables and without events', async () => {
  const folder = temporaryFolder();
  const settings = { history: true };
  await whileHubRuns(folder, settings, async (hub) => {
    assert.equal((await hub.post('/zones', HALL)).status, 201);
    assert.equal((await hub.post('/fences', square({ name: 'Dock' }))).status, 201);
  });
  const file = temporaryFile('positions.csv', CSV);
  const env = { HUB_CONFIG_PATH: folder, HUB_HISTORY: 'true', HUB_HISTORY_RETENTION_DAYS: 'null' };
  const run = (...args: readonly string[]) => startCliWith(env, 'import', ...args, '--into-history').finished;
  const first = await run(file, ...COLUMNS, '--make-trackables');
  assert.equal(first.code, 0, first.err);
  assert.match(
    first.out,
    /Read 5 rows, 1 of them without a position\nWrote 3 locations and 3 motions to .*, rejected 1 locations\n$/,
  );
  assert.match(first.err, /Rejected: row 5: position\.coordinates/);
  const local = ['id,x,y,time', 'a,5,5,2026-07-01T12:00:00Z', 'l,50,50,2026-07-01T12:00:00Z'].join('\n');
  const second = await run(temporaryFile('local.csv', local), '--zone', 'hall');
  assert.equal(second.code, 0, second.err);
  assert.match(second.out, /Wrote 2 locations and 1 motions/);

  await whileHubRuns(folder, settings, async (hub) => {
    const span = 'from=2026-07-01T00:00:00Z&to=2026-07-02T00:00:00Z';
    const pointsOf = async (path: string) => {
      const { status, body, text } = await hub.get(`${path}/history?${span}`);
      assert.equal(status, 200, text);
      return (body.points as { time: string; longitude: number; latitude: number; x?: number }[]).map((point) => [
        point.time,
        Number(point.longitude.toFixed(4)),
        Number(point.latitude.toFixed(4)),
      ]);
    };
    const points = [
      ['2026-07-01T10:00:01.000Z', 8.1, 50],
      ['2026-07-01T10:00:02.000Z', 8.2, 50],
      ['2026-07-01T12:00:00.000Z', 9.0001, 50],
    ];
    assert.deepEqual(await pointsOf('/providers/a'), points);
    const trackables = (await hub.get('/trackables/summary')).body as { readonly id: string; readonly name: string }[];
    assert.deepEqual(trackables.map(({ name }) => name).toSorted(), ['a', 'b']);
    const named = trackables.find(({ name }) => name === 'a');
    assert.deepEqual(await pointsOf(`/trackables/${named?.id}`), points);
    assert.equal((await pointsOf('/providers/l')).length, 1);
    assert.equal((await hub.get('/providers/a/location')).status, 404);
    const running = await run(file, ...COLUMNS);
    assert.equal(running.code, 1);
    assert.match(running.err, /data\.dat/);
  });
  const off = await startCliWith({ HUB_CONFIG_PATH: folder }, 'import', file, ...COLUMNS, '--into-history').finished;
  assert.equal(off.code, 1);
  assert.match(off.err, /into the history: the hub records no positions \(history, history_topics\)/);
});
