import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { ROOT } from '../documents/documents.ts';
import { readSourceFiles } from '../tidy/source_file.ts';

interface Package {
  readonly version: string;
  readonly license: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const packageAt = (path: string) => JSON.parse(readFileSync(`${ROOT}${path}package.json`, 'utf8')) as Package;
const hub = packageAt('');

test('The TypeScript SDK has the version and license of the hub, and versions of packages that are installed here', () => {
  const sdk = packageAt('sdk/typescript/');
  assert.deepEqual([sdk.version, sdk.license], [hub.version, hub.license]);
  for (const [name, version] of Object.entries({ ...sdk.dependencies, ...sdk.devDependencies })) {
    assert.equal(hub.devDependencies[name], version, name);
  }
  assert.equal(readFileSync(`${ROOT}sdk/typescript/LICENSE`, 'utf8'), readFileSync(`${ROOT}LICENSE`, 'utf8'));
});

test('The nodes for Node-RED have the version and license of the hub, and depend on the TypeScript SDK of that version', () => {
  const nodes = packageAt('sdk/node-red/');
  assert.deepEqual([nodes.version, nodes.license], [hub.version, hub.license]);
  assert.deepEqual(nodes.dependencies, { 'omlox-location-hub-client': hub.version });
  assert.equal(nodes.devDependencies['typescript'], hub.devDependencies['typescript']);
  assert.equal(readFileSync(`${ROOT}sdk/node-red/LICENSE`, 'utf8'), readFileSync(`${ROOT}LICENSE`, 'utf8'));
});

test('The Python SDK has the version and license of the hub', () => {
  const project = readFileSync(`${ROOT}sdk/python/pyproject.toml`, 'utf8');
  const memberOf = (name: string) => new RegExp(`^${name} = "(.+)"$`, 'm').exec(project)?.[1];
  assert.deepEqual([memberOf('version'), memberOf('license')], [hub.version, hub.license]);
  assert.equal(readFileSync(`${ROOT}sdk/python/LICENSE`, 'utf8'), readFileSync(`${ROOT}LICENSE`, 'utf8'));
});

test('An SDK imports nothing of the hub', () => {
  const files = readSourceFiles().filter(({ path }) => path.startsWith('sdk/'));
  assert.ok(files.length > 5);
  const foreign = files.flatMap(({ path, imports }) =>
    imports.filter(({ ours }) => ours !== undefined && !ours.startsWith('sdk/')).map(({ ours }) => `${path}: ${ours}`),
  );
  assert.deepEqual(foreign, []);
});
