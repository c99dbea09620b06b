import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Files, isReleased, RELEASED_FILES, releasedFiles, releaseNotes } from './release.ts';

/**
 * `npm run release -- VERSION [--out FOLDER] [--kind KIND]... [--dry-run]` sets the version, moves the unreleased changes of
 * CHANGELOG.md to it, commits and tags that, and builds the packages from the commit: all kinds of `npm run package`, or the
 * given ones. The folder, dist/VERSION by default, then also has the bill of materials, the release notes and SHA256SUMS.
 * After a failed build, the same command builds again. With `--dry-run` it prints the changes, and changes nothing.
 */
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SUMS = 'SHA256SUMS';
const OUTPUT_MAX = 64 << 20;

const { values, positionals } = attempt(() =>
  parseArgs({
    options: {
      out: { type: 'string' },
      kind: { type: 'string', multiple: true, default: [] },
      'dry-run': { type: 'boolean', default: false },
    },
    allowPositionals: true,
  }),
);
const [version = ''] = positionals;
if (positionals.length !== 1) fail(`usage: npm run release -- VERSION, found ${positionals.length} versions`);
const folder = resolve(values.out ?? `dist/${version}`);

attempt(() => {
  const files = readFiles();
  const released = isReleased(files, version) ? files : releasedFiles(files, version, today());
  if (values['dry-run']) {
    for (const [path, text] of Object.entries(released)) printChanges(path, files[path] ?? '', text);
    console.log(`\nNothing was changed. The packages would be in ${folder}`);
    return;
  }
  const changed = git('status', '--porcelain').trim();
  if (changed !== '') throw new Error(`there are uncommitted changes:\n${changed}`);
  mkdirSync(folder, { recursive: true });
  const [present] = readdirSync(folder);
  if (present !== undefined) throw new Error(`${folder}: must be empty, found ${present}`);
  if (released !== files) commit(released);
  try {
    build(released);
  } catch (error) {
    rmSync(folder, { recursive: true });
    throw error;
  }
  console.log(`Next: test the packages in ${folder}, and push the tag v${version}`);
});

function commit(released: Files): void {
  for (const [path, text] of Object.entries(released)) writeFileSync(join(ROOT, path), text);
  git('commit', '--quiet', '--all', '--message', `Release ${version}`);
  git('tag', '--annotate', `v${version}`, '--message', releaseNotes(released, version));
}

/** Writes the packages and what belongs to them to the folder. */
function build(released: Files): void {
  // The time of the files in packages.
  const env = { ...process.env, SOURCE_DATE_EPOCH: git('log', '-1', '--format=%ct').trim() };
  const run = (script: string, ...args: readonly string[]) =>
    execFileSync(process.execPath, [join(ROOT, script), ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
      maxBuffer: OUTPUT_MAX,
      env,
    });
  process.stdout.write(run('deploy/packages/command.ts', ...values.kind, '--out', folder));
  writeFileSync(join(folder, `location-hub-${version}.cdx.json`), run('test/provenance/sbom.ts'));
  writeFileSync(join(folder, 'RELEASE.md'), releaseNotes(released, version));
  const names = readdirSync(folder).toSorted();
  writeFileSync(join(folder, SUMS), names.map((name) => `${sha256(join(folder, name))}  ${name}\n`).join(''));
}

function readFiles(): Files {
  return Object.fromEntries(RELEASED_FILES.map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]));
}

function sha256(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

/** Prints the lines that are only in one of the texts. */
function printChanges(path: string, before: string, after: string): void {
  if (before === after) return;
  const [old, fresh] = [before.split('\n'), after.split('\n')];
  console.log(path);
  for (const line of old) if (!fresh.includes(line)) console.log(`- ${line}`);
  for (const line of fresh) if (!old.includes(line)) console.log(`+ ${line}`);
}

function today(): string {
  return new Date().toISOString().slice(0, 10);
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}

function attempt<T>(action: () => T): T {
  try {
    return action();
  } catch (error) {
    return fail((error as Error).message);
  }
}

function fail(message: string): never {
  console.error(`Cannot release: ${message}`);
  process.exit(1);
}
