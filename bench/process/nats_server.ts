import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from './free_port.ts';
import { listens } from './listens.ts';

const START_MS = 20_000;
const POLL_MS = 20;

export interface NatsServersOptions {
  /** Path of the server program. */
  readonly path: string;
  /** 1, or 3 that form a cluster. */
  readonly count?: 1 | 3;
  /** When files are synced: `always`, or an interval such as `2m`. */
  readonly syncInterval?: string;
  /** Additional configuration: accounts, users, TLS. */
  readonly more?: string;
}

/** NATS servers with JetStream on 127.0.0.1. Their processes end with this one. */
export class NatsServers {
  readonly servers: readonly NatsServer[];
  readonly #folder: string;

  private constructor(servers: readonly NatsServer[], folder: string) {
    this.servers = servers;
    this.#folder = folder;
  }

  /** Starts them and waits until they serve, and have a leader. */
  static async start(options: NatsServersOptions): Promise<NatsServers> {
    const { path, count = 1 } = options;
    const folder = mkdtempSync(join(tmpdir(), 'hub-nats-'));
    const ports = await Promise.all(
      Array.from({ length: count }, async () => [await freePort(), await freePort(), await freePort()]),
    );
    const routes = ports.map(([, route]) => `nats://127.0.0.1:${route}`);
    const servers = ports.map(([port = 0, route = 0, monitor = 0], index) => {
      const name = `n${index + 1}`;
      const place = { name, port, route, monitor, folder: join(folder, name), routes: count > 1 ? routes : [] };
      const file = join(folder, `${name}.conf`);
      writeFileSync(file, configurationOf(place, options));
      return new NatsServer(path, { file, port, monitor });
    });
    const started = new NatsServers(servers, folder);
    try {
      await Promise.all(servers.map((server) => server.start()));
    } catch (error) {
      await started.stop();
      throw error;
    }
    return started;
  }

  get addresses(): string[] {
    return this.servers.map(({ port }) => `nats://127.0.0.1:${port}`);
  }

  /** Stops all servers, and removes their data. */
  async stop(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.kill()));
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

export class NatsServer {
  readonly port: number;
  readonly #path: string;
  readonly #file: string;
  readonly #monitor: number;
  #child: ChildProcess | undefined;
  #output = '';

  constructor(path: string, { file, port, monitor }: { file: string; port: number; monitor: number }) {
    this.port = port;
    this.#path = path;
    this.#file = file;
    this.#monitor = monitor;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** Starts it, or restarts it with its data, and waits until its JetStream serves. */
  async start(): Promise<void> {
    const child = spawn(this.#path, ['-c', this.#file], { stdio: ['ignore', 'ignore', 'pipe'] });
    this.#child = child;
    this.#output = '';
    endWithThisProcess(child);
    child.stderr.on('data', (text: Buffer) => {
      this.#output = (this.#output + text).slice(-4000);
    });
    for (const untilMs = Date.now() + START_MS; Date.now() < untilMs; await delay(POLL_MS)) {
      if (child.exitCode !== null) break;
      if ((await listens(this.port)) && (await this.#serves())) return;
    }
    throw new Error(`nats-server does not start: ${this.#output}`);
  }

  /** Kills it. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  /** Suspends it: connections stay open without responses. */
  pause(): void {
    this.#child?.kill('SIGSTOP');
  }

  resume(): void {
    this.#child?.kill('SIGCONT');
  }

  async #serves(): Promise<boolean> {
    const found = await fetch(`http://127.0.0.1:${this.#monitor}/healthz`).catch(() => undefined);
    return found?.ok === true;
  }
}

/** When this process exits, its end of a pipe is closed. A shell that reads the pipe then kills the child. */
function endWithThisProcess(child: ChildProcess): void {
  const watch = spawn('sh', ['-c', `cat; kill -9 ${child.pid}`], { stdio: ['pipe', 'ignore', 'ignore'] });
  watch.unref();
  child.once('exit', () => watch.kill('SIGKILL'));
}

interface Place {
  readonly name: string;
  readonly port: number;
  readonly route: number;
  readonly monitor: number;
  readonly folder: string;
  readonly routes: readonly string[];
}

function configurationOf({ name, port, route, monitor, folder, routes }: Place, options: NatsServersOptions): string {
  const { syncInterval = '2m', more = '' } = options;
  const cluster = `cluster { name: hub, no_advertise: true, listen: "127.0.0.1:${route}", routes: [${routes.map((each) => `"${each}"`)}] }`;
  return [
    `server_name: ${name}`,
    `listen: "127.0.0.1:${port}"`,
    `http: "127.0.0.1:${monitor}"`,
    'max_payload: 8MB',
    `jetstream { store_dir: "${folder}", sync_interval: ${syncInterval} }`,
    ...(routes.length > 0 ? [cluster] : []),
    more,
  ].join('\n');
}
