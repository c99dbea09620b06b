import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { SqliteStore } from '../../src/store/sqlite.ts';
import { HALL, square } from '../support/hall.ts';
import { whileHubRuns } from '../support/running_hub.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { runCliIn } from './run_cli.ts';

const DOCK = square({ id: 'dock', zone_id: 'hall' });

function written(lists: object): string {
  const path = join(temporaryFolder(), 'all.json');
  writeFileSync(path, JSON.stringify({ format: 'location-hub-entities', version: 1, ...lists }));
  return path;
}

/** Stored JSON of the dock. */
function dockIn(folder: string) {
  const store = new SqliteStore(join(folder, 'data.dat'), () => 'new');
  try {
    return JSON.parse(store.load().entities.find(({ kind }) => kind === 'fence')?.text ?? '{}');
  } finally {
    store.close();
  }
}

test('A local fence of a deleted zone is exported and imported with its position', async () => {
  const folder = temporaryFolder();
  const shown = await whileHubRuns(folder, {}, async (hub) => {
    await hub.post('/zones', HALL);
    await hub.post('/fences', DOCK);
    await hub.delete(`/zones/${HALL.id}`);
    return (await hub.get('/fences/dock')).body;
  });
  const path = join(folder, 'out.json');
  assert.equal((await runCliIn(folder, 'export', path)).code, 0);
  const other = temporaryFolder();
  const { out, err } = await runCliIn(other, 'import', path);
  assert.match(out, /: 1 created, 0 changed, 0 unchanged, 0 deleted\n$/, err);
  await whileHubRuns(other, {}, async (hub) => assert.deepEqual((await hub.get('/fences/dock')).body, shown));
  const document = JSON.parse(readFileSync(path, 'utf8'));
  for (const [former, message] of [
    [5, /fences\[0\]\.former_zone: must be an object, found 5\n/],
    [{ id: 'x', type: 'uwb' }, /fences\[0\]\.former_zone: must be a zone with local coordinates, found \{"id":"x"/],
  ] as const) {
    const refused = await runCliIn(
      other,
      'import',
      written({ fences: [{ ...document.fences[0], former_zone: former }] }),
    );
    assert.match(refused.err, message);
  }
});

test('A local fence keeps its position when an import renames its zone', async () => {
  const folder = temporaryFolder();
  await runCliIn(folder, 'import', written({ zones: [HALL], fences: [DOCK] }));
  const { err } = await runCliIn(folder, 'import', written({ zones: [{ ...HALL, foreign_id: 'tower' }] }));
  const { former_zone: former, ...rest } = dockIn(folder);
  assert.deepEqual(rest, DOCK, err);
  assert.deepEqual(former.ground_control_points, HALL.ground_control_points);
});
