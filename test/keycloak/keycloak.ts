import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../bench/process/free_port.ts';

const VERSION = '26.7.5';
const OUTPUT = join(import.meta.dirname, '../../test-output');
const HOME = join(OUTPUT, `keycloak-${VERSION}`);
const UNPACK = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:unpack';

/** Long enough for a machine on which all other tests run at the same time. */
const DOWNLOAD_MS = 600_000;
const START_MS = 600_000;

/** Reason why Keycloak is unavailable; undefined if it is available. Downloads it once, through Maven. */
export function whyNoKeycloak(): string | undefined {
  if (!runs('java', ['-version'])) return 'there is no Java';
  if (existsSync(join(HOME, 'bin/kc.sh'))) return undefined;
  if (!runs('mvn', ['--version'])) return 'there is no Maven to download it with';
  const unpacked = join(OUTPUT, 'keycloak-unpacked');
  rmSync(unpacked, { recursive: true, force: true });
  mkdirSync(unpacked, { recursive: true });
  const artifact = `-Dartifact=org.keycloak:keycloak-quarkus-dist:${VERSION}:zip`;
  const found = spawnSync('mvn', ['-B', '-q', UNPACK, artifact, `-DoutputDirectory=${unpacked}`], {
    cwd: unpacked,
    timeout: DOWNLOAD_MS,
    encoding: 'utf8',
  });
  const folder = join(unpacked, `keycloak-${VERSION}`);
  if (!existsSync(join(folder, 'bin/kc.sh'))) {
    const [reason = 'it took too long'] = (found.stdout ?? '').split('\n').filter((line) => line.includes('ERROR'));
    return `Maven could not download it: ${reason.slice(0, 300)}`;
  }
  renameSync(folder, HOME);
  rmSync(unpacked, { recursive: true, force: true });
  return undefined;
}

export interface Keycloak {
  /** Address of the realm. */
  readonly issuer: string;
  /** Resolves with its exit code. */
  readonly ended: Promise<unknown>;
  stop(): Promise<void>;
}

/** Starts Keycloak with the realm of this folder on a free port, and waits until it responds. */
export async function startKeycloak(): Promise<Keycloak> {
  rmSync(join(HOME, 'data'), { recursive: true, force: true });
  mkdirSync(join(HOME, 'data/import'), { recursive: true });
  copyFileSync(join(import.meta.dirname, 'realm.json'), join(HOME, 'data/import/realm.json'));
  const port = await freePort();
  const options = ['start-dev', '--import-realm', '--http-host=127.0.0.1', `--http-port=${port}`];
  const child = spawn(join(HOME, 'bin/kc.sh'), options, {
    env: { ...process.env, JAVA_OPTS_KC_HEAP: '-Xms64m -Xmx512m' },
    stdio: ['ignore', 'pipe', 'pipe'],
    // kc.sh may leave Java running when it is killed alone.
    detached: true,
  });
  let printed = '';
  const keep = (text: Buffer): void => {
    printed = (printed + text).slice(-20_000);
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const ended = once(child, 'exit').then(([code]) => code);
  const issuer = `http://127.0.0.1:${port}/realms/hub`;
  try {
    await answering(`${issuer}/.well-known/openid-configuration`, ended);
  } catch (error) {
    end(child);
    throw new Error(`Keycloak did not start: ${error instanceof Error ? error.message : error}\n${printed}`);
  }
  return {
    issuer,
    ended,
    async stop() {
      end(child);
      await ended;
    },
  };
}

async function answering(url: string, ended: Promise<unknown>): Promise<void> {
  const deadline = Date.now() + START_MS;
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  while (Date.now() < deadline && !isOver) {
    const status = await fetch(url).then(
      (response) => response.status,
      () => 0,
    );
    if (status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  throw new Error(isOver ? 'it ended' : `it did not answer within ${START_MS / 1000} s`);
}

/** Kills the process and its descendants. */
function end({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGTERM');
  } catch {
    // It has already exited.
  }
}

function runs(command: string, args: readonly string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore', timeout: 60_000 }).status === 0;
}
