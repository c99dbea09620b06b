import { type ChildProcess, spawn } from 'node:child_process';
import { pbkdf2Sync } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Admin, alterUserScramCredentialsV0, Connection, ScramMechanisms } from '@platformatic/kafka';
import { freePort } from '../../bench/process/free_port.ts';
import { makeCertificate, type TestCertificate } from '../support/certificates.ts';
import { javaVersion, type Libraries, mavenLibraries } from '../support/maven_libraries.ts';

const KAFKA = { groupId: 'org.apache.kafka', artifactId: 'kafka_2.13', version: '3.9.1' };
const [START_MS, POLL_MS] = [120_000, 200] as const;
const CLUSTER_ID = 'MkU3OEVBNTcwNTJENDM2Qg';

/** Listeners of the broker. `other` advertises an address to which no sink may connect, `tls` requires TLS and SCRAM. */
const LISTENERS = ['plain', 'sasl', 'other', 'tls'] as const;
type Listener = (typeof LISTENERS)[number];
type Ports = Readonly<Record<Listener | 'controller', number>>;

/** User and password of the listeners `sasl` and `tls`. */
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
  readonly #certificate: TestCertificate;
  #child: ChildProcess | undefined;

  private constructor(
    libraries: string,
    {
      folder,
      ports,
      certificate,
    }: { readonly folder: string; readonly ports: Ports; readonly certificate: TestCertificate },
  ) {
    this.#libraries = libraries;
    this.#folder = folder;
    this.#ports = ports;
    this.#certificate = certificate;
  }

  static async start(libraries: string, folder: string): Promise<KafkaProcess> {
    const free = Array.from({ length: 5 }, () => freePort());
    const [plain = 0, sasl = 0, other = 0, tls = 0, controller = 0] = await Promise.all(free);
    const certificate = await makeCertificate();
    const kafka = new KafkaProcess(libraries, { folder, ports: { plain, sasl, other, tls, controller }, certificate });
    await kafka.start();
    await addScramUser(plain);
    return kafka;
  }

  /** The certificate of the listener `tls`, which no system trusts. */
  get certificate(): string {
    return this.#certificate.certificate;
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
    writeFileSync(settings, propertiesOf({ data, ports: this.#ports, certificate: this.#certificate }));
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

/** Stores the user for SCRAM, which the metadata of the broker retains. */
async function addScramUser(port: number): Promise<void> {
  const [name = '', password = ''] = KAFKA_USER.split(':');
  const salt = Buffer.from('test salt');
  const [iterations, mechanism] = [4096, ScramMechanisms.SCRAM_SHA_512];
  const saltedPassword = pbkdf2Sync(password, salt, iterations, 64, 'sha512');
  const connection = new Connection('test');
  await connection.connect('127.0.0.1', port);
  await alterUserScramCredentialsV0.api.async(connection, [], [{ name, mechanism, iterations, salt, saltedPassword }]);
  await connection.close();
}

interface BrokerOptions {
  readonly data: string;
  readonly ports: Ports;
  readonly certificate: TestCertificate;
}

function propertiesOf({ data, ports, certificate }: BrokerOptions): string {
  const names = [...LISTENERS, 'controller'] as const;
  const listeners = names.map((name) => `${name.toUpperCase()}://127.0.0.1:${ports[name]}`);
  const advertised = LISTENERS.map((name) => {
    const host = name === 'tls' ? 'localhost' : name === 'other' ? '127.0.0.2' : '127.0.0.1';
    return `${name.toUpperCase()}://${host}:${ports[name]}`;
  });
  const [user, password] = KAFKA_USER.split(':');
  const pem = (text: string): string => text.trim().replaceAll('\n', ' \\\n');
  const login = `org.apache.kafka.common.security.plain.PlainLoginModule required user_${user}="${password}";`;
  return `\
process.roles=broker,controller
node.id=1
log.dirs=${data}
listeners=${listeners.join(',')}
advertised.listeners=${advertised.join(',')}
listener.security.protocol.map=PLAIN:PLAINTEXT,SASL:SASL_PLAINTEXT,OTHER:PLAINTEXT,TLS:SASL_SSL,CONTROLLER:PLAINTEXT
listener.name.sasl.sasl.enabled.mechanisms=PLAIN
listener.name.sasl.plain.sasl.jaas.config=${login}
listener.name.tls.sasl.enabled.mechanisms=SCRAM-SHA-512
listener.name.tls.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.tls.ssl.keystore.type=PEM
listener.name.tls.ssl.keystore.certificate.chain=${pem(certificate.certificate)}
listener.name.tls.ssl.keystore.key=${pem(certificate.key)}
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
broker.session.timeout.ms=6000
`;
}
