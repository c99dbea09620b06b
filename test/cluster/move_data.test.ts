import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runCliIn } from '../cli/run_cli.ts';
import { HubProcess } from '../durability/hub_process.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { testNats } from './test_nats.ts';

const nats = await testNats();
const { skip } = nats;
const uuid = (number: number) => `6f1f4d3e-6a53-4a3e-9a43-${String(number).padStart(12, '0')}`;
const DOCUMENT = {
  format: 'location-hub-entities',
  version: 1,
  // Longer than a record of the configuration log together, so they come in several.
  trackables: Array.from({ length: 50 }, (_, index) => {
    return { id: uuid(index), type: 'omlox', properties: { text: 'x'.repeat(100_000) } };
  }),
  zones: [{ id: uuid(101), type: 'rfid', position: { type: 'Point', coordinates: [9, 50] }, radius: 5 }],
  fences: [{ id: uuid(102), region: { type: 'Point', coordinates: [9, 50] }, radius: 3 }],
  locating_rules: [{ expression: 'accuracy < 5', priority: 3 }],
};

function written(folder: string, document: unknown): string {
  const path = join(folder, 'in.json');
  writeFileSync(path, JSON.stringify(document));
  return path;
}

function exportedIn(path: string): object {
  const { exported_at: _when, ...lists } = JSON.parse(readFileSync(path, 'utf8'));
  return lists;
}

/** A folder with the configuration of a hub in the cluster. */
function memberFolder(): string {
  const folder = temporaryFolder();
  const servers = nats.servers.addresses.join(', ');
  writeFileSync(join(folder, 'hub_config.yaml'), `cluster_servers: [${servers}]\ncluster_replicas: 1\n`);
  return folder;
}

test('The export of one hub is imported into a cluster, with and without running hubs, and exported from there', {
  skip,
}, async () => {
  const alone = temporaryFolder();
  await runCliIn(alone, 'import', written(alone, DOCUMENT));
  const moved = join(alone, 'moved.json');
  assert.equal((await runCliIn(alone, 'export', moved)).code, 0);

  const folder = memberFolder();
  const imported = await runCliIn(folder, 'import', moved);
  assert.match(imported.out, /^Imported \S+ into the cluster in \S+ s: 52 created, 0 changed/, imported.err);
  const hub = await HubProcess.start(folder);
  assert.deepEqual((await hub.get(`/fences/${uuid(102)}`))?.body, DOCUMENT.fences[0]);
  assert.deepEqual((await hub.get('/trackables/rules/locating'))?.body, DOCUMENT.locating_rules);

  const out = join(folder, 'out.json');
  assert.equal((await runCliIn(folder, 'export', out)).code, 0);
  assert.deepEqual(exportedIn(out), exportedIn(moved));

  const [fence] = DOCUMENT.fences;
  const changed = { ...DOCUMENT, trackables: [], zones: [], fences: [{ ...fence, name: 'changed' }] };
  const second = await runCliIn(folder, 'import', '--replace', written(folder, changed));
  assert.match(second.out, /: 0 created, 1 changed, 0 unchanged, 51 deleted\n$/, second.err);
  assert.equal((await hub.post('/zones', { ...DOCUMENT.zones[0], id: uuid(103) }))?.status, 201);
  assert.equal((await hub.get(`/fences/${uuid(102)}`))?.body.name, 'changed');
  assert.deepEqual((await hub.get('/trackables/summary'))?.body, []);
  await hub.crash();
});

test('Commands for data.dat report that a cluster stores its data elsewhere', { skip }, async () => {
  const { code, err } = await runCliIn(memberFolder(), 'backup', join(temporaryFolder(), 'b.dat'));
  assert.equal(code, 1);
  assert.match(err, /^Cannot use \S+data\.dat: the hub stores its data in another database \(cluster_servers\)\n$/);
});
