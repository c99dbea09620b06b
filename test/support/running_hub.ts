import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig, readConfigFile } from '../../src/config/load.ts';
import { type HubDeps, openHub } from '../../src/hub/hub.ts';
import { type Machine, thisMachine } from '../../src/hub/machine.ts';
import { once } from './once.ts';
import { SocketClient } from './socket_client.ts';
import {
  type Logged,
  type SocketOptions,
  type TestHub,
  type TestReply,
  type TestSettings,
  verbsOf,
} from './test_hub.ts';

export type { TestHub, TestReply, TestSettings } from './test_hub.ts';

/**
 * Names the variable with the NATS servers on which every test hub runs as a cluster of two hubs. See
 * test/cluster/contract_command.ts.
 */
const AS_CLUSTER = 'TEST_CLUSTER_SERVERS';
/** Whether test hubs are clusters of two hubs. */
export const isCluster = process.env[AS_CLUSTER] !== undefined;

interface TestHubOptions extends HubDeps {
  readonly folder?: string;
  /** Whether to start a single process even if the environment asks for a cluster. */
  readonly isAlone?: boolean;
}

/**
 * Starts a hub with two shards on a free port. Without a folder, it uses a temporary one, which is deleted when the hub
 * is closed.
 */
export async function openTestHub(settings: TestSettings = {}, options: TestHubOptions = {}): Promise<TestHub> {
  const servers = process.env[AS_CLUSTER];
  if (servers !== undefined && options.isAlone !== true) {
    const { openTestCluster } = await import('./running_cluster.ts');
    return openTestCluster({
      servers: servers.split(','),
      settings,
      folder: options.folder,
      open: (own) => openTestHub(own, { ...options, isAlone: true }),
    });
  }
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'hub-test-')));
  const env: Record<string, string> = { HUB_CONFIG_PATH: folder, HUB_PORT: '0', HUB_NUM_THREADS: '2' };
  // Hubs of tests are linked with each other.
  env['HUB_LINK_ALLOWED_HOSTS'] = '["*", "127.0.0.1"]';
  for (const [name, value] of Object.entries(settings)) env[`HUB_${name.toUpperCase()}`] = settingText(value);
  // Tests record history at fixed times in the past.
  if (settings['history'] === true) env['HUB_HISTORY_RETENTION_DAYS'] ??= 'null';
  const logged: Logged[] = [];
  const logAs = (level: Logged['level']) => {
    return (message: string, facts: object = {}) => {
      // Caused by the test or the machine, not by the hub.
      if (!message.startsWith('The hub stood still')) logged.push({ level, message, facts });
    };
  };
  const log = { debug: logAs('debug'), info: logAs('info'), warn: logAs('warn'), error: logAs('error') };
  const config = loadConfig({ env, cwd: folder, cores: 2, readFile: readConfigFile, warn: log.warn });
  const hub = await openHub(config, log, { machine: coldMachine(), ...options });
  const origin = `http://127.0.0.1:${hub.port}`;
  const base = `${origin}/hub/v2`;
  // The hub closes connections after ten idle seconds, and a request sent at that moment would be lost. This client
  // closes them earlier.
  const agent = new Agent({ keepAlive: true, maxSockets: 16, timeout: 5_000 });
  const sockets: SocketClient[] = [];

  const open = async ({ path = '/hub/v2/ws/socket', ...rest }: SocketOptions = {}): Promise<SocketClient> => {
    const client = await SocketClient.open(`ws://127.0.0.1:${hub.port}${path}`, rest);
    sockets.push(client);
    return client;
  };
  const settleSockets = async (): Promise<void> => {
    await Promise.all(sockets.filter(({ closed }) => closed === undefined).map((client) => client.settle()));
  };
  const call: TestHub['request'] = (method, path, body, headers = {}) => {
    return requestOf(/^https?:/.test(path) ? path : base + path, { method, body, headers, agent });
  };
  const closeSockets = async (): Promise<void> => {
    await Promise.all(sockets.splice(0).map((client) => client.close()));
  };
  // Tests that close their hub register `close` with `t.after` as well, in case they fail before.
  const close = once(async (): Promise<void> => {
    await closeSockets();
    agent.destroy();
    await hub.close();
    if (options.folder === undefined) await rm(folder, { recursive: true, force: true });
  });
  return {
    hub,
    folder,
    base,
    origin,
    logged,
    ...verbsOf(call),
    socket: open,
    async subscribe(topic, params, socketOptions) {
      return (await open(socketOptions)).subscribe(topic, params);
    },
    async settle() {
      await settleSockets();
      // Unlike `settled`, a query also waits for objects that are migrating between shards.
      await hub.shards.ask({ ask: 'trackable_motions', view: { crs: 'EPSG:4326' } });
      await hub.shards.settled();
      await hub.collisions.settled();
      await settleSockets();
    },
    closeSockets,
    close,
  };
}

/** Runs a hub during `use`. Its folder is not deleted. */
export async function whileHubRuns<T>(
  folder: string,
  settings: TestSettings,
  use: (hub: TestHub) => Promise<T>,
): Promise<T> {
  const hub = await openTestHub(settings, { folder });
  try {
    return await use(hub);
  } finally {
    await hub.close();
  }
}

/**
 * This machine, but shards are not warmed up and no garbage is collected at startup: most test hubs live for less time
 * than that takes.
 */
function coldMachine(): Machine {
  const machine = thisMachine();
  return {
    ...machine,
    collectGarbage() {},
    openThread: (file, { workerData, ...rest } = {}) =>
      machine.openThread(file, { ...rest, workerData: { ...workerData, isCold: true } }),
  };
}

/** Formats a setting as an environment variable. */
function settingText(value: TestSettings[string]): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

interface Asked {
  readonly method: string;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
  readonly agent: Agent;
}

/** Sends a request. `fetch` is unsuitable: it normalizes paths and methods, and cannot send some at all. */
function requestOf(url: string, { method, body, headers, agent }: Asked): Promise<TestReply> {
  const { origin } = new URL(url);
  const { hostname, port } = new URL(origin);
  const bytes = bytesOf(body);
  return new Promise((resolve, reject) => {
    const path = url.slice(origin.length);
    const length = bytes === undefined ? {} : { 'Content-Length': String(bytes.byteLength) };
    const request = httpRequest({ hostname, port, method, path, agent, headers: { ...length, ...headers } });
    request.on('error', reject);
    request.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const { statusCode: status = 0, headers } = response;
        const isJson = /^application\/(geo\+)?json/.test(headers['content-type'] ?? '');
        resolve({ status, headers, text, body: isJson && text !== '' ? JSON.parse(text) : undefined });
      });
    });
    request.end(bytes);
  });
}

function bytesOf(body: unknown): Uint8Array | undefined {
  if (body === undefined) return undefined;
  if (body instanceof Uint8Array) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}
