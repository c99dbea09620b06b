import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Fate } from '../load/connection.ts';
import { RespConnection } from '../load/resp_connection.ts';
import { COLLECTION, pipelineOf, respCommand } from '../load/set_commands.ts';
import type { Contender, FenceBody } from './contender.ts';
import { freePort } from './free_port.ts';
import { GO, USUAL_GO } from './go.ts';

/**
 * Tile38, a geofence server in Go, installed with `go install` and started without settings. It writes all commands to
 * its own log, as the hub writes to its database.
 */
const MODULE = 'github.com/tidwall/tile38';
/** Commit of release 1.36.3, whose tag is not a valid Go module version. */
const VERSION = '684ad730d595e35902a6303841e1b6a995732244';
const PROGRAM = 'tile38-server';
/** Persists across runs, so that it is built once. */
const CACHE = join(tmpdir(), 'hub-bench-peers', VERSION);
/** Environment variable with the path of an existing server. */
const GIVEN = 'TILE38_SERVER';

const BUILD_MS = 600_000;
const START_MS = 10_000;
const ANSWER_MS = 500;
const POLL_MS = 20;
/** Answered with an error until the server has loaded its data, unlike PING. */
const READY = respCommand('CHANS', '*');
const FENCES_AT_ONCE = 100;

/** Reason why Tile38 is unavailable; undefined if it exists or Go can build it. */
export function tile38Needs(): string | undefined {
  if (process.env[GIVEN] !== undefined || existsSync(join(CACHE, PROGRAM)) || GO !== undefined) return undefined;
  return `there is no Go to build ${MODULE} with: neither "go" nor ${USUAL_GO} runs, and ${GIVEN} names no ${PROGRAM}`;
}

/** Prefix of the command of a run on a server that is already running: it may be of any version. */
export function tile38Given(): string {
  return process.env[GIVEN] === undefined ? '' : `${GIVEN}=… `;
}

/** Path of the server: the configured one, or the one that is built once. */
export async function tile38Program(): Promise<string> {
  const given = process.env[GIVEN];
  if (given !== undefined) {
    if (existsSync(given)) return given;
    throw new Error(`Cannot start the peer: ${GIVEN} names ${given}, which is not there`);
  }
  const program = join(CACHE, PROGRAM);
  if (!existsSync(program)) await build();
  return program;
}

/** Starts a Tile38 with its own folder on a free port of the loopback interface. */
export async function startTile38(program: string): Promise<Contender> {
  const server = new Server(program, await freePort());
  try {
    await server.ready();
  } catch (error) {
    await server.stop();
    throw error;
  }
  return server;
}

class Server implements Contender {
  readonly kind = 'tile38';
  readonly port: number;
  readonly #folder: string;
  readonly #child: ChildProcess;
  readonly #gone: Promise<unknown>;
  #end = '';

  constructor(program: string, port: number) {
    this.port = port;
    this.#folder = mkdtempSync(join(tmpdir(), 'hub-bench-tile38-'));
    const args = ['-h', '127.0.0.1', '-p', String(port), '-d', this.#folder, '-q'];
    this.#child = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
    this.#gone = new Promise((resolve) => {
      const ended = (why: string): void => {
        this.#end = why;
        resolve(undefined);
      };
      this.#child.once('error', (error) => ended(error.message));
      this.#child.once('exit', (code, signal) => ended(`it has ended with ${signal ?? `code ${code}`}`));
    });
    process.on('exit', this.#kill);
  }

  get pid(): number {
    return this.#child.pid as number;
  }

  /** Waits until it answers. */
  async ready(): Promise<void> {
    for (const untilMs = performance.now() + START_MS; performance.now() < untilMs; await delay(POLL_MS)) {
      if (this.#end !== '') break;
      if (await this.#answers()) return;
    }
    throw new Error(`Cannot start the peer ${this.#child.spawnfile}: ${this.#end || 'it does not answer'}`);
  }

  async createFences(fences: Iterable<FenceBody>): Promise<void> {
    const connection = await RespConnection.open(this.port);
    const create = async (commands: readonly string[]): Promise<void> => {
      const fate = await new Promise<Fate>((resolve) => connection.send(pipelineOf(commands), resolve));
      if (fate !== 'accepted') throw new Error(`Cannot create fences of the peer: ${connection.error.trim()}`);
    };
    try {
      let commands: string[] = [];
      for (const fence of fences) {
        commands.push(fenceCommand(fence));
        if (commands.length < FENCES_AT_ONCE) continue;
        await create(commands);
        commands = [];
      }
      await create(commands);
    } finally {
      connection.close();
    }
  }

  /** It responds to an update after its evaluation. */
  async evaluated(): Promise<undefined> {
    return undefined;
  }

  /** Kills it, waits for its exit, and removes its folder, which is not needed any more. */
  async stop(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#gone;
    process.off('exit', this.#kill);
    this.#removeFolder();
  }

  /** An aborted benchmark leaves neither processes nor folders behind. */
  readonly #kill = (): void => {
    this.#child.kill('SIGKILL');
    this.#removeFolder();
  };

  #removeFolder(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #answers(): Promise<boolean> {
    let connection: RespConnection | undefined;
    try {
      connection = await RespConnection.open(this.port);
      const answered = new Promise<Fate>((resolve) => connection?.send(pipelineOf([READY]), resolve));
      return (await Promise.race([answered, delay(ANSWER_MS, 'failed', { ref: false })])) === 'accepted';
    } catch {
      return false;
    } finally {
      connection?.close();
    }
  }
}

/**
 * Command that creates the same fence: a channel that reports entries and exits. A polygon includes its border, as
 * those of the hub do.
 */
export function fenceCommand({ name, region, radius }: FenceBody): string {
  const watched = [COLLECTION, 'FENCE', 'DETECT', 'enter,exit'];
  if (region.type === 'Polygon') {
    return respCommand('SETCHAN', name, 'INTERSECTS', ...watched, 'OBJECT', JSON.stringify(region));
  }
  const [lon, lat] = region.coordinates;
  return respCommand('SETCHAN', name, 'NEARBY', ...watched, 'POINT', String(lat), String(lon), String(radius ?? 0));
}

/** Builds it completely into the cache, or not at all. An aborted build is restarted. */
async function build(): Promise<void> {
  const needs = tile38Needs();
  if (needs !== undefined) throw new Error(`Cannot build the peer: ${needs}`);
  const target = `${MODULE}/cmd/${PROGRAM}@${VERSION}`;
  mkdirSync(CACHE, { recursive: true });
  const folder = mkdtempSync(join(CACHE, 'building-'));
  try {
    const env = { ...process.env, GOBIN: folder };
    await promisify(execFile)(GO as string, ['install', target], { cwd: folder, env, timeout: BUILD_MS });
    renameSync(join(folder, PROGRAM), join(CACHE, PROGRAM));
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string };
    const said = stderr?.trim() || message;
    throw new Error(
      `Cannot build the peer: Go cannot install ${target} from its module proxy; ${GIVEN} may name a ${PROGRAM} that is ` +
        `there already: ${said}`,
      { cause: error },
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
