import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

// The builder is plain JavaScript, so its type is declared here.
const builder = (await import(new URL('../../src/build_ui.mjs', import.meta.url).href)) as { ensureBuilt(): void };

/** Builds the web UI if necessary. */
export const ensureBuilt = builder.ensureBuilt;

/** A hub in a separate process, on a free port. */
export class HubChild {
  readonly #child: ChildProcess;
  /** `http://127.0.0.1:port/hub/v2` */
  readonly base: string;

  private constructor(child: ChildProcess, base: string) {
    this.#child = child;
    this.base = base;
  }

  /** `settings`: as environment variables. */
  static async start(folder: string, settings: Readonly<Record<string, string>> = {}): Promise<HubChild> {
    const env = { ...process.env, ...settings, HUB_CONFIG_PATH: folder, HUB_PORT: '0' };
    const child = spawn(process.execPath, [MAIN], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    let said = '';
    return new Promise((resolve, reject) => {
      child.stdout.on('data', (chunk) => {
        said += String(chunk);
        const found = /API +(http:\S+)/.exec(said);
        if (found !== null) resolve(new HubChild(child, found[1] ?? ''));
      });
      child.on('exit', (code) => reject(new Error(`Cannot start the hub: it has ended with code ${code}`)));
    });
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGTERM');
    await once(this.#child, 'exit');
  }
}
