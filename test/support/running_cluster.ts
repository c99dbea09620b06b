import { basename } from 'node:path';
import { Balancer } from '../cluster/balancer.ts';
import { SocketClient } from './socket_client.ts';
import { type TestHub, type TestSettings, verbsOf } from './test_hub.ts';

export interface ClusterOptions {
  /** URLs of NATS servers. */
  readonly servers: readonly string[];
  readonly settings?: TestSettings;
  /** Folder of the hubs. A cluster of the same folder continues with its data. */
  readonly folder?: string | undefined;
  /** Opens one hub. */
  open(settings: TestSettings): Promise<TestHub>;
}

/** Both hubs share this process: a slow process must not make either of them suspect. */
const SUSPECT_MS = 60_000;
/** Small enough that one server has room for the streams of many clusters in succession. */
const JOURNAL_MIB = 64;
let clusters = 0;

/** Starts a cluster of two hubs that acts as one hub: requests alternate between them. */
export async function openTestCluster({
  servers,
  settings = {},
  folder,
  open: openHub,
}: ClusterOptions): Promise<TestHub> {
  const name = `test-${process.pid}-${folder === undefined ? ++clusters : basename(folder)}`;
  const cluster = { cluster_servers: servers.join(','), cluster_replicas: 1, cluster_name: name };
  const bounds = { cluster_suspect: SUSPECT_MS, cluster_journal_max_size: JOURNAL_MIB };
  const shared = { ...cluster, ...bounds, ...settings };
  const hubs: TestHub[] = [];
  for (const hub of ['a', 'b']) hubs.push(await openHub({ ...shared, cluster_hub_name: hub }));
  const [first, second] = hubs as [TestHub, TestHub];
  const balancer = await Balancer.open({ ports: hubs.map(({ hub }) => hub.port) });
  const origin = `http://127.0.0.1:${balancer.port}`;
  const base = `${origin}/hub/v2`;
  const sockets: SocketClient[] = [];
  const call: TestHub['request'] = (method, path, body, headers) => {
    return first.request(method, /^https?:/.test(path) ? path : base + path, body, headers);
  };
  const open: TestHub['socket'] = async ({ path = '/hub/v2/ws/socket', ...rest } = {}) => {
    const client = await SocketClient.open(`${origin.replace('http', 'ws')}${path}`, rest);
    sockets.push(client);
    return client;
  };
  const closeSockets = async (): Promise<void> => {
    await Promise.all(sockets.splice(0).map((client) => client.close()));
  };
  return {
    ...first,
    hub: { ...first.hub, port: balancer.port },
    base,
    origin,
    ...verbsOf(call),
    socket: open,
    async subscribe(topic, params, options) {
      return (await open(options)).subscribe(topic, params);
    },
    async settle() {
      for (const hub of [first, second, first]) await hub.settle();
      await Promise.all(sockets.filter(({ closed }) => closed === undefined).map((client) => client.settle()));
    },
    closeSockets,
    async close() {
      await closeSockets();
      // One after the other, because each hub notifies its clients of its shutdown.
      await second.close();
      await first.close();
      await balancer.close();
    },
  };
}
