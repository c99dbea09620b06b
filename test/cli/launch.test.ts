import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { on, once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { test } from 'node:test';
import { createTarGzip } from 'nanotar';
import { temporaryFolder } from '../support/temporary_folder.ts';

const LAUNCH = new URL('../../src/launch.mjs', import.meta.url);

// The launcher is plain JavaScript for older versions of Node, so its types are declared here.
const { findNode, isInstalled, markInstalled, removeUnused, stampOf } = (await import(LAUNCH.href)) as {
  findNode(root: string, running: { path: string; version: string }): string | undefined;
  isInstalled(root: string, needed?: 'hub' | 'ui' | 'all'): boolean;
  markInstalled(root: string, needed?: 'hub' | 'ui' | 'all'): void;
  removeUnused(root: string, platform: string): void;
  stampOf(lockText: string, platform: string): string;
};

interface Packages {
  readonly [path: string]: {
    version?: string;
    optional?: boolean;
    dev?: boolean;
    resolved?: string;
    link?: boolean;
    dependencies?: Readonly<Record<string, string>>;
  };
}

function lock(packages: Packages): string {
  const manifest = { name: 'launched', version: '1.0.0' };
  return JSON.stringify({ ...manifest, lockfileVersion: 3, requires: true, packages: { '': manifest, ...packages } });
}

/** A project in a temporary folder, with the launcher. */
function project(packages: Packages = {}): string {
  const root = temporaryFolder();
  mkdirSync(join(root, 'src'));
  copyFileSync(LAUNCH, join(root, 'src', 'launch.mjs'));
  writeFileSync(join(root, 'package.json'), JSON.stringify({ name: 'launched', version: '1.0.0', type: 'module' }));
  writeFileSync(join(root, 'package-lock.json'), lock(packages));
  return root;
}

function record(root: string, packages: Packages): void {
  mkdirSync(join(root, 'node_modules'), { recursive: true });
  writeFileSync(join(root, 'node_modules', '.package-lock.json'), JSON.stringify({ packages }));
}

async function finish(child: ChildProcess): Promise<{ code: number | null; out: string; err: string }> {
  let out = '';
  let err = '';
  child.stdout?.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    err += chunk;
  });
  const [code] = await once(child, 'close');
  return { code, out, err };
}

function launch(root: string, ...args: string[]): ChildProcess {
  return launchWith({}, root, ...args);
}

