import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleOf, ensureBundled } from '../../src/bundle.mjs';
import { HUB_ENV, HUB_NODE_ARGS } from '../../src/launch.mjs';

const MAIN = bundleOf('src/main.ts');
const RUNNING = /API +http:\/\/\S+:(\d+)\/hub\/v2/;

/** Settings of the hub by their names in hub_config.yaml. */
export type HubSettings = Readonly<Record<string, string | number | boolean>>;

/** The hub as a user starts it: its real entry point in a separate process with its own folder. */
export class BenchHub {
  readonly folder: string;
  readonly #child: ChildProcess;
  readonly #gone: Promise<unknown>;
  readonly #keepFolder: boolean;
  #said = '';
  port = 0;

  private constructor(folder: string | undefined, { settings, nodeArgs }: StartOptions) {
    this.#keepFolder = folder !== undefined;
    this.folder = folder ?? mkdtempSync(join(tmpdir(), 'hub-bench-'));
    const env: Record<string, string> = { HUB_CONFIG_PATH: this.folder, HUB_PORT: '0', HUB_SEVERITY_LEVEL: 'Warning' };
    for (const [name, value] of Object.entries(settings ?? {})) env[`HUB_${name.toUpperCase()}`] = String(value);
    this.#child = spawn(process.execPath, [...HUB_NODE_ARGS, ...(nodeArgs ?? []), MAIN], {
      env: { ...HUB_ENV, ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#gone = once(this.#child, 'exit');
    process.on('exit', this.#kill);
  }

  /** Starts a hub and waits until it listens. A given folder is used, and not deleted when the hub is stopped. */
  static async start(options: StartOptions = {}): Promise<BenchHub> {
    await ensureBundled();
    const hub = new BenchHub(options.folder, options);
    await hub.#listening();
    return hub;
  }

  get pid(): number {
    return this.#child.pid as number;
  }

  /** Stops the hub, waits for its exit, and removes its folder. */
  async stop(): Promise<void> {
    this.#child.kill('SIGTERM');
    await this.#gone;
    process.off('exit', this.#kill);
    this.#removeFolder();
  }

  /** An aborted benchmark leaves neither processes nor folders behind. */
  readonly #kill = (): void => {
    this.#child.kill('SIGKILL');
    this.#removeFolder();
  };

  #removeFolder(): void {
    if (!this.#keepFolder) rmSync(this.folder, { recursive: true, force: true });
  }

  async #listening(): Promise<void> {
    const output = this.#child.stdout as NodeJS.ReadableStream;
    await new Promise<void>((resolve, reject) => {
      output.on('data', (text: Buffer) => {
        if (this.port !== 0) return;
        this.#said += text;
        this.port = Number(RUNNING.exec(this.#said)?.[1] ?? 0);
        if (this.port !== 0) resolve();
      });
      void this.#gone.then(() => reject(new Error('Cannot run the benchmark: the hub has ended at its start')));
    });
  }
}

export interface StartOptions {
  readonly folder?: string;
  readonly settings?: HubSettings;
  /** Options of Node, for example for profiling. */
  readonly nodeArgs?: readonly string[];
}
