import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundleFolder, bundleOf, ensureBundled, entriesIn } from '../../src/bundle.mjs';
import { temporaryFolder } from '../support/temporary_folder.ts';

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

  test('contain the OPC UA server only if its packages are installed, without which opcua_port stops the start', () => {
    const root = temporaryFolder();
    for (const path of ['src', 'workers', 'wasm', 'package.json', 'package-lock.json', 'tsconfig.json']) {
      cpSync(join(ROOT, path), join(root, path), { recursive: true });
    }
    mkdirSync(join(root, 'node_modules'));
    for (const name of readdirSync(join(ROOT, 'node_modules'))) {
      if (name.startsWith('node-opcua-')) continue;
      symlinkSync(join(ROOT, 'node_modules', name), join(root, 'node_modules', name));
    }
    const env = { ...process.env, NODE_OPTIONS: '', HUB_PORT: '0', HUB_OPCUA_PORT: '4840' };
    const run = (...args: readonly string[]) =>
      spawnSync(process.execPath, args, { cwd: root, env, encoding: 'utf8', timeout: 300_000 });
    const message = /opcua_port: needs packages that npm start does not install; run "npm ci"/;

    const bundled = run('src/bundle.mjs');
    assert.equal(bundled.status, 0, bundled.stderr);
    assert.deepEqual(
      [existsSync(bundleOf('workers/opcua.ts')), existsSync(bundleOf('workers/opcua.ts', root))],
      [true, false],
    );
    const { status, stderr } = run('.hub/main.js');
    assert.match(stderr, message);
    assert.equal(status, 1);
  });

  test('have the nodes of the standard, which the OPC UA server reads', () => {
    const file = 'node_modules/node-opcua-nodesets/nodesets/Opc.Ua.NodeSet2.ndjson.gz';
    assert.ok(existsSync(join(bundleFolder(), file)));
  });
});