function launchWith(env: Readonly<Record<string, string>>, root: string, ...args: string[]): ChildProcess {
  return spawn(process.execPath, [join(root, 'src', 'launch.mjs'), ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

const INSTALLING = 'Installing the packages of the hub and of its tests: about 780 MB …';

const A = { version: '1.0.0' };
const agreement: [name: string, wanted: Packages, installed: Packages | undefined, expected: boolean][] = [
  ['misses a folder that is not there', { 'node_modules/a': A }, undefined, false],
  ['accepts what npm has recorded', { 'node_modules/a': A }, { 'node_modules/a': A }, true],
  ['misses a package', { 'node_modules/a': A, 'node_modules/b': A }, { 'node_modules/a': A }, false],
  ['misses a version', { 'node_modules/a': A }, { 'node_modules/a': { version: '0.9.0' } }, false],
  ['forgives a package of another platform', { 'node_modules/a': { ...A, optional: true } }, {}, true],
  ['accepts a linked folder', { 'node_modules/a': { link: true } }, { 'node_modules/a': { link: true } }, true],
];

for (const [name, wanted, installed, expected] of agreement) {
  test(`isInstalled ${name}`, () => {
    const root = project(wanted);
    if (installed !== undefined) record(root, installed);
    assert.equal(isInstalled(root), expected);
  });
}

test('isInstalled trusts its stamp until the lock file changes', () => {
  const root = project({ 'node_modules/a': A });
  markInstalled(root);
  assert.equal(isInstalled(root), true);
  writeFileSync(join(root, 'package-lock.json'), lock({ 'node_modules/a': { version: '2.0.0' } }));
  assert.equal(isInstalled(root), false);
});

test('removeUnused keeps the HTTP servers of this platform', () => {
  const root = project();
  const folder = join(root, 'node_modules', 'uws-pack', 'dist', 'bin');
  mkdirSync(folder, { recursive: true });
  for (const name of ['linux_x64_127', 'linux_arm64_127', 'win32_x64_127']) {
    writeFileSync(join(folder, `uws_${name}.node`), '');
  }
  removeUnused(root, 'linux_x64');
  assert.deepEqual(readdirSync(folder), ['uws_linux_x64_127.node']);
});

test('launch.mjs installs less for the hub, and the rest for its tests', async () => {
  const root = project();
  const script = 'console.log(process.argv.slice(2).join())';
  mkdirSync(join(root, 'test'));
  for (const folder of ['src', 'test']) writeFileSync(join(root, folder, 'script.ts'), script);
  const hub = await finish(launch(root, 'src/script.ts', 'a'));
  const installing = 'Installing the packages of the hub: about 260 MB …';
  assert.deepEqual(hub, { code: 0, out: 'a\n', err: `${installing}\n` });
  assert.deepEqual(await finish(launch(root, 'test/script.ts')), { code: 0, out: '\n', err: `${INSTALLING}\n` });
  for (const folder of ['src', 'test']) {
    assert.deepEqual(await finish(launch(root, `${folder}/script.ts`)), { code: 0, out: '\n', err: '' });
  }
});

test('stampOf distinguishes contents and platforms', () => {
  assert.equal(stampOf('a', 'linux-x64'), stampOf('a', 'linux-x64'));
  assert.notEqual(stampOf('a', 'linux-x64'), stampOf('b', 'linux-x64'));
  assert.notEqual(stampOf('a', 'linux-x64'), stampOf('a', 'linux-arm64'));
});

const nodes: [version: string, fits: boolean][] = [
  ['20.20.2', false],
  ['22.17.9', false],
  ['22.18.0', true],
  ['24.1.0', false],
];

for (const [version, fits] of nodes) {
  test(`findNode ${fits ? 'prefers' : 'rejects'} a running Node ${version}`, () => {
    const root = project();
    const running = { path: '/usr/bin/node', version };
    assert.equal(findNode(root, running), fits ? running.path : undefined);
    const bin = join(root, 'deploy', 'node', 'node_modules', '.bin');
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, 'node'), '');
    assert.equal(findNode(root, running), fits ? running.path : join(bin, 'node'));
  });
}

test('launch.mjs installs once, runs the script with its arguments and propagates its exit code', async () => {
  const root = project();
  writeFileSync(
    join(root, 'script.ts'),
    'const code: number = 3; console.log(process.argv.slice(2)); process.exit(code)',
  );

  const first = await finish(launch(root, 'script.ts', '--speed', 'max now'));
  // A slow install reports its progress.
  const messages = first.err.replaceAll(/^ {2}\d+ of \d+ packages after \d+ s\n/gm, '');
  assert.deepEqual({ ...first, err: messages }, { code: 3, out: "[ '--speed', 'max now' ]\n", err: `${INSTALLING}\n` });
  assert.ok(existsSync(join(root, 'node_modules', '.launch-stamp')));

  const second = await finish(launch(root, 'script.ts'));
  assert.deepEqual(second, { code: 3, out: '[]\n', err: '' });
});

/** A lock file with two packages of the hub, one of its web UI and one of its tests. */
const SCOPED: Packages = {
  '': { ...A, dependencies: { a: '1.0.0' } },
  'node_modules/a': { ...A, dependencies: { b: '1.0.0' } },
  'node_modules/a/node_modules/b': { ...A, dependencies: { a: '1.0.0' } },
  'node_modules/b': A,
  'node_modules/c': { ...A, dev: true },
  'src/hub-ui': { ...A, dependencies: { b: '1.0.0' } },
};

/** Puts an npm that runs shell commands, and appends its arguments to a file, before the real one. */
function fakeNpm(root: string, commands: string): { PATH: string } {
  const bin = join(root, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'npm'), `#!/bin/sh\necho "$@" >> arguments\n${commands}`, { mode: 0o755 });
  return { PATH: `${bin}${delimiter}${process.env['PATH']}` };
}

