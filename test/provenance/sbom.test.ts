import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { BillOfMaterials, Component } from './bill_of_materials.ts';
import { NODE_FOLDER, recorded } from './binaries.ts';

const ROOT = new URL('../../', import.meta.url);

interface Locked {
  readonly name?: string;
  readonly version?: string;
  readonly integrity?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}
interface Lock {
  readonly packages: Readonly<Record<string, Locked>>;
}
const LOCK = lockIn('');
const NODES = lockIn(NODE_FOLDER);

function lockIn(folder: string): Lock {
  return JSON.parse(readFileSync(new URL(`${folder}package-lock.json`, ROOT), 'utf8'));
}

function written(): string {
  const script = fileURLToPath(new URL('sbom.ts', import.meta.url));
  return execFileSync(process.execPath, [script], { encoding: 'utf8', maxBuffer: 64 << 20 });
}

const text = written();
const bill = JSON.parse(text) as BillOfMaterials;
/** By name and version. */
const components: ReadonlyMap<string, Component> = new Map(bill.components.map((each) => [each['bom-ref'], each]));

test('The bill of materials is reproducible', () => {
  assert.equal(written(), text);
  assert.doesNotMatch(text, /serialNumber|timestamp/);
});

test('The bill of materials has its format, version and subject', () => {
  assert.deepEqual([bill.bomFormat, bill.specVersion, bill.version], ['CycloneDX', '1.5', 1]);
  const { name, type, version, licenses } = bill.metadata.component;
  assert.deepEqual([name, type, version], ['omlox-location-hub', 'application', LOCK.packages['']?.version]);
  assert.deepEqual(licenses, [{ license: { id: 'Apache-2.0' } }]);
});

/** Packages of this repository, which npm links. */
const OF_REPOSITORY: readonly string[] = ['uWebSockets.js', 'hub-ui'];

test('Every component has a name, a version, a purl, a license and the hash that npm has verified', () => {
  assert.ok(components.size > 100 && components.size === bill.components.length, `${components.size} components`);
  const locked = [LOCK, NODES].flatMap(({ packages }) => Object.values(packages));
  const integrities = new Set(locked.map(({ integrity }) => integrity));
  for (const { name, version, purl, licenses = [], hashes = [], type, ...rest } of bill.components) {
    assert.equal(type, 'library', name);
    assert.match(purl ?? '', /^pkg:npm\/(%40[^/@]+\/)?[^/@]+@\d/, name);
    assert.ok(purl?.endsWith(`@${version}`), purl);
    assert.ok(licenses.length > 0, `${name} has no license`);
    assert.ok(['required', 'optional', 'excluded'].includes(rest.scope ?? ''), `${name}: ${rest.scope}`);
    if (OF_REPOSITORY.some((own) => purl?.includes(`/${own}@`))) continue;
    const [sha512] = hashes.filter(({ alg }) => alg === 'SHA-512');
    assert.ok(sha512 !== undefined, `${name} has no hash`);
    assert.ok(integrities.has(`sha512-${Buffer.from(sha512.content, 'hex').toString('base64')}`), name);
  }
});

test('Every installed package, and Node.js for each platform, is in the bill, and nothing else', () => {
  const installed = Object.entries(LOCK.packages).filter(([path]) => existsSync(new URL(`${path}/package.json`, ROOT)));
  const delivered = [...installed, ...Object.entries(NODES.packages)].filter(([path, { version }]) => {
    return path.startsWith('node_modules/') && version;
  });
  const names = delivered.map(
    ([path, { name, version }]) => `${name ?? path.split('node_modules/').at(-1)}@${version}`,
  );
  const listed = [...components.keys()].filter((ref) => !OF_REPOSITORY.some((name) => ref.startsWith(`${name}@`)));
  assert.deepEqual(listed, [...new Set(names)].sort());
});

test('The graph connects only components, and includes all dependencies of the hub', () => {
  const known = new Set([...components.keys(), bill.metadata.component['bom-ref']]);
  for (const { ref, dependsOn } of bill.dependencies) {
    for (const each of [ref, ...dependsOn]) assert.ok(known.has(each), each);
  }
  const root = bill.dependencies.find(({ ref }) => ref === bill.metadata.component['bom-ref']);
  const asked = Object.keys(LOCK.packages['']?.dependencies ?? {});
  for (const name of asked)
    assert.ok(
      root?.dependsOn.some((ref) => ref.startsWith(`${name}@`)),
      name,
    );
});

test('Packages of the OPC UA server, and those they need, are delivered with the hub', () => {
  const ofTests = bill.components.filter(({ properties = [] }) =>
    properties.some(({ name }) => name === 'cdx:npm:package:development'),
  );
  const names = ofTests.map(({ name }) => name);
  assert.ok(names.includes('knip'));
  for (const name of ['node-opcua-server', 'node-opcua-transport', 'sterfive-bonjour-service']) {
    assert.ok(
      [...components.keys()].some((ref) => ref.startsWith(`${name}@`)),
      name,
    );
    assert.ok(!names.includes(name), name);
  }
});

test('Every recorded native file of an installed package is in the bill with its SHA-256', () => {
  const files = bill.components.flatMap(({ name, components: own = [] }) => {
    return own.map((file) => [`node_modules/${name}/${file.name}`, file.hashes?.[0]?.content] as const);
  });
  const wanted = [...recorded()]
    .map(([path, hash]) => [path.replace(NODE_FOLDER, ''), hash] as const)
    .filter(([path]) => bill.components.some(({ name }) => path.startsWith(`node_modules/${name}/`)));
  assert.ok(files.length > 10, `${files.length} files`);
  assert.deepEqual([...files].sort(), wanted.sort());
});
