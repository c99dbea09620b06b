import { freePort } from '../../../bench/process/free_port.ts';
import type { NatsServers } from '../../../bench/process/nats_server.ts';
import { NatsProxy } from '../../cluster/nats_proxy.ts';
import type { TestSettings } from '../../support/running_hub.ts';
import { temporaryFolder } from '../../support/temporary_folder.ts';
import { type Answered, type AtEnd, HubProcess } from '../hub_process.ts';

/** Timeout of requests: longer than a hub delays a request, and than it is ever suspended. */
const ANSWER_MS = 20_000;

/** A seat of a cluster, taken by successive hub processes. Its name, its port and its links to NATS persist. */
export class HubSeat {
  readonly name: string;
  /** `http://127.0.0.1:port/hub/v2` */
  readonly base: string;
  readonly #proxies: readonly NatsProxy[];
  readonly #settings: TestSettings;
  readonly #folder: string;
  readonly #atEnd: AtEnd;
  /** Folder of the release of its next process; undefined for this release. */
  release: string | undefined;
  /** Whether it is stopped or partitioned, or has been and does not serve again yet. */
  isAway = false;
  #process: HubProcess | undefined;
  #startedMs = 0;
  #died: string | undefined;

  private constructor(name: string, port: number, { proxies, replicas, atEnd }: Links) {
    this.name = name;
    this.base = `http://127.0.0.1:${port}/hub/v2`;
    this.#proxies = proxies;
    this.#folder = temporaryFolder();
    this.#atEnd = atEnd;
    this.#settings = {
      port,
      cluster_servers: proxies.map(({ address }) => address).join(','),
      cluster_replicas: replicas,
      cluster_hub_name: name,
      num_threads: 2,
    };
  }

  static async open(name: string, nats: NatsServers, atEnd: AtEnd): Promise<HubSeat> {
    const proxies = await Promise.all(nats.servers.map(({ port }) => NatsProxy.open(port)));
    atEnd(() => {
      for (const proxy of proxies) proxy.close();
    });
    return new HubSeat(name, await freePort(), { proxies, replicas: nats.servers.length, atEnd });
  }

  /** Starts a process and waits until it is a member. */
  async start(settings: TestSettings = {}): Promise<void> {
    const release = this.release === undefined ? {} : { checkout: this.release };
    const process = new HubProcess(this.#folder, { ...this.#settings, ...settings }, this.#atEnd, release);
    await process.listening();
    this.#process = process;
    this.#startedMs = Date.now();
    this.#noteEnd(process);
  }

  get isUp(): boolean {
    return this.#process !== undefined;
  }

  /** Lines that the process has logged so far. */
  get logged(): LogLine[] {
    return linesOf(this.#process?.log ?? '');
  }

  /** Exit status of a process that the test has not killed; undefined while it runs. */
  get died(): string | undefined {
    return this.#died;
  }

  /** Whether others have expelled this hub, according to their logs, and it has not detected that yet. */
  isExpelledBy(others: readonly HubSeat[]): boolean {
    const expelled = others.map(({ logged }) => {
      const lines = logged.filter(({ msg }) => msg.startsWith(`Hub "${this.name}" (`) && msg.endsWith('was expelled'));
      return lines.filter(({ time }) => time > this.#startedMs).length;
    });
    return Math.max(0, ...expelled) > this.timesOut;
  }

  /** How often this process was outside its cluster. */
  get timesOut(): number {
    return this.logged.filter(({ msg }) => msg.startsWith(IS_OUT)).length;
  }

  /** Kills the process. Returns its log. */
  async kill(): Promise<readonly LogLine[]> {
    const process = this.#process;
    const { logged } = this;
    this.#process = undefined;
    await process?.crash();
    return logged;
  }

  /** Stops the process. Returns its log. Throws if it does not shut down cleanly. */
  async leave(): Promise<readonly LogLine[]> {
    const process = this.#process;
    this.#process = undefined;
    const ended = await process?.stop();
    if (ended?.code !== 0)
      throw new Error(`Hub ${this.name} ended with ${ended?.code ?? ended?.signal}: ${ended?.stderr}`);
    return linesOf(ended.stderr);
  }

  /** Suspends the process. */
  pause(): void {
    process.kill(this.#pid, 'SIGSTOP');
  }

  resume(): void {
    process.kill(this.#pid, 'SIGCONT');
  }

  /** Cuts its links to all NATS servers. */
  cut(): void {
    for (const proxy of this.#proxies) proxy.cut();
  }

  restore(): void {
    for (const proxy of this.#proxies) proxy.restore();
  }

  /** Undefined if there is no response. */
  async request(method: string, path: string, body?: unknown): Promise<Answered | undefined> {
    try {
      const signal = AbortSignal.timeout(ANSWER_MS);
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      const response = await fetch(this.base + path, { method, signal, ...sent });
      const text = await response.text();
      return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
    } catch {
      return undefined;
    }
  }

  #noteEnd(process: HubProcess): void {
    this.#died = undefined;
    void process.ended.then(({ code, signal, stderr }) => {
      if (process === this.#process)
        this.#died = `hub ${this.name} ended with ${code ?? signal}: ${stderr.slice(-2000)}`;
    });
  }

  get #pid(): number {
    if (this.#process === undefined) throw new Error(`Hub ${this.name} does not run`);
    return this.#process.pid;
  }
}

/** A line of a hub's log. Errors have level 50 and above. */
export interface LogLine {
  readonly level: number;
  readonly time: number;
  readonly msg: string;
}

function linesOf(log: string): LogLine[] {
  const lines = log.split('\n').filter((line) => line.startsWith('{') && line.endsWith('}'));
  return lines.map((line) => JSON.parse(line));
}

interface Links {
  readonly proxies: readonly NatsProxy[];
  readonly replicas: number;
  readonly atEnd: AtEnd;
}

export const IS_OUT = 'This hub is out of its cluster';
