import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Admin } from '@platformatic/kafka';
import { freePort } from '../../bench/process/free_port.ts';
import { javaVersion, type Libraries, mavenLibraries } from '../support/maven_libraries.ts';

const KAFKA = { groupId: 'org.apache.kafka', artifactId: 'kafka_2.13', version: '3.9.1' };
const [START_MS, POLL_MS] = [120_000, 200] as const;
const CLUSTER_ID = 'MkU3OEVBNTcwNTJENDM2Qg';

/** Listeners of the broker. `other` advertises an address to which no sink may connect. */
const LISTENERS = ['plain', 'sasl', 'other'] as const;
type Listener = (typeof LISTENERS)[number];
type Ports = Readonly<Record<Listener | 'controller', number>>;

/** User and password of the listener `sasl`. */
export const KAFKA_USER = 'hub:secret';

/** Finds Kafka's jars. */
export function kafkaLibraries(): Libraries {
  const major = javaVersion();
  if (major === 0) return { missing: 'Java is not installed' };
  if (major < 11) return { missing: `Kafka needs Java 11 or later, found ${major}` };
  return mavenLibraries(KAFKA);
}

/** A Kafka in KRaft mode, of one broker on 127.0.0.1, in a separate process. */
export class KafkaProcess {
  readonly #libraries: string;
  readonly #folder: string;
  readonly #ports: Ports;
  #child: ChildProcess | undefined;

  private constructor(libraries: string, folder: string, ports: Ports) {
    this.#libraries = libraries;
    this.#folder = folder;
    this.#ports = ports;
  }

  static async start(libraries: string, folder: string): Promise<KafkaProcess> {
    const [plain, sasl, other, controller] = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
    const kafka = new KafkaProcess(libraries, folder, { plain, sasl, other, controller });
    await kafka.start();
    return kafka;
  }

  port(listener: Listener): number {
    return this.#ports[listener];
  }

  /** Starts or restarts it with its data. Resolves when clients can use it. */
  async start(): Promise<void> {
    const data = join(this.#folder, 'data');
    if (!existsSync(data)) {
      mkdirSync(data, { recursive: true });
      writeFileSync(join(data, 'meta.properties'), `version=1\nnode.id=1\ncluster.id=${CLUSTER_ID}\n`);
    }
    const settings = join(this.#folder, 'server.properties');
    writeFileSync(settings, propertiesOf({ data, ports: this.#ports }));
    const flags = ['-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];
    const main = ['-cp', join(this.#libraries, '*'), 'kafka.Kafka', settings];
    const child = spawn('java', [...flags, ...main], { stdio: ['ignore', 'pipe', 'pipe'], cwd: this.#folder });
    this.#child = child;
    endWithThisProcess(child);
    await started(child, this.#ports.plain);
  }

  /** Kills it. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null) return;
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
}

/** Resolves when the broker answers. Rejects with its output if it exits before. */
async function started(child: ChildProcess, port: number): Promise<void> {
  let output = '';
  const take = (text: Buffer): void => {
    output = (output + text).slice(-100_000);
  };
  child.stdout?.on('data', take);
  child.stderr?.on('data', take);
  const exited = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`Kafka has ended with ${code ?? signal}: ${output.slice(-3000)}`);
  });
  const admin = new Admin({
    clientId: 'start',
    bootstrapBrokers: [{ host: '127.0.0.1', port }],
    retries: START_MS / POLL_MS,
    retryDelay: POLL_MS,
  });
  try {
    await Promise.race([admin.metadata({}), exited]);
  } finally {
    exited.catch(() => undefined);
    await admin.close();
  }
}

/** When this process exits, its end of a pipe is closed. A shell that reads the pipe then kills the child. */
function endWithThisProcess(child: ChildProcess): void {
  const watch = spawn('sh', ['-c', `cat; kill -9 ${child.pid}`], { stdio: ['pipe', 'ignore', 'ignore'] });
  watch.unref();
  child.once('exit', () => watch.kill('SIGKILL'));
}

function propertiesOf({ data, ports }: { readonly data: string; readonly ports: Ports }): string {
  const names = [...LISTENERS, 'controller'] as const;
  const listeners = names.map((name) => `${name.toUpperCase()}://127.0.0.1:${ports[name]}`);
  const advertised = LISTENERS.map((name) => {
    return `${name.toUpperCase()}://127.0.0.${name === 'other' ? 2 : 1}:${ports[name]}`;
  });
  const [user, password] = KAFKA_USER.split(':');
  const login = `org.apache.kafka.common.security.plain.PlainLoginModule required user_${user}="${password}";`;
  return `\
process.roles=broker,controller
node.id=1
log.dirs=${data}
listeners=${listeners.join(',')}
advertised.listeners=${advertised.join(',')}
listener.security.protocol.map=PLAIN:PLAINTEXT,SASL:SASL_PLAINTEXT,OTHER:PLAINTEXT,CONTROLLER:PLAINTEXT
listener.name.sasl.sasl.enabled.mechanisms=PLAIN
listener.name.sasl.plain.sasl.jaas.config=${login}
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAIN
controller.quorum.voters=1@127.0.0.1:${ports.controller}
auto.create.topics.enable=true
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
group.initial.rebalance.delay.ms=0
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
message.max.bytes=200000
broker.session.timeout.ms=2000
`;
}
