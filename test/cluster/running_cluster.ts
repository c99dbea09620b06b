import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../bench/process/free_port.ts';
import { natsProgram } from '../../bench/process/nats_program.ts';
import { type NatsServer, NatsServers } from '../../bench/process/nats_server.ts';
import { HubProcess } from '../durability/hub_process.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { Balancer } from './balancer.ts';
import { type ClusterView, type FollowedCluster, followCluster } from './cluster_view.ts';

export interface RunningClusterOptions {
  readonly hubs: number;
  readonly nats: 1 | 3;
  /** Port of the balancer. */
  readonly port: number;
  /** Reports progress. */
  stage(text: string): void;
  /** Called after every change. */
  changed(): void;
}

/** A requirement is missing. The message is the one line that is shown. */
export class CannotRun extends Error {}

export interface HubSlot {
  readonly name: string;
  readonly port: number;
  readonly folder: string;
  process: HubProcess | undefined;
  isStopped: boolean;
}

/** NATS servers, hubs and a balancer in front of them, on this machine, in processes that end with `close`. */
export class RunningCluster {
  readonly hubs: readonly HubSlot[];
  readonly #options: RunningClusterOptions;
  readonly #folder = temporaryFolder();
  readonly #ends: (() => void)[] = [];
  readonly #killedServers = new Set<NatsServer>();
  #startingNats: Promise<NatsServers> | undefined;
  #nats: NatsServers | undefined;
  #balancer: Balancer | undefined;
  #followed: FollowedCluster | undefined;
  #isClosed = false;

  private constructor(options: RunningClusterOptions, ports: readonly number[]) {
    this.#options = options;
    this.hubs = ports.map((port, index) => {
      const name = `hub-${index + 1}`;
      return { name, port, folder: join(this.#folder, name), process: undefined, isStopped: false };
    });
  }

  /**
   * Starts everything, in a temporary folder. Calls `begun` with the cluster before the first process is started. Rejects
   * with a CannotRun after it has cleaned up.
   */
  static async start(options: RunningClusterOptions, begun: (cluster: RunningCluster) => void): Promise<void> {
    const ports = await Promise.all(Array.from({ length: options.hubs }, () => freePort()));
    const cluster = new RunningCluster(options, ports);
    begun(cluster);
    try {
      await cluster.#start();
    } catch (error) {
      await cluster.close();
      throw error;
    }
  }

  /** Address of the balancer. */
  get address(): string {
    return `http://127.0.0.1:${this.#balancer?.port ?? this.#options.port}`;
  }

  get view(): ClusterView | undefined {
    return this.#followed?.view;
  }

  get servers(): readonly { readonly name: string; readonly isKilled: boolean }[] {
    const servers = this.#nats?.servers ?? [];
    return servers.map((server, index) => ({ name: `n${index + 1}`, isKilled: this.#killedServers.has(server) }));
  }

  /** A running hub that owns objects; undefined while there is none. */
  get owner(): HubSlot | undefined {
    return this.hubs.find(({ name, process }) => process !== undefined && this.view?.owners.includes(name) === true);
  }

  /** Kills a hub as a crash would. */
  async killHub(hub: HubSlot): Promise<void> {
    const { process } = hub;
    if (process === undefined) return;
    hub.process = undefined;
    hub.isStopped = false;
    await process.crash();
    this.#options.changed();
  }

  /** Stops a hub as a debugger would, or resumes it. */
  stopOrContinue(hub: HubSlot): void {
    if (hub.process === undefined) return;
    hub.isStopped = !hub.isStopped;
    process.kill(hub.process.pid, hub.isStopped ? 'SIGSTOP' : 'SIGCONT');
    this.#options.changed();
  }

  /** Kills the first running NATS server, and returns its name; undefined if none runs. */
  async killServer(): Promise<string | undefined> {
    const index = this.servers.findIndex(({ isKilled }) => !isKilled);
    const server = this.#nats?.servers[index];
    if (server === undefined) return undefined;
    this.#killedServers.add(server);
    await server.kill();
    this.#options.changed();
    return this.servers[index]?.name;
  }

  /** Restarts killed and exited processes, and returns their names. */
  async restart(): Promise<readonly string[]> {
    const servers = [...this.#killedServers];
    const hubs = this.hubs.filter(({ process }) => process === undefined);
    const names = this.servers.filter(({ isKilled }) => isKilled).map(({ name }) => name);
    await Promise.all(servers.map((server) => server.start()));
    for (const server of servers) this.#killedServers.delete(server);
    await Promise.all(hubs.map((hub) => this.#startHub(hub)));
    this.#options.changed();
    return [...names, ...hubs.map(({ name }) => name)];
  }

  /** Closes everything, and removes the folder. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#balancer?.close();
    await this.#followed?.close();
    const ended = this.hubs.map(({ process }) => process?.ended);
    for (const end of this.#ends) end();
    await Promise.all(ended);
    // They may still be starting.
    const nats = await this.#startingNats?.catch(() => undefined);
    await nats?.stop();
  }

  async #start(): Promise<void> {
    const { nats: count, port, stage, changed } = this.#options;
    // A port in use is found before anything was started.
    this.#balancer = await openBalancer({ ports: this.hubs.map((hub) => hub.port), port });
    stage('Building nats-server, or finding the one that was built before ...');
    const program = await natsProgram();
    if ('missing' in program) throw new CannotRun(`Cannot run NATS servers: ${program.missing}`);
    this.#stillOpen();
    stage(`Starting ${count === 1 ? 'a NATS server' : `${count} NATS servers`} ...`);
    this.#startingNats = NatsServers.start({ path: program.path, count, syncInterval: 'always' });
    this.#nats = await this.#startingNats;
    this.#stillOpen();
    stage(`Starting ${this.hubs.length} hubs ...`);
    await Promise.all(this.hubs.map((hub) => this.#startHub(hub)));
    this.#followed = await followCluster({ servers: this.#nats.addresses, replicas: count }, changed);
  }

  async #startHub(hub: HubSlot): Promise<void> {
    this.#stillOpen();
    const { name, port, folder } = hub;
    mkdirSync(folder, { recursive: true });
    const settings = {
      port,
      cluster_servers: (this.#nats?.addresses ?? []).join(','),
      cluster_hub_name: name,
      cluster_replicas: this.#options.nats,
    };
    const process = new HubProcess(folder, settings, (end) => void this.#ends.push(end));
    hub.process = process;
    void process.ended.then(({ stderr }) => {
      if (hub.process !== process || this.#isClosed) return;
      hub.process = undefined;
      this.#options.stage(`${name} has ended: ${reasonIn(stderr)}`);
      this.#options.changed();
    });
    try {
      await process.listening();
    } catch (error) {
      hub.process = undefined;
      throw new CannotRun(`Cannot start ${name}: ${reasonIn((error as Error).message)}`);
    }
  }

  /** Throws if it was closed in the meantime. */
  #stillOpen(): void {
    if (this.#isClosed) throw new CannotRun('Interrupted');
  }
}

/** Error that a hub has died of, else its last log line. */
function reasonIn(written: string): string {
  const lines = written.trim().split('\n');
  return lines.findLast((line) => /^\w*Error\b/.test(line)) ?? lines.at(-1) ?? '';
}

async function openBalancer(options: { readonly ports: readonly number[]; readonly port: number }): Promise<Balancer> {
  try {
    return await Balancer.open(options);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === 'EADDRINUSE' ? 'it is in use; --port names another' : message;
    throw new CannotRun(`Cannot listen on port ${options.port}: ${why}`);
  }
}
