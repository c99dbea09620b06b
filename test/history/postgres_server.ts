import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { freePort } from '../../bench/process/free_port.ts';
import { listens } from '../../bench/process/listens.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';

const INSTALLED = '/usr/lib/postgresql';
const LOOK_MS = 50;

/** Reason why no server is available; undefined if one is. */
export function whyNoPostgres(): string | undefined {
  return binaries() === undefined ? 'skipped: there is no PostgreSQL below /usr/lib/postgresql' : undefined;
}

function binaries(): string | undefined {
  const [version] = existsSync(INSTALLED) ? readdirSync(INSTALLED).sort((a, b) => Number(b) - Number(a)) : [];
  const path = join(INSTALLED, version ?? '', 'bin');
  return version !== undefined && existsSync(join(path, 'postgres')) ? path : undefined;
}

/** User of the server, as PostgreSQL rejects root. */
function owner(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const id = (what: string): number => Number(execFileSync('id', [what, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

/** A PostgreSQL server with its own database, in a process that can be killed and restarted. */
export class PostgresServer {
  readonly port: number;
  readonly #folder: string;
  #child: ChildProcess | undefined;

  private constructor(port: number, folder: string) {
    this.port = port;
    this.#folder = folder;
  }

  static async start(): Promise<PostgresServer> {
    const folder = temporaryFolder();
    const { uid, gid } = owner();
    chmodSync(folder, 0o700);
    if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid);
    const args = ['-D', join(folder, 'data'), '-U', 'hub', '-A', 'trust', '--no-sync', '-E', 'UTF8', '--locale=C'];
    execFileSync(join(binaries() ?? '', 'initdb'), args, { ...owner(), cwd: folder, stdio: 'ignore' });
    const server = new PostgresServer(await freePort(), folder);
    await server.go();
    const client = await server.client('postgres');
    await client.query('CREATE DATABASE omlox');
    await client.end();
    return server;
  }

  /** Restarts it on its port. */
  async go(): Promise<void> {
    const settings = {
      port: this.port,
      listen_addresses: '127.0.0.1',
      unix_socket_directories: this.#folder,
      fsync: 'off',
    };
    const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const path = join(binaries() ?? '', 'postgres');
    const options = { ...owner(), cwd: this.#folder, stdio: 'ignore' } as const;
    this.#child = spawn(path, ['-D', join(this.#folder, 'data'), ...args], options);
    while (!(await listens(this.port)) || !(await this.#answers())) await delay(LOOK_MS);
  }

  /** Kills it in any state. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null) return;
    child.kill('SIGQUIT');
    await once(child, 'exit');
  }

  async client(database = 'omlox'): Promise<pg.Client> {
    const client = new pg.Client({ host: '127.0.0.1', port: this.port, user: 'hub', database });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }

  async close(): Promise<void> {
    await this.kill();
  }

  async #answers(): Promise<boolean> {
    try {
      await (await this.client('postgres')).end();
      return true;
    } catch {
      return false;
    }
  }
}
