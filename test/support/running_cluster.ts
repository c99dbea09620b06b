import { Balancer } from '../cluster/balancer.ts';
import { SocketClient } from './socket_client.ts';
import { type TestHub, type TestSettings, verbsOf } from './test_hub.ts';

export interface ClusterOptions {
  /** NATS servers. */
  readonly servers: readonly string[];
  readonly settings?: TestSettings;
  /** Opens one of them. */
  open(settings: TestSettings): Promise<TestHub>;
}

/** Both share this process: if it is slow, neither may be considered failed. */
const SUSPECT_MS = 60_000;
/** A server has room for those of many clusters, one after the other. */
const JOURNAL_MIB = 64;
let clusters = 0;

/** Cluster of two hubs that acts as one hub: requests alternate between them. */
export async function openTestCluster({ servers, settings = {}, open: openHub }: ClusterOptions): Promise<TestHub> {
  const name = `test-${process.pid}-${++clusters}`;
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
      // Each hub notifies its clients of its shutdown.
      await second.close();
      await first.close();
      await balancer.close();
    },
  };
}
