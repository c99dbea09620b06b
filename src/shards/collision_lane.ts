import { type CollisionReply, packForNow, unpackCollisionReply } from '../../workers/protocol.ts';
import { Lane } from '../lane/lane.ts';
import { openThread, type Thread, type ThreadMemory } from '../lane/thread.ts';
import type { Variant } from '../model/topics.ts';
import type { Zone } from '../model/zone.ts';

/** Motions that may wait before the hub takes no more locations. */
const WAITING_MAX_BYTES = 64 << 20;
const COLLISION_WORKER = new URL('../../workers/collision.ts', import.meta.url);

/** What the collision lane needs of the hub. */
export interface CollisionLaneOptions {
  /** Never falls. */
  now(): number;
  /** The earliest item that some shard has not done yet; undefined when all are done. */
  firstUndone(): { readonly seq: number; readonly receivedMs: number } | undefined;
  outcome(reply: CollisionReply): void;
  /** The worker has failed and is started anew. */
  restarted(error: unknown): void;
}

type Telling =
  | { readonly kind: 'motions'; readonly packed: Uint8Array }
  | { readonly kind: 'variants'; readonly variants: readonly Variant[] }
  | { readonly kind: 'zone'; readonly id: string; readonly zone: Zone | undefined };

/** The lane to the collision worker, which sees the motions of all shards. */
export class CollisionLane {
  readonly lane: Lane<Telling, CollisionReply>;
  readonly #options: CollisionLaneOptions;
  readonly #thread: Thread;
  readonly #zones = new Map<string, Zone>();
  #variants: readonly Variant[] = [];
  /** There was something to run: a hub without trackables needs no worker, and saves its memory. */
  #isNeeded = false;
  /** There is no worker yet, or it has failed and nobody knows what it knows. */
  #broken = true;
  #closed = false;
  #waiting = 0;
  #waitingBytes = 0;

  constructor(options: CollisionLaneOptions) {
    this.#options = options;
    this.#thread = openThread(COLLISION_WORKER, { isNeeded: false });
    const driver = {
      run: (tellings: readonly Telling[]) => this.#run(tellings),
      outcome: (reply: CollisionReply) => this.#take(reply),
      failure: (error: unknown) => {
        this.#broken = true;
        if (!this.#closed) options.restarted(error);
      },
    };
    this.lane = new Lane(driver, { pendingMax: Number.MAX_SAFE_INTEGER, batchMax: 256 });
  }

  /** Whether the stage keeps up with the shards. */
  get hasRoom(): boolean {
    return this.#waitingBytes < WAITING_MAX_BYTES;
  }

  /** Takes what a shard has moved, and goes on with what has waited for that shard. */
  shardDone(packed: Uint8Array | undefined): void {
    if (packed !== undefined) {
      this.#waitingBytes += packed.byteLength;
      // The bytes lie where those of the shard's next batch will.
      this.lane.push({ kind: 'motions', packed: new Uint8Array(packed) });
    } else if (this.#waiting > 0) this.lane.wake();
  }

  variants(variants: readonly Variant[]): void {
    this.#variants = variants;
    if (this.#isNeeded) this.lane.push({ kind: 'variants', variants });
  }

  zone(id: string, zone: Zone | undefined): void {
    if (zone === undefined) this.#zones.delete(id);
    else this.#zones.set(id, zone);
    if (this.#isNeeded) this.lane.push({ kind: 'zone', id, zone });
  }

  /** Motions that wait to be taken, in bytes as they are packed. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  memory(): Promise<ThreadMemory | undefined> {
    return this.#thread.memory();
  }

  /** Ends the worker thread at once, as a crash would; the next batch starts a new one. */
  kill(): Promise<void> {
    return this.#thread.kill();
  }

  close(): Promise<void> {
    this.#closed = true;
    return this.#thread.close();
  }

  async #run(tellings: readonly Telling[]): Promise<CollisionReply> {
    for (const telling of tellings) if (telling.kind === 'motions') this.#waitingBytes -= telling.packed.byteLength;
    try {
      if (!this.#broken) return await this.#step(tellings);
    } catch (error) {
      this.#noteFailure(error);
    }
    this.#isNeeded = true;
    // A new worker knows no trackables: it finds collisions again as they move.
    await this.#thread.restart();
    const known = [...this.#zones].map(([id, zone]): Telling => ({ kind: 'zone', id, zone }));
    const motions = tellings.filter(({ kind }) => kind === 'motions');
    const reply = await this.#step([{ kind: 'variants', variants: this.#variants }, ...known, ...motions]);
    this.#broken = false;
    return reply;
  }

  #noteFailure(error: unknown): void {
    if (this.#closed) throw error;
    this.#broken = true;
    this.#options.restarted(error);
  }

  async #step(tellings: readonly Telling[]): Promise<CollisionReply> {
    const first = this.#options.firstUndone();
    const nowMs = this.#options.now();
    const motions: Uint8Array[] = [];
    const zones: (readonly [string, Zone | undefined])[] = [];
    let variants: readonly Variant[] | undefined;
    for (const telling of tellings) {
      if (telling.kind === 'motions') motions.push(telling.packed);
      else if (telling.kind === 'zone') zones.push([telling.id, telling.zone]);
      else variants = telling.variants;
    }
    const bytes = packForNow({
      nowMs: first === undefined ? nowMs : Math.min(nowMs, first.receivedMs),
      completeTo: first?.seq ?? Number.MAX_SAFE_INTEGER,
      motions,
      variants,
      zones,
    });
    return unpackCollisionReply(await this.#thread.run(bytes));
  }

  #take(reply: CollisionReply): undefined {
    this.#waiting = reply.waiting;
    this.#options.outcome(reply);
  }
}
