import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { shareOut } from './shares.ts';
import { temporaryFolder } from './support/temporary_folder.ts';
import { ROOT } from './tidy/source_file.ts';

const FILES = {
  'hooks.mjs': `import { after, beforeEach, test } from 'node:test';
await new Promise((resolve) => setTimeout(resolve, 20));
beforeEach(() => console.log('before each'));
after(() => console.log('after hooks.mjs'));
test('one', () => {});
test('two', () => {});`,
  'plain.mjs': `import { test } from 'node:test';
test('three', () => console.log('three'));`,
  'hangs.mjs': `import { test } from 'node:test';
test('four', () => new Promise((resolve) => setTimeout(resolve, 60_000)));`,
};

test('Files that share a process keep their hooks, and fail alone if they cannot be imported or take too long', (t) => {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, name), text);
  const names = ['hooks.mjs', 'missing.mjs', 'hangs.mjs', 'plain.mjs'];
  const files = names.map((name) => relative(ROOT, join(folder, name)));
  const alone = new Set(files.slice(-1));
  const { paths, remove } = shareOut(files, { count: 1, alone, common: [], timeoutMs: 500 });
  assert.equal(paths.length, 2);
  t.after(remove);
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const args = ['--test', '--test-concurrency=1', '--test-force-exit', '--test-reporter=tap', ...paths];
  const { stdout } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
  const results = stdout.match(/^(ok|not ok) \d+ - .+$/gm)?.map((line) => line.replaceAll(/ \d+ - (.*\/)?/g, ' '));
  assert.deepEqual(results, [
    'ok The files of a share are loaded',
    'ok hooks.mjs',
    'not ok missing.mjs',
    'not ok hangs.mjs',
    'ok The files of a share are loaded',
    'ok plain.mjs',
  ]);
  assert.deepEqual(stdout.match(/^# (before each|after hooks.mjs|three)$/gm), [
    '# before each',
    '# before each',
    '# after hooks.mjs',
    '# three',
  ]);
});
