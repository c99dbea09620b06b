import { Budget } from './budget.ts';

/** Most bytes that the native server reads at once. */
const BLOCK_BYTES = 512 * 1024;
/** Shorter pieces are not stored in blocks. */
const LONG_BYTES = 256 * 1024;
/** A block that was not needed for that long is released. */
const KEEP_MS = 10_000;

/**
 * Memory for request bodies that are being read, shared by all requests.
 *
 * The native server reads everything that has arrived on a connection before it serves the next one, and pausing a
 * connection does not stop that. So bodies sent by many clients at once are copied in one turn of the event loop.
 * Copying to memory that was never touched takes ten times as long, so long pieces are copied into blocks that are
 * reused.
 */
export class BodyMemory {
  readonly #budget: Budget;
  readonly #free: Uint8Array<ArrayBuffer>[] = [];
  /** Fewest blocks that were free since the last sweep. */
  #unneeded = 0;
  #sweeper: NodeJS.Timeout | undefined;

  constructor(maxBytes: number) {
    this.#budget = new Budget(maxBytes);
  }

  get maxBytes(): number {
    return this.#budget.maxBytes;
  }

  /** Number of free blocks. */
  get freeBlocks(): number {
    return this.#free.length;
  }

  /** Copies a piece of a body. Undefined if there is no memory for it. */
  copy(piece: ArrayBuffer): Uint8Array | undefined {
    const bytes = piece.byteLength;
    if (!this.#budget.take(bytes)) return undefined;
    if (bytes < LONG_BYTES || bytes > BLOCK_BYTES) return new Uint8Array(piece.slice(0));
    const block = this.#free.pop() ?? new Uint8Array(BLOCK_BYTES);
    this.#unneeded = Math.min(this.#unneeded, this.#free.length);
    block.set(new Uint8Array(piece));
    return block.subarray(0, bytes);
  }

  /** Joins the pieces of a body and frees them. The result counts as much as they did. */
  join(pieces: readonly Uint8Array[], bytes: number): Uint8Array {
    const [first] = pieces;
    if (pieces.length === 1 && first !== undefined && !isBlock(first)) return first;
    const body = Buffer.concat(pieces, bytes);
    this.give(pieces, 0);
    return body;
  }

  /** Frees pieces, and `bytes` of the budget. */
  give(pieces: readonly Uint8Array[], bytes: number): void {
    this.#budget.give(bytes);
    for (const piece of pieces) if (isBlock(piece)) this.#free.push(new Uint8Array(piece.buffer as ArrayBuffer));
    if (this.#free.length > 0) this.#sweeper ??= setTimeout(this.#sweep, KEEP_MS).unref();
  }

  readonly #sweep = (): void => {
    // Release the memory explicitly: garbage collection might be late, as the heap does not grow.
    for (const { buffer } of this.#free.splice(0, this.#unneeded)) buffer.transfer(0);
    this.#unneeded = this.#free.length;
    this.#sweeper = this.#free.length === 0 ? undefined : setTimeout(this.#sweep, KEEP_MS).unref();
  };
}

function isBlock({ buffer, byteLength }: Uint8Array): boolean {
  return buffer.byteLength === BLOCK_BYTES && byteLength >= LONG_BYTES;
}
