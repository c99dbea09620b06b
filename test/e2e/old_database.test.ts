import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { row } from '../store/rows.ts';
import { makeVersion1 } from '../store/version_1.ts';
import { HALL } from '../support/hall.ts';
import { whileHubRuns } from '../support/running_hub.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';

const TAG = { id: 'tag-4', type: 'uwb' } as const;

test('A hub that finds the config.dat of an older version imports it into data.dat, and retains copies', async () => {
  const folder = temporaryFolder();
  const entities = [
    { kind: 'zone', id: HALL.id, text: JSON.stringify(HALL) },
    { kind: 'provider', id: TAG.id, text: JSON.stringify(TAG) },
  ] as const;
  const old = row(4, { id: TAG.id });
  assert.ok(old.gone !== true);
  makeVersion1(join(folder, 'config.dat'), { entities, rows: [old] });
  const files: string[][] = [];
  for (const _ of [1, 2]) {
    await whileHubRuns(folder, {}, async (hub) => {
      assert.deepEqual((await hub.get('/zones/summary')).body, [HALL]);
      assert.deepEqual((await hub.get('/providers/summary')).body, [TAG]);
      const { position, timestamp_generated: time } = (await hub.get(`/providers/${TAG.id}/location`)).body;
      const sent = JSON.parse(old.location);
      assert.deepEqual([position, time], [sent.position, sent.timestamp_generated]);
    });
    files.push(readdirSync(folder).sort());
  }
  const [first = [], second] = files;
  assert.deepEqual(second, first, 'the second start changes nothing');
  const backups = first.filter((name) => name.endsWith('.bak'));
  const versions = backups.map((name) => {
    const copy = new Database(join(folder, name), { readonly: true });
    const kept = copy.prepare("SELECT text FROM entity WHERE kind = 'zone'").pluck().get();
    const version = copy.pragma('user_version', { simple: true });
    copy.close();
    assert.equal(kept, JSON.stringify(HALL), name);
    return [name.replace(/\.\d{8}T\d{6}Z\.bak$/, ''), version];
  });
  assert.deepEqual(versions[0], ['config.dat', 1]);
  // One for each migration step of the file.
  const steps = versions.slice(1);
  assert.ok(steps.length > 0);
  assert.deepEqual(
    steps,
    steps.map((_, index) => [`data.dat.v${index + 1}`, index + 1]),
  );
  assert.ok(first.includes('data.dat') && !first.includes('config.dat'), first.join(' '));
});
