import { POSITION_TOPICS, type PositionTopic } from '../core/history_rows.ts';

/** Memory of a block, and how many there may be. */
const [BLOCK_BYTES, BLOCKS_MAX] = [4 << 20, 12] as const;

/** In front of a step's places in a block: u32 number of the shard, u32 bytes. */
const HEAD_BYTES = 8;

/** The places of a step in a block: whose they are, and where they lie. */
export interface StepInBlock {
  readonly shard: number;
  readonly from: number;
  readonly to: number;
}

/** The steps in so many bytes of a block, in order. */
export function* stepsIn(words: Uint32Array, bytes: number): Generator<StepInBlock> {
  for (let at = 0; at < bytes; ) {
    const from = at + HEAD_BYTES;
    const to = from + (words[(at >> 2) + 1] as number);
    yield { shard: words[at >> 2] as number, from, to };
    at = to;
  }
}

/**
 * Places on their way to the recorder's thread, in blocks of memory that both share and that are used again: to hand them on
 * costs one copy of their bytes, and no garbage. When all blocks are on their way, places are dropped, and counted.
 */
export class PlaceBlocks {
  readonly dropped: Record<PositionTopic, number> = { locations: 0, motions: 0 };
  /** How many were handed on to the thread that there is. */
  readonly sent: Record<PositionTopic, number> = { locations: 0, motions: 0 };
  readonly #send: (block: number, memory: SharedArrayBuffer, bytes: number) => void;
  readonly #memories: SharedArrayBuffer[] = [];
  readonly #free: number[] = [];
  #current: number | undefined;
  #used = 0;
  /** Blocks that the thread has yet to give back. */
  #inFlight = 0;
  /** Of those in the current block. */
  readonly #counts: Record<PositionTopic, number> = { locations: 0, motions: 0 };
  #isBegun = false;

  constructor(send: (block: number, memory: SharedArrayBuffer, bytes: number) => void) {
    this.#send = send;
  }

  /** There is another thread, which has no block yet. */
  begin(): void {
    this.#isBegun = true;
    this.sent.locations = 0;
    this.sent.motions = 0;
    this.#inFlight = 0;
    this.#free.length = 0;
    for (let block = 0; block < this.#memories.length; block++) if (block !== this.#current) this.#free.push(block);
  }

  /** Adds the places of a shard's step (core/history_rows.ts), of which there are so many. */
  // hot
  add(shard: number, bytes: Uint8Array, counts: Readonly<Record<PositionTopic, number>>): void {
    const size = HEAD_BYTES + bytes.length;
    if (this.#used + size > BLOCK_BYTES) this.flush();
    this.#current ??= this.#next(size);
    if (this.#current === undefined) {
      this.dropped.locations += counts.locations;
      this.dropped.motions += counts.motions;
      return;
    }
    const memory = this.#memories[this.#current] as SharedArrayBuffer;
    new Uint32Array(memory, this.#used, 2).set([shard, bytes.length]);
    new Uint8Array(memory).set(bytes, this.#used + HEAD_BYTES);
    this.#used += size;
    this.#counts.locations += counts.locations;
    this.#counts.motions += counts.motions;
  }

  /**
   * Hands on what was added, and returns true, unless the thread has yet to take what came before: then the block goes on
   * filling, since a thread that is busy, or about to start, would soon have all of them with little in each.
   */
  offer(): boolean {
    if (this.#inFlight > 0) return false;
    this.flush();
    return true;
  }

  /** Hands on what was added. */
  flush(): void {
    const block = this.#current;
    if (block === undefined || this.#used === 0) return;
    this.#inFlight++;
    this.#send(block, this.#memories[block] as SharedArrayBuffer, this.#used);
    this.#current = undefined;
    this.#used = 0;
    for (const topic of POSITION_TOPICS) {
      this.sent[topic] += this.#counts[topic];
      this.#counts[topic] = 0;
    }
  }

  /** The thread is done with a block. */
  taken(block: number): void {
    this.#inFlight--;
    this.#free.push(block);
  }

  /** A block with so much room at least; undefined where there is none. */
  #next(bytes: number): number | undefined {
    if (!this.#isBegun) return undefined;
    const free = this.#free.pop();
    const block = free ?? (this.#memories.length < BLOCKS_MAX ? this.#memories.length : undefined);
    if (block === undefined) return undefined;
    const memory = this.#memories[block];
    // A step that does not fit is rare: its block stays larger.
    if (memory === undefined || memory.byteLength < bytes) {
      this.#memories[block] = new SharedArrayBuffer(Math.max(BLOCK_BYTES, bytes));
    }
    return block;
  }
}
