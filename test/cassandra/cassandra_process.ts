import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../bench/process/free_port.ts';
import { configurationOf, JAVA_FLAGS, LOGGING } from './configuration.ts';

const START_MS = 240_000;
const STORE_PASSWORD = 'cassandra';

export interface CassandraOptions {
  /** Folder of the jars. */
  readonly libraries: string;
  /** Folder for its files. A folder of an earlier process is reused with its data. */
  readonly folder: string;
  /** Port for clients; a free one by default. */
  readonly port?: number;
  /** Whether it requires a user (cassandra, password cassandra), and accepts TLS as well as plain connections. */
  readonly secure?: boolean;
}

/** A Cassandra of one node on 127.0.0.1, in a separate process. */
export class CassandraProcess {
  readonly port: number;
  readonly #options: CassandraOptions;
  readonly #storagePort: number;
  #child: ChildProcess | undefined;
  #output = '';

  private constructor(options: CassandraOptions, ports: { port: number; storagePort: number }) {
    this.#options = options;
    this.port = ports.port;
    this.#storagePort = ports.storagePort;
  }

  /** Starts a node and waits until clients can use it, which takes from 6 seconds to a minute. */
  static async start(options: CassandraOptions): Promise<CassandraProcess> {
    const port = options.port ?? (await freePort());
    const cassandra = new CassandraProcess(options, { port, storagePort: await freePort() });
    await cassandra.start();
    return cassandra;
  }

  /** The certificate that its TLS clients must trust. */
  get certificate(): string {
    return join(this.#options.folder, 'certificate.pem');
  }

  /** Starts or restarts it; no effect on a running one. */
  async start(): Promise<void> {
    if (this.#isRunning) return;
    const { folder, libraries, secure = false } = this.#options;
    const isNew = !existsSync(join(folder, 'data'));
    mkdirSync(join(folder, 'data'), { recursive: true });
    if (secure && isNew) makeCertificate(folder);
    const { port } = this;
    const storagePort = this.#storagePort;
    writeFileSync(join(folder, 'cassandra.yaml'), configurationOf({ folder, port, storagePort, secure }));
    writeFileSync(join(folder, 'logback.xml'), LOGGING);
    const places = [
      `-Dcassandra.config=file://${folder}/cassandra.yaml`,
      `-Dcassandra.storagedir=${folder}`,
      `-Dlogback.configurationFile=${folder}/logback.xml`,
      `-Djava.io.tmpdir=${folder}`,
    ];
    const main = ['-cp', join(libraries, '*'), 'org.apache.cassandra.service.CassandraDaemon'];
    const child = spawn('java', [...JAVA_FLAGS, ...places, ...main], {
      stdio: ['ignore', 'pipe', 'pipe'],
      cwd: folder,
    });
    this.#child = child;
    endWithThisProcess(child);
    this.#output = '';
    const ready = secure && isNew ? [/Startup complete/, /Created default superuser role/] : [/Startup complete/];
    await this.#says(child, ready);
  }

  /** Stops it cleanly. */
  stop(): Promise<void> {
    return this.#end('SIGTERM');
  }

  /** Kills it. */
  kill(): Promise<void> {
    return this.#end('SIGKILL');
  }

  /** Suspends it: connections stay open without responses. */
  pause(): void {
    this.#child?.kill('SIGSTOP');
  }

  resume(): void {
    this.#child?.kill('SIGCONT');
  }

  get #isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    const isRunning = this.#isRunning;
    this.#child = undefined;
    if (child === undefined || !isRunning) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }

  #says(child: ChildProcess, wanted: readonly RegExp[]): Promise<void> {
    return new Promise((resolve, reject) => {
      const fail = (why: string) => reject(new Error(`Cassandra ${why}: ${this.#output.slice(-2000)}`));
      const timer = setTimeout(() => {
        child.kill('SIGKILL');
        fail('does not start');
      }, START_MS);
      const take = (text: Buffer): void => {
        this.#output = (this.#output + text).slice(-200_000);
        if (!wanted.every((pattern) => pattern.test(this.#output))) return;
        clearTimeout(timer);
        resolve();
      };
      child.stdout?.on('data', take);
      child.stderr?.on('data', take);
      child.on('exit', (code, signal) => {
        clearTimeout(timer);
        fail(`has ended with ${code ?? signal}`);
      });
    });
  }
}

/** When this process exits, its end of a pipe is closed. A shell that reads the pipe then kills the child. */
function endWithThisProcess(child: ChildProcess): void {
  const watch = spawn('sh', ['-c', `cat; kill -9 ${child.pid}`], { stdio: ['pipe', 'ignore', 'ignore'] });
  watch.unref();
  child.once('exit', () => watch.kill('SIGKILL'));
}

/** Creates a key pair for 127.0.0.1 and its certificate. */
function makeCertificate(folder: string): void {
  const store = ['-keystore', join(folder, 'keystore'), '-storepass', STORE_PASSWORD, '-alias', 'node'];
  const name = ['-dname', 'CN=127.0.0.1', '-ext', 'san=ip:127.0.0.1,dns:localhost'];
  execFileSync('keytool', ['-genkeypair', '-keyalg', 'EC', '-validity', '30', ...name, ...store], { stdio: 'pipe' });
  const file = join(folder, 'certificate.pem');
  execFileSync('keytool', ['-exportcert', '-rfc', '-file', file, ...store], { stdio: 'pipe' });
  if (!readFileSync(file, 'utf8').includes('BEGIN CERTIFICATE')) throw new Error('keytool has made no certificate');
}
