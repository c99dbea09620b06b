import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Fence } from '../../src/model/fence.ts';
import type { Location } from '../../src/model/location.ts';
import { installed, runInstall } from '../clients/generators/tools.ts';
import { fence, locationAt, ShardHarness, T0 } from '../support/shard_harness.ts';

const DATA = new URL('../../../shared/data/opensky-germany/', import.meta.url);
const ORACLE = fileURLToPath(new URL('crossing_oracle.py', import.meta.url));
const PIP = ['install', '--quiet', '--disable-pip-version-check', '--retries', '1', '--timeout', '20'];
const GAP_MS = 120_000;
/** Times of the hub are whole milliseconds, and exact to half of one. */
const TOLERANCE_MS = 2;

const python =
  spawnSync('python3', ['--version']).status === 0
    ? await installed('shapely-2.1.2', async (folder) => {
        await runInstall('python3', ['-m', 'venv', folder], { cwd: folder });
        await runInstall(join(folder, 'bin/python'), ['-m', 'pip', ...PIP, 'shapely==2.1.2'], { cwd: folder });
      })
    : { folder: '', skip: 'python3 is not installed' };
const skip = existsSync(DATA) ? python.skip : 'the data of OpenSky is not there';

/** Events of an object in a fence: whether it entered, and when. */
type Events = [isEntry: boolean, atMs: number][];

test('Real flights cross fences between their locations as computed with shapely', { skip }, async () => {
  const fences = JSON.parse(readFileSync(new URL('fences.json', DATA), 'utf8')) as Fence[];
  const lines = readFileSync(new URL('locations.ndjson', DATA), 'utf8').trimEnd().split('\n');
  const locations = lines.map((line) => JSON.parse(line) as Location);
  const oracle = spawnSync(join(python.folder, 'bin/python'), [ORACLE], {
    input: JSON.stringify({
      fences,
      gapMs: GAP_MS,
      locations: locations.map(({ provider_id: id, timestamp_generated: time, position }) => {
        return [id, Date.parse(time ?? ''), ...position.coordinates.slice(0, 2)];
      }),
    }),
    maxBuffer: 1 << 28,
    encoding: 'utf8',
  });
  assert.equal(oracle.status, 0, oracle.stderr);
  const expected = new Map(Object.entries(JSON.parse(oracle.stdout) as Record<string, Events>));

  const harness = await ShardHarness.open({ crossing: { byDefault: 'segment', maxGapMs: GAP_MS } });
  harness.tell(0, ...fences.map(fence));
  const found = new Map<string, Events>();
  let crossed = 0;
  for (const location of locations) {
    const { provider_id: id, timestamp_generated: time, position } = location;
    const second = (Date.parse(String(time)) - T0) / 1000;
    const [lon = 0, lat = 0] = position.coordinates;
    harness.tell(second, locationAt(second, lon, lat, { provider_id: String(id), source: String(id) }));
  }
  for (const event of harness.takeFenceEvents()) {
    const key = `${event.fence_id} ${event.provider_id}`;
    const isEntry = event.event_type === 'region_entry';
    const list = found.get(key) ?? [];
    list.push([isEntry, Date.parse(String(isEntry ? event.entry_time : event.exit_time))]);
    found.set(key, list);
    if (event.properties?.['hub.crossed'] === true) crossed++;
  }
  assert.ok(crossed > 500, `only ${crossed} events between locations`);
  const differences: string[] = [];
  for (const key of new Set([...expected.keys(), ...found.keys()])) {
    const [theirs, ours] = [longer(expected.get(key)), longer(found.get(key))];
    const isSame =
      theirs.length === ours.length &&
      theirs.every(
        ([isEntry, atMs], i) => isEntry === ours[i]?.[0] && Math.abs(atMs - (ours[i]?.[1] ?? 0)) <= TOLERANCE_MS,
      );
    if (!isSame) differences.push(`${key}: ${JSON.stringify(theirs)} ${JSON.stringify(ours)}`);
  }
  assert.deepEqual(differences, []);
});

/** Returns the events without visits, and breaks of visits, that are too short for the hub. */
function longer(events: Events = []): Events {
  const left: Events = [];
  for (const event of events) {
    const before = left.at(-1);
    if (before !== undefined && event[1] - before[1] <= TOLERANCE_MS) left.pop();
    else left.push(event);
  }
  return left;
}
