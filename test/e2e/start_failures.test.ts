import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../support/temporary_folder.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
/** A start takes about a second. A process that still runs after this time does not exit by itself. */
const END_MAX_MS = 120_000;

/** Paths of programs, and options with which Node loads them. */
const PATH_AND_NODE = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => name === 'PATH' || name.startsWith('NODE_')),
);

interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly out: string;
  readonly err: string;
}

/** Runs the hub with only these settings, until it exits or `stopAt` is in its output. */
function start(folder: string, env: Readonly<Record<string, string>> = {}, stopAt?: string): Promise<Ended> {
  const child = spawn(process.execPath, [MAIN], {
    cwd: folder,
    env: { ...PATH_AND_NODE, HUB_PORT: '0', HUB_CONFIG_PATH: folder, ...env },
    timeout: END_MAX_MS,
    killSignal: 'SIGKILL',
  });
  let [out, err] = ['', ''];
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  child.stdout.on('data', (chunk) => {
    out += chunk;
    if (stopAt !== undefined && out.includes(stopAt)) child.kill('SIGTERM');
  });
  return new Promise((resolve) => child.on('close', (code, signal) => resolve({ code, signal, out, err })));
}

let root: string;
let taken: Server;
let takenPort: string;
let folders = 0;

/** Creates a folder with these files. */
function folderWith(files: Readonly<Record<string, string | Uint8Array>> = {}): string {
  const folder = join(root, `hub-${++folders}`);
  mkdirSync(folder);
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return folder;
}

before(async () => {
  root = temporaryFolder();
  taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  takenPort = String((taken.address() as AddressInfo).port);
});
after(() => {
  taken.close();
});

/** Requires tokens of an identity server that does not exist. */
const AUTHORIZED = {
  HUB_REQUIRE_AUTHORIZATION: 'true',
  HUB_OPENID_CONFIG_URL: 'http://127.0.0.1:1/x',
  HUB_OPENID_CLIENT_NAME: 'hub',
};

interface Failure {
  readonly name: string;
  folder(): string;
  readonly env?: () => Readonly<Record<string, string>>;
  /** Strings that each line on standard error must contain. */
  readonly lines: readonly (() => RegExp)[];
}

const FAILURES: readonly Failure[] = [
  {
    name: 'a port that another program has',
    folder: () => folderWith(),
    env: () => ({ HUB_PORT: takenPort }),
    lines: [() => new RegExp(`127\\.0\\.0\\.1.*${takenPort}.*in use`)],
  },
  {
    name: 'a folder that does not exist',
    folder: () => folderWith(),
    env: () => ({ HUB_CONFIG_PATH: join(root, 'nowhere') }),
    lines: [() => /HUB_CONFIG_PATH.*nowhere/],
  },
  {
    name: 'a file that is not a database',
    folder: () => folderWith({ 'data.dat': 'no database at all, but a text that is long enough '.repeat(100) }),
    lines: [() => /data\.dat: .*not a database/],
  },
  {
    name: 'permissions that cannot be read',
    folder() {
      const folder = folderWith();
      mkdirSync(join(folder, 'permissions.yaml'));
      return folder;
    },
    env: () => ({ ...AUTHORIZED }),
    lines: [() => /permissions\.yaml: cannot be read: EISDIR/],
  },
  {
    name: 'a configuration that is no YAML',
    folder: () => folderWith({ 'hub_config.yaml': '{ port: 1\n  cors: [true\n: : "x\n}} - a: b: c\n' }),
    lines: [() => /hub_config\.yaml:\d: cannot be read as YAML: /],
  },
  {
    name: 'permissions that are no YAML',
    folder: () => folderWith({ 'permissions.yaml': 'a:\n  /x: [READ_ANY\nb: : "\n}} - a: b: c\n' }),
    env: () => ({ ...AUTHORIZED }),
    lines: [() => /permissions\.yaml:\d: cannot be read as YAML: /],
  },
  {
    name: 'unknown keys and bad values, all at once',
    folder: () => folderWith({ 'hub_config.yaml': 'port: many\nseverty_level: Info\nseverity_level: Loud\n' }),
    env: () => ({ HUB_PORT: '', HUB_CORS: 'perhaps' }),
    lines: [
      () => /hub_config\.yaml:1: port: .*"many"/,
      () => /hub_config\.yaml:2: severty_level: is no setting of the hub; did you mean "severity_level"\?$/,
      () => /hub_config\.yaml:3: severity_level: .*"Loud"/,
      () => /environment: HUB_CORS: .*"perhaps"/,
    ],
  },
];

