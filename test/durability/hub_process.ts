import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { after } from 'node:test';
import type { TestSettings } from '../support/running_hub.ts';

const ROOT = new URL('../..', import.meta.url).pathname;
const RUNNING = /API +(https?:\S+)/;

/** Response to a request; undefined if the hub exited first. */
export interface Answered {
  readonly status: number;
  /** A result of `JSON.parse`, whose members the tests check. */
  readonly body: ReturnType<typeof JSON.parse>;
}

export interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Registers a callback for the end of a test file or of a program. */
export type AtEnd = (callback: () => void) => void;

interface HubProcessOptions {
  readonly args?: readonly string[];
  /** Folder of the hub's release; this one by default. */
  readonly checkout?: string;
  /** User and group ids, for tests that run as root. */
  readonly user?: { readonly uid?: number; readonly gid?: number };
}

/** The hub program in a separate process. */
export class HubProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<Ended>;
  #stdout = '';
  #stderr = '';
  /** `http://127.0.0.1:port/hub/v2`, or https. */
  base = '';

  constructor(
    folder: string,
    settings: TestSettings = {},
    atEnd: AtEnd = after,
    { args = [], checkout = ROOT, user = {} }: HubProcessOptions = {},
  ) {
    const env: Record<string, string> = { HUB_CONFIG_PATH: folder, HUB_PORT: '0', HUB_NUM_THREADS: '1' };
    for (const [name, value] of Object.entries(settings)) env[`HUB_${name.toUpperCase()}`] = String(value);
    this.#child = spawn(process.execPath, [join(checkout, 'src/main.ts'), ...args], {
      ...user,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child.stdout?.on('data', (text: Buffer) => {
      this.#stdout += text;
    });
    this.#child.stderr?.on('data', (text: Buffer) => {
      this.#stderr += text;
    });
    this.#ended = once(this.#child, 'close').then(([code, signal]) => {
      return { code, signal, stdout: this.#stdout, stderr: this.#stderr };
    });
    atEnd(() => void this.#child.kill('SIGKILL'));
  }

  /** Starts a hub and waits until it listens. */
  static async start(folder: string, settings?: TestSettings, atEnd?: AtEnd): Promise<HubProcess> {
    const hub = new HubProcess(folder, settings, atEnd);
    await hub.listening();
    return hub;
  }

  /** Resolves when the hub prints its address. */
  async listening(): Promise<void> {
    for (;;) {
      const found = RUNNING.exec(this.#stdout);
      if (found !== null) {
        this.base = found[1] ?? '';
        return;
      }
      const more = once(this.#child.stdout as NodeJS.EventEmitter, 'data');
      const ended = await Promise.race([more.then(() => undefined), this.#ended]);
      if (ended !== undefined) throw new Error(`The hub did not start: ${ended.stderr}`);
    }
  }

  /** Its log so far. */
  get log(): string {
    return this.#stderr;
  }

  /** Process id. */
  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get ended(): Promise<Ended> {
    return this.#ended;
  }

  /** Kills the process. */
  crash(): Promise<Ended> {
    this.#child.kill('SIGKILL');
    return this.#ended;
  }

  /** Signals the process to reload its certificate. */
  hangUp(): void {
    this.#child.kill('SIGHUP');
  }

  /** Waits until the process has logged a string. */
  async logged(text: string): Promise<void> {
    while (!this.#stderr.includes(text)) await once(this.#child.stderr as NodeJS.EventEmitter, 'data');
  }

  /** Stops the process. */
  stop(): Promise<Ended> {
    this.#child.kill('SIGTERM');
    return this.#ended;
  }

  request(method: string, path: string, body?: unknown): Promise<Answered | undefined> {
    return requestAt(this.base, method, path, body);
  }

  get(path: string): Promise<Answered | undefined> {
    return this.request('GET', path);
  }

  post(path: string, body: unknown): Promise<Answered | undefined> {
    return this.request('POST', path, body);
  }

  put(path: string, body: unknown): Promise<Answered | undefined> {
    return this.request('PUT', path, body);
  }
}

/** Sends a request to a hub. Returns undefined if the hub exits first, or cannot be reached. */
export async function requestAt(
  base: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<Answered | undefined> {
  try {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(base + path, { method, ...sent });
    const text = await response.text();
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** A location some meters east of 9° E, 50° N, generated now. */
export function locationOf(provider: string, east: number, more = {}) {
  return {
    provider_id: provider,
    provider_type: 'uwb',
    source: 'test',
    crs: 'EPSG:4326',
    position: { type: 'Point', coordinates: [9 + east / 71_695.6, 50] },
    ...more,
  };
}

/** The circle of 10 m around 9° E, 50° N. */
export function fenceOf(id: string, more = {}) {
  return { id, region: { type: 'Point', coordinates: [9, 50] }, radius: 10, ...more };
}

/** Pseudorandom numbers from 0 to 1 for a seed. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
