import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { HISTORY_TOPICS, type HistoryTopic } from '../../src/model/history.ts';
import { installed, run, runInstall } from '../clients/generators/tools.ts';
import { openTestHub } from '../support/running_hub.ts';
import { EVERYTHING } from './recorded_places.ts';
import { walk } from './walk.ts';

const PACKAGES = ['pyarrow==25.0.1', 'duckdb==2.0.1', 'pytz==2025.2'];
const PIP = [
  'install',
  '--quiet',
  '--disable-pip-version-check',
  '--only-binary',
  ':all:',
  '--retries',
  '1',
  '--timeout',
  '60',
];
const READER = fileURLToPath(new URL('python/read_history.py', import.meta.url));
const READER_IN_BERLIN = fileURLToPath(new URL('python/read_in_berlin.py', import.meta.url));
const TOPICS_OF: Readonly<Record<HistoryTopic, string>> = {
  locations: 'location_updates',
  motions: 'trackable_motions',
  fence_events: 'fence_events',
  collision_events: 'collision_events',
};
const [PROVIDERS, ROUNDS] = [200, 20] as const;

const tool =
  spawnSync('python3', ['--version']).status === 0
    ? await installed('history-readers', async (folder) => {
        await runInstall('python3', ['-m', 'venv', folder], { cwd: folder });
        await runInstall(join(folder, 'bin/python'), ['-m', 'pip', ...PIP, ...PACKAGES], { cwd: folder });
      })
    : { folder: '', skip: 'python3 is not installed' };

interface Found {
  readonly topic: HistoryTopic;
  readonly rows: number;
  readonly ids: Readonly<Record<string, number>>;
  readonly ordered: boolean;
  readonly columns: Readonly<Record<string, string>>;
}

test('pyarrow reads the rows of received events from the files, while the hub records more', {
  skip: tool.skip,
}, async (t) => {
  // Often enough that positions arrive while others are written.
  const hub = await openTestHub({ history: true, history_flush_interval: 100 });
  t.after(hub.close);
  for (let i = 0; i < PROVIDERS; i++) {
    const [id] = [`${i}`.padStart(8, '0')];
    await hub.post('/trackables', {
      id: `${id}-0000-4000-8000-000000000000`,
      type: 'omlox',
      location_providers: [`p${i}`],
      radius: 0.4,
    });
  }
  await hub.post('/fences', { region: { type: 'Point', coordinates: [8, 50] }, radius: 60 });
  const recorders = await Promise.all(HISTORY_TOPICS.map((topic) => hub.subscribe(TOPICS_OF[topic])));
  for (let round = 0; round < ROUNDS; round++) {
    const locations = Array.from({ length: PROVIDERS }, (_, i) => ({
      ...{ provider_id: `p${i}`, provider_type: 'uwb', source: 'hall', crs: 'EPSG:4326' },
      position: { type: 'Point', coordinates: [8 + i * 1e-5 * Math.cos(round), 50 + i * 1e-5 * Math.sin(round)] },
    }));
    await hub.put('/providers/locations', locations);
  }
  await hub.settle();
  await hub.hub.history?.files(EVERYTHING);
  const { topics } = (await hub.get('/health/history')).body as { topics: { topic: string; dropped: number }[] };
  assert.deepEqual(
    topics.filter(({ dropped }) => dropped > 0),
    [],
  );
  const said = await run(join(tool.folder, 'bin/python'), [READER, join(hub.folder, 'history')], { cwd: hub.folder });
  const found = new Map(
    said
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Found)
      .map((of) => [of.topic, of]),
  );
  for (const [i, topic] of HISTORY_TOPICS.entries()) {
    const { rows = 0, ordered } = found.get(topic) ?? {};
    assert.ok(rows > PROVIDERS, `${rows} ${topic}`);
    assert.equal(rows, recorders[i]?.events.length, topic);
    assert.equal(ordered, true, topic);
  }
  const { ids, columns } = found.get('locations') as Found;
  assert.deepEqual(Object.values(ids), Array(PROVIDERS).fill(ROUNDS));
  assert.deepEqual(
    [columns['time'], columns['longitude'], columns['properties']],
    ['timestamp[us, tz=UTC]', 'double', 'string'],
  );
});

test('pyarrow and DuckDB in Berlin find the rows of the last ten minutes', { skip: tool.skip }, async (t) => {
  const hub = await openTestHub({ history: true });
  t.after(hub.close);
  await walk(hub, 20);
  await hub.hub.history?.files(EVERYTHING);
  const python = join(tool.folder, 'bin/python');
  const env = { ...process.env, TZ: 'Europe/Berlin' };
  const printed = await run(python, [READER_IN_BERLIN, join(hub.folder, 'history')], { cwd: hub.folder, env });
  assert.deepEqual(JSON.parse(printed), {
    locations: { pyarrow: 60, duckdb: 60 },
    motions: { pyarrow: 40, duckdb: 40 },
    fence_events: { pyarrow: 100, duckdb: 100 },
  });
});
