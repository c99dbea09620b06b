import type { EventBlock } from '../core/entity_write.ts';

/** Bytes of each half. */
const HALF_BYTES = 2 << 20;

interface Half {
  readonly bytes: Uint8Array;
  size: number;
  blocks: EventBlock[];
}

/**
 * The newest blocks of the event log, as copies in two halves of memory: when one is full, the older one is reused. So
 * blocks leave no garbage. Read their bytes before control returns to the event loop.
 */
export class RecentBlocks {
  #older = newHalf();
  #newer = newHalf();
  /** Position after which all blocks are here. */
  #from: number;

  constructor(from: number) {
    this.#from = from;
  }

  get oldestMs(): number | undefined {
    return (this.#older.blocks[0] ?? this.#newer.blocks[0])?.timeMs;
  }

  /** Appends a block. A block that is longer than a half is left out, with all before it. */
  add(block: EventBlock): void {
    const { first, count, bytes } = block;
    if (bytes.length > HALF_BYTES) {
      this.clear(first + count - 1);
      return;
    }
    if (this.#newer.size + bytes.length > HALF_BYTES) this.#reuseOlder();
    const { bytes: own, size, blocks } = this.#newer;
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).copy(own, size);
    this.#newer.size += bytes.length;
    blocks.push({ ...block, bytes: own.subarray(size, this.#newer.size) });
  }

  /** Forgets all blocks. Those after a position follow. */
  clear(from: number): void {
    for (const half of [this.#older, this.#newer]) empty(half);
    this.#from = from;
  }

  /** Returns the blocks with events after a position; undefined if older ones have been forgotten. */
  after(position: number): readonly EventBlock[] | undefined {
    if (position < this.#from) return undefined;
    return [...this.#older.blocks, ...this.#newer.blocks].filter(({ first, count }) => first + count - 1 > position);
  }

  #reuseOlder(): void {
    const last = this.#older.blocks.at(-1);
    if (last !== undefined) this.#from = last.first + last.count - 1;
    [this.#older, this.#newer] = [this.#newer, this.#older];
    empty(this.#newer);
  }
}

function newHalf(): Half {
  return { bytes: new Uint8Array(HALF_BYTES), size: 0, blocks: [] };
}

function empty(half: Half): void {
  half.size = 0;
  half.blocks = [];
}
