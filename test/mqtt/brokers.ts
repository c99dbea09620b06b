import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../bench/process/free_port.ts';
import { goInstalled } from '../../bench/process/go_installed.ts';
import { listens } from '../../bench/process/listens.ts';
import { MOSQUITTO } from '../../bench/process/mosquitto.ts';
import { javaVersion, type Libraries, mavenLibraries } from '../support/maven_libraries.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';

/** Brokers started by tests, each on its own port, which it keeps across restarts. */
export const BROKERS = ['mosquitto', 'mochi'] as const;
/**
 * Brokers that preserve sessions and messages in order when they are killed. HiveMQ takes about ten seconds to start.
 */
export const KEEPING_BROKERS = ['mosquitto', 'hivemq'] as const;
export type BrokerName = (typeof BROKERS | typeof KEEPING_BROKERS)[number];

const MOCHI = { path: 'github.com/mochi-mqtt/server/v2/cmd', version: 'v2.7.9', name: 'cmd' };
/** Anonymous access without limits. */
const OPEN = ['allow_anonymous true', 'max_inflight_messages 0', 'max_queued_messages 0'];
const HIVEMQ = { groupId: 'com.hivemq', artifactId: 'hivemq-community-edition-embedded', version: '2025.5' };
const HIVEMQ_MAIN = fileURLToPath(new URL('hivemq/OpenBroker.java', import.meta.url));
const HIVEMQ_JAVA = 11;
const START_MS = 60_000;
const LOOK_MS = 50;

/** Reason why a broker is not available; undefined if it is. */
export async function whyNo(name: BrokerName): Promise<string | undefined> {
  if (name === 'mosquitto') return MOSQUITTO === undefined ? 'skipped: there is no mosquitto' : undefined;
  const installed = name === 'hivemq' ? hivemqLibraries() : await goInstalled(MOCHI);
  return 'missing' in installed ? `skipped: ${installed.missing}` : undefined;
}

interface BrokerOptions {
  readonly lines?: readonly string[];
  readonly port?: number;
  /** TLS options for each listener. */
  readonly ofListeners?: readonly string[];
}

/** A broker in a separate process. */
export class Broker {
  readonly port: number;
  /** MQTT over WebSocket; only for mosquitto. */
  readonly webSocketPort: number;
  readonly #name: BrokerName;
  readonly #folder = temporaryFolder();
  readonly #lines: readonly string[];
  readonly #ofListeners: readonly string[];
  #child: ChildProcess | undefined;
  log = '';

  private constructor(
    name: BrokerName,
    [port, webSocketPort]: readonly [number, number],
    { lines, ofListeners }: Required<Omit<BrokerOptions, 'port'>>,
  ) {
    this.#name = name;
    this.port = port;
    this.webSocketPort = webSocketPort;
    this.#lines = lines;
    this.#ofListeners = ofListeners;
  }

  /** `lines`: lines of mosquitto's configuration besides its listeners. `port`: a free one by default. */
  static async start(
    name: BrokerName = 'mosquitto',
    { lines = OPEN, port, ofListeners = [] }: BrokerOptions = {},
  ): Promise<Broker> {
    const broker = new Broker(name, [port ?? (await freePort()), await freePort()], { lines, ofListeners });
    await broker.start();
    return broker;
  }

  async start(): Promise<void> {
    const child = await this.#spawned();
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        this.log += chunk.toString();
      });
    }
    const untilMs = performance.now() + START_MS;
    while (!(await listens(this.port))) {
      if (child.exitCode !== null || performance.now() > untilMs) throw new Error(`No ${this.#name}: ${this.log}`);
      await delay(LOOK_MS);
    }
  }

  /** Resolves when its process exits. */
  async ended(): Promise<void> {
    if (this.#child !== undefined) await once(this.#child, 'exit');
  }

  /** Kills it, as in a crash. */
  kill(): Promise<void> {
    return this.#end('SIGKILL');
  }

  /** Stops it cleanly: it stores its state. */
  stop(): Promise<void> {
    return this.#end('SIGTERM');
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }

  /** Suspends it: connections stay open, and are not read. */
  pause(): void {
    this.#child?.kill('SIGSTOP');
  }

  resume(): void {
    this.#child?.kill('SIGCONT');
  }

  async close(): Promise<void> {
    await this.kill();
  }

  #spawned(): ChildProcess | Promise<ChildProcess> {
    if (this.#name === 'mosquitto') return this.#mosquitto();
    return this.#name === 'mochi' ? this.#mochi() : this.#hivemq();
  }

  #mosquitto(): ChildProcess {
    const file = join(this.#folder, 'mosquitto.conf');
    const lines = [
      'per_listener_settings false',
      // Started by root, mosquitto would switch to a user that cannot write here.
      'user root',
      // Messages of sources survive a crash.
      'persistence true',
      `persistence_location ${this.#folder}/`,
      'autosave_interval 1',
      'autosave_on_changes true',
      ...this.#lines,
      `listener ${this.port} 127.0.0.1`,
      ...this.#ofListeners,
      `listener ${this.webSocketPort} 127.0.0.1`,
      'protocol websockets',
      ...this.#ofListeners,
    ];
    writeFileSync(file, `${lines.join('\n')}\n`);
    return spawn(MOSQUITTO as string, ['-c', file], { stdio: ['ignore', 'pipe', 'pipe'] });
  }

  async #mochi(): Promise<ChildProcess> {
    const installed = await goInstalled(MOCHI);
    if ('missing' in installed) throw new Error(installed.missing);
    const free = [await freePort(), await freePort()];
    const args = ['-tcp', `127.0.0.1:${this.port}`, '-ws', `127.0.0.1:${free[0]}`, '-info', `127.0.0.1:${free[1]}`];
    return spawn(installed.path, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  }
  #hivemq(): ChildProcess {
    const libraries = hivemqLibraries();
    if ('missing' in libraries) throw new Error(libraries.missing);
    for (const name of ['conf', 'data', 'extensions']) mkdirSync(join(this.#folder, name), { recursive: true });
    const settings = `\
<hivemq>
  <listeners><tcp-listener><port>${this.port}</port><bind-address>127.0.0.1</bind-address></tcp-listener></listeners>
  <mqtt><queued-messages><max-queue-size>1000000</max-queue-size></queued-messages></mqtt>
  <persistence><mode>file</mode></persistence>
  <anonymous-usage-statistics><enabled>false</enabled></anonymous-usage-statistics>
</hivemq>
`;
    writeFileSync(join(this.#folder, 'conf/config.xml'), settings);
    const args = ['-Xmx512m', '-cp', `${libraries.folder}/*`, HIVEMQ_MAIN, this.#folder];
    return spawn('java', args, { stdio: ['ignore', 'pipe', 'pipe'] });
  }
}

function hivemqLibraries(): Libraries {
  const found = javaVersion();
  return found < HIVEMQ_JAVA ? { missing: `HiveMQ needs Java ${HIVEMQ_JAVA}, found ${found}` } : mavenLibraries(HIVEMQ);
}
