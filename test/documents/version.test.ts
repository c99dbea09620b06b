import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { VERSION_INFO } from '../../src/hub/version_info.ts';
import { readSourceFiles } from '../tidy/source_file.ts';
import { ROOT } from './documents.ts';

const { version } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as { version: string };
/** Releases of CHANGELOG.md, the latest first. */
const RELEASES = [...readFileSync(`${ROOT}CHANGELOG.md`, 'utf8').matchAll(/^## \[?(\d+\.\d+\.\d+)\]? - (.*)$/gm)];

test('The version is only in package.json: the hub reads it there, and no source repeats it', () => {
  assert.equal(VERSION_INFO.hub_version, version);
  const quoted = [`'${version}'`, `"${version}"`, `\`${version}\``];
  const repeating = readSourceFiles().filter(
    ({ path, text }) => !path.startsWith('test/') && quoted.some((form) => text.includes(form)),
  );
  assert.deepEqual(
    repeating.map(({ path }) => path),
    [],
  );
});

test('package-lock.json has the same version', () => {
  const lock = JSON.parse(readFileSync(`${ROOT}package-lock.json`, 'utf8')) as {
    readonly version: string;
    readonly packages: Readonly<Record<string, { readonly version?: string }>>;
  };
  assert.deepEqual([lock.version, lock.packages['']?.version], [version, version]);
});

test('CHANGELOG.md begins with unreleased changes, and its last release is the version', () => {
  const text = readFileSync(`${ROOT}CHANGELOG.md`, 'utf8');
  const [first = ''] = text.match(/^## .*$/m) ?? [];
  assert.equal(first, '## [Unreleased]');
  for (const [heading, , date = ''] of RELEASES) assert.match(date, /^\d{4}-\d\d-\d\d$/, heading);
  const [latest] = RELEASES;
  if (latest !== undefined) assert.equal(latest[1], version);
});

test('CHANGELOG.md has the kinds of changes of Keep a Changelog', () => {
  const kinds = [...readFileSync(`${ROOT}CHANGELOG.md`, 'utf8').matchAll(/^### (.*)$/gm)].map(([, kind = '']) => kind);
  assert.ok(kinds.length > 0);
  for (const kind of kinds)
    assert.ok(['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'].includes(kind));
});