test('A scope of packages includes those before it', () => {
  const root = project(SCOPED);
  const installed = (): boolean[] => (['hub', 'ui', 'all'] as const).map((scope) => isInstalled(root, scope));
  const [a, b] = [
    { 'node_modules/a': A, 'node_modules/a/node_modules/b': A },
    { 'node_modules/b': A, 'src/hub-ui': A },
  ];
  for (const [packages, expected] of [
    [a, [true, false, false]],
    [{ ...a, ...b }, [true, true, false]],
    [{ ...a, ...b, 'node_modules/c': A }, [true, true, true]],
  ] as const) {
    record(root, packages);
    assert.deepEqual(installed(), expected, 'as npm has recorded');
  }
  for (const [i, scope] of (['hub', 'ui', 'all'] as const).entries()) {
    markInstalled(root, scope);
    assert.deepEqual(installed(), [true, i >= 1, i >= 2], 'by the stamp of the last install');
  }
});

test('npm start in a new folder reports what it installs, and its progress', async () => {
  const root = project(SCOPED);
  writeFileSync(join(root, 'src', 'main.ts'), "console.log('hub')");
  // Installs one package, and exits on a signal of the test, or after 20 s.
  const npm = `mkdir -p node_modules/a && echo '{}' > node_modules/a/package.json
for i in $(seq 200); do [ -e end ] && exit; sleep 0.1; done
`;
  const child = launchWith(fakeNpm(root, npm), root, 'src/main.ts');
  const finished = finish(child);
  const lines = createInterface({ input: child.stderr as Readable })[Symbol.asyncIterator]();
  assert.match((await lines.next()).value, /^Installing the packages of the hub: about \d+ MB …$/);
  assert.match((await lines.next()).value ?? '', /^ {2}1 of 2 packages after \d+ s$/);
  writeFileSync(join(root, 'end'), '');
  const { code, out } = await finished;
  assert.deepEqual([code, out], [0, 'hub\n']);
  assert.match(readFileSync(join(root, 'arguments'), 'utf8'), /^ci --omit=dev --workspaces=false /);
});

