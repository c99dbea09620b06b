import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from './free_port.ts';
import { listens } from './listens.ts';

/** Path of mosquitto, or undefined. Debian installs it on root's path only. */
export const MOSQUITTO = ['mosquitto', '/usr/sbin/mosquitto'].find(
  (command) => spawnSync(command, ['-h']).error === undefined,
);

const START_MS = 15_000;
const LOOK_MS = 20;

/** A mosquitto on 127.0.0.1 without persistence and limits. Its process ends with this one. */
export class Mosquitto {
  readonly port: number;
  readonly #folder = mkdtempSync(join(tmpdir(), 'hub-mosquitto-'));
  readonly #child: ChildProcess;

  private constructor(port: number) {
    this.port = port;
    const file = join(this.#folder, 'mosquitto.conf');
    const lines = [`listener ${port} 127.0.0.1`, 'allow_anonymous true', 'user root', 'persistence false'];
    const unbounded = ['max_inflight_messages 0', 'max_queued_messages 0', 'set_tcp_nodelay true'];
    writeFileSync(file, `${[...lines, ...unbounded].join('\n')}\n`);
    this.#child = spawn(MOSQUITTO as string, ['-c', file], { stdio: 'ignore' });
    process.on('exit', this.#kill);
  }

  /** Starts it on a free port and waits until it listens. */
  static async start(): Promise<Mosquitto> {
    const broker = new Mosquitto(await freePort());
    const untilMs = performance.now() + START_MS;
    while (!(await listens(broker.port))) {
      if (broker.#child.exitCode !== null || performance.now() > untilMs) throw new Error('Mosquitto does not start');
      await delay(LOOK_MS);
    }
    return broker;
  }

  get pid(): number {
    return this.#child.pid as number;
  }

  /** Suspends it: connections stay open, and are not read. */
  pause(): void {
    this.#child.kill('SIGSTOP');
  }

  resume(): void {
    this.#child.kill('SIGCONT');
  }

  async stop(): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#kill();
    await ended;
    process.off('exit', this.#kill);
  }

  /** An aborted benchmark leaves neither processes nor folders behind. */
  readonly #kill = (): void => {
    this.#child.kill('SIGKILL');
    rmSync(this.#folder, { recursive: true, force: true });
  };
}