describe('the hub ends with code 1 and a plain line on standard error for', { concurrency: 2 }, () => {
  for (const { name, folder, env, lines } of FAILURES) {
    test(name, async () => {
      const path = folder();
      const { code, signal, out, err } = await start(path, env?.());
      assert.deepEqual({ code, signal, out }, { code: 1, signal: null, out: '' }, err);
      assert.ok(err.endsWith('\n'));
      const found = err.slice(0, -1).split('\n');
      assert.equal(found.length, lines.length, err);
      for (const [index, line] of lines.entries()) assert.match(found[index] ?? '', line());
      assert.doesNotMatch(err, /^\s+at |node:internal|Error:/m);
    });
  }
});

describe('the hub', { concurrency: 2 }, () => {
  test('starts with Kubernetes variables and with settings of the reference hub, and warns once of each', async () => {
    const folder = folderWith({ 'hub_config.yaml': 'port: 0\nrecord_path: /tmp\nplayback_speed: 2\n' });
    const env = {
      HUB_PORT: 'tcp://10.0.0.1:8081',
      HUB_PORT_8081_TCP: 'tcp://10.0.0.1:8081',
      HUB_SERVICE_HOST: '10.0.0.1',
      HUB_PERSIST_LOCATIONS: 'True',
    };
    const { code, out, err } = await start(folder, env, 'Press Ctrl-C');
    assert.equal(code, 0, err);
    assert.match(out, /^Location hub is running\n/);
    const lines = err.trimEnd().split('\n');
    assert.deepEqual(
      lines.map((line) => JSON.parse(line)).map(({ level, settings, variables }) => [level, settings ?? variables]),
      [
        [40, ['hub_config.yaml:2: record_path', 'hub_config.yaml:3: playback_speed']],
        [40, ['HUB_PORT=tcp://10.0.0.1:8081', 'HUB_PORT_8081_TCP', 'HUB_SERVICE_HOST']],
      ],
    );
  });

  test('starts with an empty file, prints its address, and exits with code 0 on a signal, repeatedly', async () => {
    const folder = folderWith({ 'hub_config.yaml': '' });
    for (const round of [1, 2]) {
      const { code, out, err } = await start(folder, {}, 'Press Ctrl-C');
      assert.deepEqual({ round, code, err }, { round, code: 0, err: '' });
      assert.match(out, /^Location hub is running\n {2}API {8}http:\/\/127\.0\.0\.1:\d+\/hub\/v2\n/);
    }
  });

  test('does not start on the database of a running hub', async () => {
    const folder = folderWith();
    const inner: { second?: Promise<Ended> } = {};
    const first = spawn(process.execPath, [MAIN], { cwd: folder, env: { HUB_PORT: '0', HUB_CONFIG_PATH: folder } });
    first.stdout.on('data', (chunk) => {
      if (String(chunk).includes('is running')) inner.second ??= start(folder).finally(() => first.kill('SIGTERM'));
    });
    const code = await new Promise((resolve) => first.on('close', resolve));
    const second = await inner.second;
    assert.deepEqual([second?.code, second?.out], [1, '']);
    assert.match(second?.err ?? '', /^Cannot use the database .*data\.dat: another hub is using it\n$/);
    assert.equal(code, 0);
  });
});
