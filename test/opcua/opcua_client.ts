import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { installed, runInstall, type Tool } from '../clients/generators/tools.ts';

const VERSION = 'asyncua==2.1.0';
const PIP = ['install', '--quiet', '--disable-pip-version-check', '--retries', '1', '--timeout', '20', VERSION];
const CLIENT = fileURLToPath(new URL('python/client.py', import.meta.url));

/** Installs the client in Python, unless it is installed. */
export async function installClient(): Promise<Tool> {
  if (spawnSync('python3', ['--version']).status !== 0) return { folder: '', skip: 'python3 is not installed' };
  return installed(VERSION.replace('==', '-'), async (folder) => {
    await runInstall('python3', ['-m', 'venv', folder], { cwd: folder });
    await runInstall(join(folder, 'bin/python'), ['-m', 'pip', ...PIP], { cwd: folder });
  });
}

/** A line of the client's output. */
export interface Line {
  readonly what: string;
  readonly [member: string]: unknown;
}

interface ClientOptions {
  readonly port: number;
  /** Folder for the certificate of the client. */
  readonly folder: string;
  readonly mode?: 'None' | 'Sign' | 'SignAndEncrypt';
  readonly password?: string;
}

/** Runs the client, whose uses client.py describes, until it ends or `use` resolves. Resolves to its output. */
export async function runClient(
  { folder: python }: Tool,
  use: 'read' | 'follow' | 'write',
  { port, folder, mode = 'SignAndEncrypt', password }: ClientOptions,
  during: (lines: AsyncIterator<Line>) => Promise<void> = async () => undefined,
): Promise<readonly Line[]> {
  const args = [
    CLIENT,
    `opc.tcp://127.0.0.1:${port}`,
    folder,
    mode,
    use,
    ...(password === undefined ? [] : [password]),
  ];
  const child = spawn(join(python, 'bin/python'), args, { stdio: ['pipe', 'pipe', 'pipe'] });
  const ended = once(child, 'exit');
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const lines: Line[] = [];
  const reading = createInterface(child.stdout);
  const iterator = (async function* () {
    for await (const line of reading) {
      lines.push(JSON.parse(line) as Line);
      yield lines.at(-1) as Line;
    }
  })();
  try {
    await during(iterator);
  } finally {
    child.stdin.end();
  }
  for await (const _ of { [Symbol.asyncIterator]: () => iterator });
  const [code] = await ended;
  if (code !== 0) throw new Error(`the client has failed: ${errors}`);
  return lines;
}

/** Returns a port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { readonly port: number };
  server.close();
  await once(server, 'close');
  return port;
}
