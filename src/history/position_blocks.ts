import { POSITION_TOPICS, type PositionTopic } from '../core/history_rows.ts';

/** Size of a block, and maximum number of blocks. */
const [BLOCK_BYTES, BLOCKS_MAX] = [4 << 20, 12] as const;

/** Header of a step's positions in a block: u32 number of the shard, u32 bytes. */
const HEAD_BYTES = 8;

/** Positions of a step in a block: their shard and range. */
export interface StepInBlock {
  readonly shard: number;
  readonly from: number;
  readonly to: number;
}

/** Yields the steps in the first `bytes` bytes of a block, in order. */
export function* stepsIn(words: Uint32Array, bytes: number): Generator<StepInBlock> {
  for (let at = 0; at < bytes; ) {
    const from = at + HEAD_BYTES;
    const to = from + (words[(at >> 2) + 1] as number);
    yield { shard: words[at >> 2] as number, from, to };
    at = to;
  }
}

/**
 * Pool of shared memory blocks that carry positions to the recorder's thread. Sending a position costs one copy of its
 * bytes and creates no garbage. While all blocks are in transit, positions are dropped and counted.
 */
export class PositionBlocks {
  readonly dropped: Record<PositionTopic, number> = { locations: 0, motions: 0 };
  /** Positions sent to the current thread. */
  readonly sent: Record<PositionTopic, number> = { locations: 0, motions: 0 };
  readonly #send: (block: number, memory: SharedArrayBuffer, bytes: number) => void;
  readonly #memories: SharedArrayBuffer[] = [];
  readonly #free: number[] = [];
  #current: number | undefined;
  #used = 0;
  /** Blocks that the thread has not returned yet. */
  #inFlight = 0;
  /** Positions in the current block. */
  readonly #counts: Record<PositionTopic, number> = { locations: 0, motions: 0 };
  #isBegun = false;

  constructor(send: (block: number, memory: SharedArrayBuffer, bytes: number) => void) {
    this.#send = send;
  }

  /** Resets the state for a new thread, which has no blocks yet. */
  begin(): void {
    this.#isBegun = true;
    this.sent.locations = 0;
    this.sent.motions = 0;
    this.#inFlight = 0;
    this.#free.length = 0;
    for (let block = 0; block < this.#memories.length; block++) if (block !== this.#current) this.#free.push(block);
  }

  /** Adds the positions of a shard's step (core/history_rows.ts). `counts` are their numbers by topic. */
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
   * Sends the current block and returns true, unless earlier blocks are still in transit. Then the block continues to
   * fill: otherwise a busy or starting thread would soon hold all blocks, each nearly empty.
   */
  offer(): boolean {
    if (this.#inFlight > 0) return false;
    this.flush();
    return true;
  }

  /** Sends the current block. */
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

  /** Handles a block that the thread has returned. */
  taken(block: number): void {
    this.#inFlight--;
    this.#free.push(block);
  }

  /** Returns a free block with room for `bytes` bytes; undefined if all blocks are in use. */
  #next(bytes: number): number | undefined {
    if (!this.#isBegun) return undefined;
    const free = this.#free.pop();
    const block = free ?? (this.#memories.length < BLOCKS_MAX ? this.#memories.length : undefined);
    if (block === undefined) return undefined;
    const memory = this.#memories[block];
    // A step larger than a block is rare, so its block stays larger.
    if (memory === undefined || memory.byteLength < bytes) {
      this.#memories[block] = new SharedArrayBuffer(Math.max(BLOCK_BYTES, bytes));
    }
    return block;
  }
}
