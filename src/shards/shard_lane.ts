import { pack, type ShardReply, type ShardSettings, unpackShardReply } from '../../workers/protocol.ts';
import type { Item, LastKnownRow } from '../core/item.ts';
import { Lane } from '../lane/lane.ts';
import { openThread, type Thread } from '../lane/thread.ts';
import { Told } from './told.ts';

const SHARD_WORKER = new URL('../../workers/shard.ts', import.meta.url);

/** What a shard lane needs of the hub. */
export interface ShardLaneOptions {
  readonly name: string;
  readonly settings: ShardSettings;
  readonly capacity: number;
  readonly batchMax: number;
  /** Never falls. */
  now(): number;
  /** Last-known rows, for a worker that starts anew. */
  rows(): Promise<readonly LastKnownRow[]>;
  /** Takes what a batch has brought. The promise is what `settled` waits for besides. */
  outcome(reply: ShardReply): Promise<void> | undefined;
  /** An item that makes the worker fail again and again was given up. */
  lost(item: Item, error: unknown): void;
  /** The worker has failed and is started anew. */
  restarted(error: unknown): void;
}

/** A lane to the worker thread of one shard, which survives the death of the thread. */
export class ShardLane {
  readonly lane: Lane<Item, readonly ShardReply[]>;
  readonly #options: ShardLaneOptions;
  readonly #told = new Told();
  readonly #thread: Thread;
  /** The worker has failed: its state is not to be trusted. */
  #broken = false;
  #flush = false;

  constructor(options: ShardLaneOptions) {
    this.#options = options;
    this.#thread = openThread(SHARD_WORKER, { name: options.name, workerData: options.settings });
    const driver = {
      run: (items: readonly Item[]) => this.#run(items),
      outcome: (replies: readonly ShardReply[], items: readonly Item[]) => this.#take(replies, items),
      failure: (error: unknown, items: readonly Item[]) => this.#giveUp(error, items),
    };
    this.lane = new Lane(driver, { pendingMax: options.capacity, batchMax: options.batchMax });
  }

  /** Asks for the rows of all objects that have changed, with the next batch, which comes at once. */
  flush(): void {
    this.#flush = true;
    this.lane.wake();
  }

  /** Ends the worker thread at once, as a crash would; the next batch starts a new one. */
  kill(): Promise<void> {
    return this.#thread.kill();
  }

  close(): Promise<void> {
    return this.#thread.close();
  }

  async #run(items: readonly Item[]): Promise<readonly ShardReply[]> {
    try {
      if (this.#broken) await this.#revive();
      return [await this.#step(items)];
    } catch (error) {
      this.#broken = true;
      this.#options.restarted(error);
    }
    return this.#runCarefully(items);
  }

  /** Runs a batch that has failed again; halves it until the item that makes it fail stands alone, and drops that. */
  async #runCarefully(items: readonly Item[]): Promise<readonly ShardReply[]> {
    if (this.#broken) await this.#revive();
    try {
      return [await this.#step(items)];
    } catch (error) {
      this.#broken = true;
      if (items.length <= 1) {
        if (items[0] !== undefined) this.#options.lost(items[0], error);
        return [];
      }
    }
    const middle = items.length >> 1;
    const first = await this.#runCarefully(items.slice(0, middle));
    // What the first half has told the worker must be told again should the second half fail.
    this.#told.note(items.slice(0, middle));
    return [...first, ...(await this.#runCarefully(items.slice(middle)))];
  }

  async #step(items: readonly Item[]): Promise<ShardReply> {
    const rows = this.#flush ? 'all' : 'urgent';
    // Whoever asks from now on means a later batch.
    this.#flush = false;
    const bytes = pack({ nowMs: this.#options.now(), items, rows });
    try {
      return unpackShardReply(await this.#thread.run(bytes));
    } catch (error) {
      if (rows === 'all') this.#flush = true;
      throw error;
    }
  }

  /** Starts a new worker and tells it what the old one knew. What that brings about is known already. */
  async #revive(): Promise<void> {
    await this.#thread.kill();
    const nowMs = this.#options.now();
    const rows = (await this.#options.rows()).filter(({ kind, id }) => this.#told.has(kind, id));
    const items: Item[] = [...this.#told.items(nowMs), { kind: 'restore', seq: 0, receivedMs: nowMs, rows, holdMs: 0 }];
    await this.#thread.run(pack({ nowMs: 0, items: items.map((item) => ({ ...item, receivedMs: 0 })), rows: 'all' }));
    this.#broken = false;
  }

  #take(replies: readonly ShardReply[], items: readonly Item[]): Promise<void> | undefined {
    this.#told.note(items);
    const works = replies.map((reply) => this.#options.outcome(reply)).filter((work) => work !== undefined);
    return works.length === 0 ? undefined : Promise.all(works).then(() => undefined);
  }

  #giveUp(error: unknown, items: readonly Item[]): void {
    this.#broken = true;
    for (const item of items) this.#options.lost(item, error);
  }
}
