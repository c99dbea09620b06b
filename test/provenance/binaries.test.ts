import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { locationOf } from '../durability/hub_process.ts';
import { openTestHub } from '../support/running_hub.ts';
import { fromRoot, nativeFiles, recorded, sha256 } from './binaries.ts';

const KNOWN = recorded();

test('Every native file of the installed packages is recorded', () => {
  const files = nativeFiles();
  assert.ok(files.length > 10, `only ${files.length} files were found`);
  for (const path of files) assert.equal(sha256(path), KNOWN.get(path), path);
});

test('Every recorded file is installed, except those of other platforms', () => {
  const ofPlatform = /msgpackr-extract-|node-linux-|uws-pack\/dist\/bin\/uws_/;
  const missing = [...KNOWN.keys()].filter((path) => !existsSync(new URL(`../../${path}`, import.meta.url)));
  assert.deepEqual(
    missing.filter((path) => !ofPlatform.test(path)),
    [],
  );
});

test('A running hub has loaded only this native code', async (t) => {
  const hub = await openTestHub();
  t.after(hub.close);
  assert.equal((await hub.put('/providers/tag/location', locationOf('tag', 1))).status, 204);
  await hub.settle();
  const { sharedObjects } = process.report.getReport() as unknown as { readonly sharedObjects: readonly string[] };
  const loaded = sharedObjects.filter((path) => path.endsWith('.node')).map(fromRoot);
  assert.ok(loaded.some((path) => path.includes('better-sqlite3')) && loaded.some((path) => path.includes('uws-pack')));
  // msgpackr has separate packages for other platforms.
  const isHere = process.platform === 'linux' && process.arch === 'x64';
  for (const path of loaded) if (isHere || !path.includes('msgpackr')) assert.ok(KNOWN.has(path), path);
});
