import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../support/temporary_folder.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const VERSION = '97.1.0';
const AUTHOR = {
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example',
};

/** A copy of the repository, with a history of one commit. */
const folder = temporaryFolder();
const copy = join(folder, 'copy');
const out = join(folder, 'out');

const env = { ...process.env, ...AUTHOR };
const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: copy, env, encoding: 'utf8' });
const release = (...args: readonly string[]) =>
  spawnSync(process.execPath, ['deploy/packages/release_command.ts', ...args], { cwd: copy, env, encoding: 'utf8' });

before(() => {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: ROOT });
  for (const path of listed.toString().split('\0').filter(Boolean)) {
    if (existsSync(join(ROOT, path))) cpSync(join(ROOT, path), join(copy, path));
  }
  // npm lists the packages of a folder, not of a link.
  const link = spawnSync('cp', ['-al', join(ROOT, 'node_modules'), copy]);
  if (link.status !== 0) execFileSync('cp', ['-a', join(ROOT, 'node_modules'), copy]);
  git('init', '--quiet');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'Begin');
});

test('A dry run prints the changes, and changes nothing', () => {
  const { status, stdout, stderr } = release(VERSION, '--dry-run');
  assert.equal(status, 0, stderr);
  assert.match(stdout, /^\+ {3}"version": "97\.1\.0",$/m);
  assert.match(stdout, /^\+ ## \[97\.1\.0\] - \d{4}-\d\d-\d\d$/m);
  assert.equal(git('status', '--porcelain'), '');
});

test('A release is rejected while there are uncommitted changes, or files in its folder', () => {
  writeFileSync(join(copy, 'NOTICE'), 'changed');
  assert.match(release(VERSION).stderr, /Cannot release: there are uncommitted changes:\n.*NOTICE/);
  git('checkout', '--quiet', 'NOTICE');
  assert.match(release(VERSION, '--out', copy).stderr, /must be empty, found /);
  assert.match(release().stderr, /Cannot release: usage: npm run release -- VERSION, found 0 versions/);
});

test('A release is a commit with a tag, packages, a bill of materials and checksums; it can be built again', () => {
  const failed = release(VERSION, '--out', out, '--kind', 'npm', '--kind', 'nothing');
  assert.equal(failed.status, 1);
  assert.match(failed.stderr, /the kind must be one of .*, found "nothing"/);
  const { status, stderr } = release(VERSION, '--out', out, '--kind', 'npm');
  assert.equal(status, 0, stderr);

  assert.equal(git('log', '--format=%s'), `Release ${VERSION}\nBegin\n`);
  assert.equal(git('rev-parse', `v${VERSION}^{commit}`), git('rev-parse', 'HEAD'));
  assert.equal(git('status', '--porcelain'), '');
  const names = readdirSync(out).toSorted();
  const [bill, tarball] = [`location-hub-${VERSION}.cdx.json`, `location-hub-${VERSION}.tgz`];
  assert.deepEqual(names, ['RELEASE.md', 'SHA256SUMS', bill, tarball].toSorted());
  const { metadata } = JSON.parse(readFileSync(join(out, bill), 'utf8')) as {
    readonly metadata: { readonly component: { readonly version: string } };
  };
  assert.equal(metadata.component.version, VERSION);
  const sums = execFileSync('sha256sum', ['--check', 'SHA256SUMS'], { cwd: out, encoding: 'utf8' });
  assert.equal(sums.trim().split('\n').length, names.length - 1);
  const bundles = ['--wildcards', 'package/.hub/*.js'];
  const packed = execFileSync('tar', ['-xOf', join(out, tarball), ...bundles], { maxBuffer: 64 << 20 });
  assert.ok(packed.includes(VERSION));
});
