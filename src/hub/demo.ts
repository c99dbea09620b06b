import { Worker } from 'node:worker_threads';
import type { DemoDeps } from '../api/deps.ts';
import type { Entities } from '../entities/entities.ts';
import { hubError } from '../errors.ts';
import type { HandleHttp, HttpRequest } from '../exchange.ts';
import { lend } from '../model/borrowed.ts';
import type { Demo, DemoState, DemoTask, FromDemoThread, ToDemoThread } from '../model/demo.ts';
import { demoId, isDemoId } from '../model/demo_id.ts';

const DEMO_WORKER = new URL('../../workers/demo.ts', import.meta.url);
const HEAP_MB = { maxOldGenerationSizeMb: 64 };
/** Kinds of entities of the demo site. Its locations create the providers. */
const SITE_KINDS = ['zone', 'fence', 'trackable'] as const;

export interface DemoOptions {
  readonly entities: Entities;
  /** The API with full access, since the permission to start the demo was checked before. */
  readonly handle: HandleHttp;
  warn(text: string, facts: object): void;
}

/**
 * The demo in this hub: a thread that acts as an ordinary client of the API and exists only while the demo runs. The
 * demo never starts automatically, so it is stopped after a start of the hub. `stop` also removes the site of an
 * earlier run.
 *
 *   state     signal                             next
 *   --------  ---------------------------------  ------------------------------------------
 *   stopped   start                              starting
 *   stopped   stop, if its site exists           stopping
 *   starting  its site is created                running
 *   any       stop                               stopping
 *   running   its zone was deleted               stopping: another hub or a user stopped it
 *   any       the thread has exited              stopped
 */
export class HubDemo implements DemoDeps {
  readonly #options: DemoOptions;
  #state: DemoState = 'stopped';
  #error: string | undefined;
  #worker: Worker | undefined;
  #ended: Promise<void> = Promise.resolve();

  constructor(options: DemoOptions) {
    this.#options = options;
  }

  get current(): Demo {
    const { entities } = this.#options;
    const isThere = SITE_KINDS.some((kind) => entities.list(kind).some(({ id }) => isDemoId(id)));
    return { state: this.#state, is_there: isThere, ...(this.#error !== undefined && { error: this.#error }) };
  }

  start({ beside }: { readonly beside: boolean }): Demo {
    if (this.#state === 'starting' || this.#state === 'running') return this.current;
    if (this.#state === 'stopping') throw hubError('demo_stopping');
    if (!beside) this.#refuseBesideSite();
    this.#open('run');
    return this.current;
  }

  async stop(): Promise<void> {
    if (this.#worker !== undefined) this.#tellToStop();
    else if (this.current.is_there) this.#open('remove');
    await this.#ended;
    if (this.#error !== undefined) throw hubError('demo_failed', {}, { detail: this.#error });
  }

  /** Terminates the thread, without removing its site. */
  async close(): Promise<void> {
    await this.#worker?.terminate();
    await this.#ended;
  }

  #refuseBesideSite(): void {
    const { entities } = this.#options;
    for (const kind of SITE_KINDS) {
      const others = entities.list(kind).filter(({ id }) => !isDemoId(id)).length;
      if (others === 0) continue;
      throw hubError('site_exists', { path: 'beside', unit: `${kind}s`, count: others });
    }
  }

  #open(task: DemoTask['task']): void {
    this.#error = undefined;
    this.#state = task === 'run' ? 'starting' : 'stopping';
    const worker = new Worker(DEMO_WORKER, {
      name: 'demo',
      workerData: { task } satisfies DemoTask,
      resourceLimits: HEAP_MB,
    });
    this.#worker = worker;
    worker.on('message', (message: FromDemoThread) => this.#receive(message));
    worker.on('error', (error) => this.#failed(String(error)));
    this.#ended = new Promise((resolve) => {
      worker.once('exit', () => {
        this.#worker = undefined;
        this.#state = 'stopped';
        resolve();
      });
    });
  }

  #receive(message: FromDemoThread): void {
    if (message.say === 'failed') this.#failed(message.why);
    else if (message.say === 'request') void this.#answer(message);
    else if (this.#state === 'starting') this.#state = 'running';
  }

  #failed(why: string): void {
    this.#error = why;
    this.#options.warn('The demo has failed', { error: why });
  }

  #tellToStop(): void {
    this.#state = 'stopping';
    this.#worker?.postMessage({ say: 'stop' } satisfies ToDemoThread);
  }

  async #answer({ id, method, path, body }: FromDemoThread & { readonly say: 'request' }): Promise<void> {
    // Without this, the next locations would create the providers again.
    if (this.#state === 'running' && !this.#options.entities.has('zone', demoId('zone', 1))) this.#tellToStop();
    const reply = await this.#replyTo(method, path, body);
    this.#worker?.postMessage({ say: 'reply', id, ...reply } satisfies ToDemoThread);
  }

  async #replyTo(method: string, path: string, body = ''): Promise<{ readonly status: number; readonly text: string }> {
    try {
      const bytes = lend(new TextEncoder().encode(body));
      const url = { path: `/hub/v2${path}`, query: '' };
      const request: HttpRequest = { method, ...url, header: () => undefined, body: bytes, via: 'demo' };
      const { status, body: text } = await this.#options.handle(request);
      return { status, text: typeof text === 'string' ? text : '' };
    } catch (error) {
      return { status: 500, text: String(error) };
    }
  }
}
