import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { natsProgram } from '../../bench/process/nats_program.ts';

const COMMAND = fileURLToPath(new URL('cluster_command.ts', import.meta.url));

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

const running = new Set<() => void>();
after(() => {
  for (const kill of running) kill();
});

async function run(args: readonly string[], env: NodeJS.ProcessEnv = {}, onLine?: (line: string, pid: number) => void) {
  const child = spawn(process.execPath, [COMMAND, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const kill = (): void => void child.kill('SIGTERM');
  running.add(kill);
  child.once('exit', () => running.delete(kill));
  child.stdout.on('data', (lines: Buffer) => {
    for (const line of lines.toString().split('\n')) onLine?.(line, child.pid ?? 0);
  });
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code, out, err } as Ended;
}

const program = await natsProgram();
const skip = 'missing' in program ? `no nats-server: ${program.missing}` : false;

test('npm run cluster kills an owner, prints the time of the takeover, loses nothing, and cleans up', {
  skip,
}, async () => {
  const { code, out, err } = await run(['--nats', '1', '--kill-after', '0', '--no-demo', '--port', '0']);
  assert.equal(code, 0, out + err);
  const [, pid] = /^Killed hub-\d, which owned \d+ of 256 partitions \(process (\d+)\)$/m.exec(out) ?? [];
  const [, base] = /^ {2}API +(http\S+)$/m.exec(out) ?? [];
  assert.match(out, /^All locations are answered again after \d+\.\d\d s$/m);
  assert.match(out, /^Nothing acknowledged was lost: 20 of 20 providers compared$/m);
  assert.ok(!existsSync(`/proc/${pid}`));
  await assert.rejects(fetch(`${base}/zones`));
});

test('npm run cluster stops all its processes on SIGTERM, also while it is starting', { skip }, async () => {
  const { code, out } = await run(['--nats', '1', '--no-demo', '--port', '0'], {}, (line, pid) => {
    if (line.startsWith('Starting 2 hubs')) process.kill(pid, 'SIGTERM');
  });
  assert.equal(code, 0, out);
  assert.doesNotMatch(out, /is running/);
});

const taken = createServer().listen(0, '127.0.0.1');
await once(taken, 'listening');
after(() => taken.close());
const { port } = taken.address() as { readonly port: number };

const REFUSED: readonly (readonly [what: string, args: readonly string[], env: NodeJS.ProcessEnv, said: string])[] = [
  [
    'a flag that it does not have',
    ['--hub', '3'],
    {},
    "Unknown option '--hub'. Flags: --hubs COUNT --nats 1|3 --port PORT --no-demo --kill-after SECONDS",
  ],
  ['two NATS servers', ['--nats', '2'], {}, '--nats must be 1 or 3, found 2'],
  [
    'one hub that is to be killed',
    ['--hubs', '1', '--kill-after', '1'],
    {},
    '--hubs must be a whole number of 2 to 8, found 1',
  ],
  ['an invalid number', ['--port', 'x'], {}, '--port must be a whole number of 0 to 65535, found x'],
  ['a port in use', ['--port', `${port}`], {}, `Cannot listen on port ${port}: it is in use; --port names another`],
  [
    'a server that does not run',
    ['--port', '0'],
    { NATS_SERVER: '/none' },
    'Cannot run NATS servers: NATS_SERVER names /none, which does not run',
  ],
];

for (const [what, args, env, said] of REFUSED) {
  test(`npm run cluster rejects ${what} in one line`, async () => {
    const { code, err } = await run(args, env);
    assert.deepEqual([code, err], [1, `${said}\n`]);
  });
}
