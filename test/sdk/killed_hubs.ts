import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../bench/process/free_port.ts';
import { NatsServers } from '../../bench/process/nats_server.ts';
import { Balancer } from '../cluster/balancer.ts';
import { type Answered, type AtEnd, HubProcess, requestAt } from '../durability/hub_process.ts';
import type { TestSettings } from '../support/running_hub.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';

const POLL_MS = 50;
const START_MS = 120_000;

/** A hub, or the hubs of a cluster, which the rounds kill. */
export interface KilledHubs {
  /** URL of the API for clients. */
  readonly base: string;
  /** Sends a request; undefined if there is no answer. */
  request(method: string, path: string, body?: unknown): Promise<Answered | undefined>;
  /** Kills a hub and restarts it. Resolves when it serves again. */
  crash(): Promise<void>;
  stop(): Promise<void>;
}

/** A hub without a cluster. Events are on disk before a location is answered. */
export async function openSingleHub(atEnd: AtEnd): Promise<KilledHubs> {
  const restart = await restartable({ db_fast_writes: 'false' }, atEnd);
  let hub = await restart();
  return {
    base: hub.base,
    request: (method, path, body) => requestAt(hub.base, method, path, body),
    async crash() {
      await hub.crash();
      hub = await restart();
    },
    stop: async () => void (await hub.stop()),
  };
}

interface ClusterOptions {
  readonly hubs: number;
  /** Path of nats-server. */
  readonly program: string;
  readonly random: () => number;
  readonly atEnd: AtEnd;
}

/** Hubs of a cluster behind a load balancer. Clients also send locations to their owners directly. */
export async function openClusteredHubs({ hubs: count, program, random, atEnd }: ClusterOptions): Promise<KilledHubs> {
  const nats = await NatsServers.start({ path: program });
  atEnd(() => void nats.stop());
  const cluster = { cluster_servers: nats.addresses.join(','), cluster_replicas: 1 };
  const names = Array.from({ length: count }, (_, index) => String.fromCharCode(97 + index));
  const restarts = await Promise.all(names.map((name) => restartable({ ...cluster, cluster_hub_name: name }, atEnd)));
  const hubs: HubProcess[] = [];
  for (const restart of restarts) hubs.push(await restart());
  const balancer = await Balancer.open({ ports: hubs.map(({ base }) => Number(new URL(base).port)) });
  atEnd(() => void balancer.close());
  const base = `http://127.0.0.1:${balancer.port}/hub/v2`;
  return {
    base,
    request: (method, path, body) => requestAt(base, method, path, body),
    async crash() {
      const index = Math.floor(random() * count);
      await hubs[index]?.crash();
      hubs[index] = await (restarts[index] as () => Promise<HubProcess>)();
    },
    async stop() {
      for (const hub of hubs) await hub.stop();
      await balancer.close();
      await nats.stop();
    },
  };
}

/** Returns a function that starts a hub with a port and a folder of its own, and resolves when the hub serves. */
async function restartable(settings: TestSettings, atEnd: AtEnd): Promise<() => Promise<HubProcess>> {
  const [folder, port] = [temporaryFolder(), await freePort()];
  const own = 'cluster_servers' in settings ? { cluster_client_url: `http://127.0.0.1:${port}` } : {};
  return async () => {
    const hub = await HubProcess.start(folder, { ...settings, ...own, port }, atEnd);
    const untilMs = performance.now() + START_MS;
    while ((await hub.get('/health'))?.status !== 200) {
      if (performance.now() > untilMs) throw new Error(`The hub does not serve: ${hub.log}`);
      await delay(POLL_MS);
    }
    return hub;
  };
}
