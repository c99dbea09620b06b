import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { BESIDE, GROUPS, groupOf, LONG, testsIn } from './groups.ts';
import { FOLDERS, readSourceFiles, sourceFile } from './tidy/source_file.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const FILES = readSourceFiles();
const { scripts } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as { scripts: Record<string, string> };

test('Every test file is in exactly one group', () => {
  const there = globSync('test/**/*.test.ts', { cwd: ROOT }).map((path) => path.replaceAll('\\', '/'));
  assert.ok(there.length > 300, `found only ${there.length} files`);
  const grouped = GROUPS.flatMap((group) => testsIn(FILES, group));
  assert.deepEqual(grouped.toSorted(), there.toSorted());
});

test('What runs beside the other tests is a slow test', () => {
  const slow = testsIn(FILES, 'slow');
  for (const path of BESIDE) assert.ok(slow.includes(path), path);
});

test('Each group has a script that runs it, and files', () => {
  for (const group of GROUPS) {
    assert.equal(scripts[`test:${group}`], `node src/launch.mjs test/run_command.ts ${group}`);
    assert.ok(testsIn(FILES, group).length > 10, group);
  }
});

test('LONG names test files that would be unit tests without it, and no others', () => {
  const all = new Map(FILES.map((file) => [file.path, file]));
  for (const path of Object.keys(LONG)) {
    const file = all.get(path);
    assert.ok(file, `there is no ${path}`);
    const elsewhere = { ...file, path: 'test/core/elsewhere.test.ts' };
    assert.equal(groupOf(elsewhere, all), 'unit', `${path} is slow without being named`);
  }
});

test('No unit test has hooks for the tests of other files', () => {
  const texts = new Map(FILES.map((file) => [file.path, file.text]));
  const found = testsIn(FILES, 'unit').filter((path) => /^(before|after)Each\(/m.test(texts.get(path) ?? ''));
  assert.deepEqual(found, [], 'unit tests share processes: put hooks into a describe');
});

test('A whole run keeps the TypeScript of every folder without its types', () => {
  const text = readFileSync(`${ROOT}test/stripped.mjs`, 'utf8');
  const [, kept = ''] = /^const SOURCES = \[(.+)\];$/m.exec(text) ?? [];
  const folders = kept.split(', ').map((quoted) => quoted.replaceAll("'", ''));
  assert.deepEqual(folders, FOLDERS.toSorted(), 'one file of another would have each process load what strips it');
});

test('A whole run has one typebox: all that is imported of it is joined', () => {
  const text = readFileSync(`${ROOT}test/stripped.mjs`, 'utf8');
  const [, joined = ''] = /^const JOINED = .+ entries: \[(.+)\]/m.exec(text) ?? [];
  const imported = FILES.flatMap(({ imports }) => imports.map(({ module = '' }) => module));
  const names = new Set(imported.filter((name) => /^typebox\b/.test(name)));
  assert.deepEqual([...names].toSorted(), joined.replaceAll("'", '').split(', '));
});

const rows: [name: string, expected: string, path: string, text: string][] = [
  ['what imports only pure code', 'unit', 'test/core/a.test.ts', "import '../../src/core/heap.ts';\n"],
  ['what starts a hub', 'slow', 'test/core/a.test.ts', "import '../support/running_hub.ts';\n"],
  ['what starts a process', 'slow', 'test/core/a.test.ts', "import { spawn } from 'node:child_process';\n"],
  ['what starts shards in threads', 'slow', 'test/core/a.test.ts', "import '../threads/running_shards.ts';\n"],
  ['what opens a browser', 'ui', 'test/hardening/a.test.ts', "import { openPage } from '../support/browser.ts';\n"],
  ['what tests the page', 'ui', 'test/hub-ui/a.test.ts', "import '../../src/hub-ui/map/plan.ts';\n"],
];

for (const [name, expected, path, text] of rows) {
  test(`groupOf puts ${name} into ${expected}`, () => {
    assert.equal(groupOf(sourceFile(path, text), new Map(FILES.map((file) => [file.path, file]))), expected);
  });
}
