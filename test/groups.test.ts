import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ALONE, GROUPS, groupOf, LONG, SLOW, SOAK, testsIn } from './groups.ts';
import { FOLDERS, readSourceFiles, sourceFile } from './tidy/source_file.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const FILES = readSourceFiles();
const REPLACES_GLOBAL = /\bObject\.defineProperty\(globalThis/;
const { scripts } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as { scripts: Record<string, string> };

test('Every test file is in exactly one group', () => {
  const there = globSync('{test,sdk/*/test}/**/*.test.ts', { cwd: ROOT }).map((path) => path.replaceAll('\\', '/'));
  assert.ok(there.length > 300, `found only ${there.length} files`);
  const grouped = GROUPS.flatMap((group) => testsIn(FILES, group));
  assert.deepEqual(grouped.toSorted(), there.toSorted());
});

test('The groups slow and soak have exactly the files of SLOW and SOAK', () => {
  assert.deepEqual(testsIn(FILES, 'slow'), Object.keys(SLOW).toSorted());
  assert.deepEqual(testsIn(FILES, 'soak'), Object.keys(SOAK).toSorted());
});

test('Each group has a script that runs it, and files', () => {
  for (const group of GROUPS) {
    assert.equal(scripts[`test:${group}`], `node src/launch.mjs test/run_command.ts ${group}`);
    assert.ok(testsIn(FILES, group).length > 5, group);
  }
});

test('Test files that replace a global run alone', () => {
  const replacing = new Set(FILES.filter(({ code }) => REPLACES_GLOBAL.test(code)).map(({ path }) => path));
  const found = FILES.filter(({ path, imports }) => {
    return path.endsWith('.test.ts') && (replacing.has(path) || imports.some(({ ours = '' }) => replacing.has(ours)));
  });
  assert.deepEqual(
    found.map(({ path }) => path),
    [...ALONE],
  );
});

test('LONG names only test files that would be unit tests without it', () => {
  const all = new Map(FILES.map((file) => [file.path, file]));
  for (const path of Object.keys(LONG)) {
    const file = all.get(path);
    assert.ok(file, `there is no ${path}`);
    const elsewhere = { ...file, path: 'test/core/elsewhere.test.ts' };
    assert.equal(groupOf(elsewhere, all), 'unit', `${path} is a system test without being named`);
  }
});

test('A whole run caches the stripped TypeScript of every folder', () => {
  const text = readFileSync(`${ROOT}test/stripped.mjs`, 'utf8');
  const [, kept = ''] = /^const SOURCES = \[(.+)\];$/m.exec(text) ?? [];
  const folders = kept.split(', ').map((quoted) => quoted.replaceAll("'", ''));
  assert.deepEqual(folders, FOLDERS.toSorted(), 'a file of another folder makes each process load the stripper');
});

test('A whole run bundles every entry of typebox that is imported', () => {
  const text = readFileSync(`${ROOT}test/stripped.mjs`, 'utf8');
  const [, joined = ''] = /^const JOINED = .+ entries: \[(.+)\]/m.exec(text) ?? [];
  const imported = FILES.flatMap(({ imports }) => imports.map(({ module = '' }) => module));
  const names = new Set(imported.filter((name) => /^typebox\b/.test(name)));
  assert.deepEqual([...names].toSorted(), joined.replaceAll("'", '').split(', '));
});

const rows: [name: string, expected: string, path: string, text: string][] = [
  ['a file that imports only pure code', 'unit', 'test/core/a.test.ts', "import '../../src/core/heap.ts';\n"],
  ['a file that starts a hub', 'system', 'test/core/a.test.ts', "import '../support/running_hub.ts';\n"],
  ['a file that starts a process', 'system', 'test/core/a.test.ts', "import { spawn } from 'node:child_process';\n"],
  ['a file that starts shards in threads', 'system', 'test/core/a.test.ts', "import '../threads/running_shards.ts';\n"],
  [
    'a file that opens a browser',
    'ui',
    'test/hardening/a.test.ts',
    "import { openPage } from '../support/browser.ts';\n",
  ],
  ['a file that tests the page', 'ui', 'test/hub-ui/a.test.ts', "import '../../src/hub-ui/map/plan.ts';\n"],
];

for (const [name, expected, path, text] of rows) {
  test(`groupOf puts ${name} into ${expected}`, () => {
    assert.equal(groupOf(sourceFile(path, text), new Map(FILES.map((file) => [file.path, file]))), expected);
  });
}
