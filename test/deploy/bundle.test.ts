import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundleFolder, bundleOf, ensureBundled, entriesIn } from '../../src/bundle.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

describe('The bundles of the hub', () => {
  before(() => ensureBundled());

  const codes = () =>
    readdirSync(bundleFolder())
      .filter((name) => name.endsWith('.js'))
      .map((name) => [name, readFileSync(join(bundleFolder(), name), 'utf8')] as const);

  test('are one for the hub and one for each worker', () => {
    for (const entry of entriesIn()) assert.ok(existsSync(bundleOf(entry)), entry);
  });

  test('start workers from bundles', () => {
    const started = codes().flatMap(([, code]) => [...code.matchAll(/new URL\("\.\/(\w+)\.js", import\.meta\.url\)/g)]);
    const names = new Set(started.map(([, name]) => `workers/${name}.ts`));
    for (const each of ['shard', 'collision', 'store', 'history', 'history_query', 'mqtt', 'bus', 'shapes'])
      assert.ok(names.has(`workers/${each}.ts`), each);
    for (const name of names) assert.ok(entriesIn().includes(name), name);
  });

  test('find all other files next to their sources', () => {
    const addresses = codes().flatMap(([name, code]) =>
      [...code.matchAll(/new URL\("(\.\.\/[^"]+)", import\.meta\.url\)/g)].map(
        ([, path]) => [name, path as string] as const,
      ),
    );
    assert.ok(addresses.length > 0);
    for (const [name, path] of addresses)
      assert.ok(existsSync(new URL(path, pathToFileURL(join(bundleFolder(), name)))), `${name}: ${path}`);
    for (const [name, code] of codes()) assert.doesNotMatch(code, /\/workers\/\w+\.ts"/, name);
  });

  test('are rebuilt only when the content of a source has changed', async () => {
    const source = join(ROOT, 'src', 'main.ts');
    const built = statSync(bundleFolder()).ino;
    const now = new Date();
    utimesSync(source, now, now);
    await ensureBundled();
    assert.equal(statSync(bundleFolder()).ino, built);
  });
});