test('A first start installs the packages of its web UI while the hub runs', async () => {
  const root = project(SCOPED);
  writeFileSync(join(root, 'src', 'build_ui.mjs'), "console.log('built')");
  // The second install waits for the hub.
  writeFileSync(
    join(root, 'src', 'main.ts'),
    "import { writeFileSync } from 'node:fs'; writeFileSync('running', ''); process.on('SIGTERM', () => process.exit()); setInterval(() => {}, 1000);",
  );
  const npm = `mkdir -p node_modules
case $1 in install) for i in $(seq 200); do [ -e running ] && exit; sleep 0.1; done; exit 1;; esac
`;
  const child = spawn(process.execPath, [join(root, 'src', 'launch.mjs'), 'src/main.ts'], {
    cwd: root,
    env: { ...process.env, ...fakeNpm(root, npm) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const finished = finish(child);
  await Promise.all([said(child.stdout, 'built'), said(child.stderr, 'The web UI is built')]);
  child.kill('SIGTERM');
  const { code, err } = await finished;
  assert.deepEqual([code, err.includes('without')], [0, false]);
  assert.match(readFileSync(join(root, 'arguments'), 'utf8'), /^ci .+\ninstall --no-save --omit=dev --prefer-offline /);
  assert.deepEqual([isInstalled(root, 'ui'), isInstalled(root, 'all')], [true, false]);
});

test('The hub of a first start runs although the packages of its web UI cannot be installed', async () => {
  const root = project(SCOPED);
  const runs = "process.on('SIGTERM', () => process.exit(7)); console.log('ready'); setInterval(() => {}, 1000)";
  writeFileSync(join(root, 'src', 'main.ts'), runs);
  const npm = "mkdir -p node_modules\ncase $1 in install) echo 'no network' >&2; exit 1;; esac\n";
  const child = launchWith(fakeNpm(root, npm), root, 'src/main.ts');
  const finished = finish(child);
  await Promise.all([said(child.stdout, 'ready'), said(child.stderr, 'The hub runs without its web UI')]);
  child.kill('SIGTERM');
  const { code, err } = await finished;
  assert.equal(code, 7);
  assert.match(err, /no network\nCannot install the dependencies: npm install ended with code 1\nThe hub runs without/);
});

for (const [what, command] of [
  ['packages', 'ci'],
  ['packages of its web UI', 'install'],
] as const) {
  test(`A hub that stops ends the install of the ${what}`, async () => {
    const root = project(SCOPED);
    const runs = "process.on('SIGTERM', () => process.exit()); setInterval(() => {}, 1000)";
    writeFileSync(join(root, 'src', 'main.ts'), runs);
    const pipe = join(root, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const npm = `mkdir -p node_modules
case $1 in ${command}) trap 'echo ended > ${pipe}; exit 1' TERM; echo installing > ${pipe}; while sleep 0.1; do :; done;; esac
`;
    // A read of a pipe in this process would keep it from exiting.
    const reader = spawn('sh', ['-c', `exec cat 0<> ${pipe}`], { stdio: ['ignore', 'pipe', 'inherit'] });
    const lines = createInterface({ input: reader.stdout })[Symbol.asyncIterator]();
    const child = launchWith(fakeNpm(root, npm), root, 'src/main.ts');
    assert.equal((await lines.next()).value, 'installing');
    child.kill('SIGTERM');
    assert.equal((await lines.next()).value, 'ended');
    reader.kill();
    assert.equal(isInstalled(root, 'ui'), false);
  });
}

test('Only one process at a time installs packages', async () => {
  const root = project(SCOPED);
  mkdirSync(join(root, 'test'));
  for (const folder of ['src', 'test']) writeFileSync(join(root, folder, 'script.ts'), `console.log('${folder}')`);
  // Of a process that was killed.
  const killed = spawn('true');
  await once(killed, 'exit');
  writeFileSync(join(root, '.install.lock'), String(killed.pid));
  // The first install waits for the second process.
  const npm = `mkdir busy || echo overlap >> arguments
mkdir -p node_modules
for i in $(seq 200); do [ -e waiting ] && break; sleep 0.1; done
rmdir busy
`;
  const environment = fakeNpm(root, npm);
  const ofHub = launchWith(environment, root, 'src/script.ts');
  const ofTests = await (async () => {
    const finished = finish(ofHub);
    await said(ofHub.stderr, 'Installing the packages of the hub: about 260 MB …');
    const child = launchWith(environment, root, 'test/script.ts');
    const second = finish(child);
    await said(
      child.stderr,
      `Waiting for the install of another process, whose id is in ${join(root, '.install.lock')} …`,
    );
    writeFileSync(join(root, 'waiting'), '');
    assert.equal((await finished).out, 'src\n');
    return second;
  })();
  assert.deepEqual([ofTests.code, ofTests.out], [0, 'test\n']);
  assert.match(
    readFileSync(join(root, 'arguments'), 'utf8'),
    /^ci --omit=dev --workspaces=false .+\ninstall --no-save --include=dev .+\n$/,
  );
  assert.equal(existsSync(join(root, '.install.lock')), false);
});

test('launch.mjs reports why an install fails, and does not start', async () => {
  const root = project();
  writeFileSync(join(root, 'script.ts'), 'console.log("started")');
  const manifest = { name: 'launched', version: '1.0.0', dependencies: { missing: '1.0.0' } };
  writeFileSync(join(root, 'package.json'), JSON.stringify(manifest));

  const { code, out, err } = await finish(launch(root, 'script.ts'));
  assert.equal(code, 1);
  assert.equal(out, '');
  assert.match(err, /missing@1\.0\.0/);
  assert.match(err, /Cannot install the dependencies: npm ci ended with code 1\n$/);
});

test('launch.mjs installs a version that is newer than what npm has cached about its package', async () => {
  const versions = new Map<string, { readonly tarball: Uint8Array; readonly integrity: string }>();
  const requests: string[] = [];
  const registry = createServer(({ url = '', headers }, response) => {
    requests.push(url);
    const requested = versions.get(/^\/a\/-\/a-(.+)\.tgz$/.exec(url)?.[1] ?? '');
    response.setHeader('cache-control', `max-age=${requested ? 3600 : 0}`);
    const all = [...versions].map(([version, { integrity }]) => {
      const dist = { tarball: `http://${headers.host}/a/-/a-${version}.tgz`, integrity };
      return [version, { name: 'a', version, dist }];
    });
    response.end(requested?.tarball ?? JSON.stringify({ name: 'a', versions: Object.fromEntries(all) }));
  });
  await once(registry.listen(0, '127.0.0.1'), 'listening');
  const { port } = registry.address() as AddressInfo;
  const environment = { npm_config_registry: `http://127.0.0.1:${port}`, npm_config_cache: temporaryFolder() };

  async function publish(version: string): Promise<void> {
    const manifest = JSON.stringify({ name: 'a', version });
    const tarball = await createTarGzip([{ name: 'package/package.json', data: manifest }]);
    versions.set(version, { tarball, integrity: `sha512-${createHash('sha512').update(tarball).digest('base64')}` });
  }

  /** Runs the launcher of a new project that has the version in its lock file. Returns the installed version. */
  async function installed(version: string): Promise<string> {
    const manifest = { name: 'launched', version: '1.0.0', type: 'module', dependencies: { a: version } };
    const packages = { '': manifest, 'node_modules/a': { version, integrity: versions.get(version)?.integrity } };
    const root = project();
    writeFileSync(join(root, 'package.json'), JSON.stringify(manifest));
    writeFileSync(join(root, 'package-lock.json'), JSON.stringify({ ...manifest, lockfileVersion: 3, packages }));
    writeFileSync(
      join(root, 'script.ts'),
      "import a from './node_modules/a/package.json' with { type: 'json' }; console.log(a.version)",
    );
    const { code, out, err } = await finish(launchWith(environment, root, 'script.ts'));
    assert.equal(code, 0, err);
    return out.trim();
  }

  await publish('1.0.0');
  assert.equal(await installed('1.0.0'), '1.0.0');
  await publish('1.0.1');
  assert.equal(await installed('1.0.1'), '1.0.1');
  requests.length = 0;
  assert.equal(await installed('1.0.1'), '1.0.1');
  assert.deepEqual(requests, [], 'npm requests nothing that it has cached');
  registry.close();
});

test('launch.mjs forwards a signal to the script and waits for its exit', async () => {
  const root = project();
  record(root, {});
  const script = "process.on('SIGTERM', () => process.exit(7)); console.log('ready'); setInterval(() => {}, 1000)";
  writeFileSync(join(root, 'script.ts'), script);

  const child = launch(root, 'script.ts');
  assert.ok(child.stdout);
  await once(child.stdout, 'data');
  child.kill('SIGTERM');
  assert.equal((await finish(child)).code, 7);
});

test('launch.mjs ends the script when npm is stopped, regardless of the shell between them', async () => {
  const root = project();
  record(root, {});
  const manifest = {
    name: 'launched',
    version: '1.0.0',
    type: 'module',
    scripts: { start: 'node src/launch.mjs s.ts' },
  };
  writeFileSync(join(root, 'package.json'), JSON.stringify(manifest));
  writeFileSync(
    join(root, 's.ts'),
    "process.on('SIGTERM', () => { console.log('in order'); process.exit() }); console.log('ready'); setTimeout(() => {}, 20_000)",
  );

  const env = { ...process.env, PATH: dirname(process.execPath) + delimiter + process.env.PATH };
  const npm = spawn('npm', ['start', '--silent'], { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
  assert.ok(npm.stdout);
  await once(npm.stdout, 'data');
  npm.kill('SIGTERM');
  // The output is closed when the script, its last holder, has exited.
  assert.equal((await finish(npm)).out, 'in order\n');
});

test('launch.mjs starts the hub without its page if that cannot be built, and starts no checks', async () => {
  const root = project();
  record(root, {});
  mkdirSync(join(root, '.hub-ui'));
  writeFileSync(join(root, 'src', 'build_ui.mjs'), "console.error('no page'); process.exit(1)");
  writeFileSync(join(root, 'src', 'main.ts'), "console.log('hub')");

  const hub = await finish(launch(root, 'src/main.ts'));
  assert.deepEqual(hub, { code: 0, out: 'hub\n', err: 'no page\nThe hub runs without its web UI\n' });
  const checks = await finish(launch(root, '--run', 'ok'));
  assert.deepEqual(checks, { code: 1, out: '', err: 'no page\n' });
});

test('A first start does not wait for its page, and says when that is built', async () => {
  const root = project();
  record(root, {});
  // Each waits for the other: the build for the start of the hub, and the hub for the page.
  const wait = (file: string): string => `
    import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
    const until = setInterval(() => existsSync('${join(root, file)}') && done(), 5);
    const late = setTimeout(() => process.exit(9), 20_000);
    function done() { clearInterval(until); clearTimeout(late); console.log('found ${file}'); }
  `;
  writeFileSync(
    join(root, 'src', 'build_ui.mjs'),
    `${wait('started')} process.on('exit', () => mkdirSync('${join(root, '.hub-ui')}'));`,
  );
  // The hub runs until its signal: a process that is about to exit by itself has no handler any more.
  writeFileSync(
    join(root, 'src', 'main.ts'),
    `${wait('.hub-ui')} process.on('SIGTERM', () => process.exit()); setInterval(() => {}, 1000);
    writeFileSync('${join(root, 'started')}', '');`,
  );
  const child = launch(root, 'src/main.ts');
  const finished = finish(child);
  await Promise.all([said(child.stdout, 'found .hub-ui'), said(child.stderr, 'The web UI is built')]);
  child.kill('SIGTERM');
  assert.deepEqual(await finished, { code: 0, out: 'found started\nfound .hub-ui\n', err: 'The web UI is built\n' });
});

/** Waits until a process has printed the line. */
async function said(output: Readable | null, line: string): Promise<void> {
  assert.ok(output);
  for await (const printed of on(createInterface({ input: output }), 'line', { close: ['close'] })) {
    if (printed[0] === line) return;
  }
  assert.fail(`The process has not printed "${line}"`);
}

test('launch.mjs starts the hub from its bundle, or else from its sources', async () => {
  const root = project();
  record(root, {});
  mkdirSync(join(root, '.hub'));
  writeFileSync(join(root, '.hub', 'main.js'), "console.log('bundle')");
  writeFileSync(join(root, 'src', 'main.ts'), "console.log('sources')");

  writeFileSync(join(root, 'src', 'bundle.mjs'), '');
  assert.deepEqual(await finish(launch(root, 'src/main.ts')), { code: 0, out: 'bundle\n', err: '' });
  writeFileSync(join(root, 'src', 'bundle.mjs'), "console.error('no bundle'); process.exit(1)");
  assert.deepEqual(await finish(launch(root, 'src/main.ts')), {
    code: 0,
    out: 'sources\n',
    err: 'no bundle\nThe hub starts from its sources, which takes longer\n',
  });
});
