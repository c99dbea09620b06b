import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { StartupError } from '../../src/errors.ts';
import { checkScratch } from '../../src/store/database_path.ts';
import { HubProcess } from '../durability/hub_process.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';

const CHILD = new URL('./scratch_child.ts', import.meta.url).pathname;

test('SQLite keeps its temporary files in the folder that SQLITE_TMPDIR names', (context) => {
  if (process.platform !== 'linux') {
    context.skip('only Linux lists them');
    return;
  }
  const folder = temporaryFolder();
  const { stdout, stderr } = spawnSync(process.execPath, [CHILD], {
    env: { ...process.env, SQLITE_TMPDIR: folder },
    encoding: 'utf8',
  });
  assert.ok(
    stdout.split('\n').some((link) => link.startsWith(folder)),
    stdout + stderr,
  );
});

test('A hub whose SQLITE_TMPDIR is not a folder does not start, and says so in one line', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'file');
  writeFileSync(file, '');
  for (const named of [join(folder, 'none'), file]) {
    const before = process.env['SQLITE_TMPDIR'];
    process.env['SQLITE_TMPDIR'] = named;
    const ended = new HubProcess(folder).ended;
    if (before === undefined) delete process.env['SQLITE_TMPDIR'];
    else process.env['SQLITE_TMPDIR'] = before;
    const { code, stderr } = await ended;
    const path = join(folder, 'data.dat');
    const what = `SQLITE_TMPDIR names ${named}, which is no folder that can be written`;
    assert.deepEqual([code, stderr], [1, `Cannot use the database ${path}: ${what}\n`]);
  }
});

test('checkScratch accepts what SQLite accepts: SQLITE_TMPDIR, TMPDIR, or a folder of the system', () => {
  const folder = temporaryFolder();
  checkScratch('data.dat', {});
  checkScratch('data.dat', { SQLITE_TMPDIR: folder });
  checkScratch('data.dat', { SQLITE_TMPDIR: '', TMPDIR: join(folder, 'none') });
  assert.throws(() => checkScratch('data.dat', { SQLITE_TMPDIR: CHILD }), StartupError);
});
