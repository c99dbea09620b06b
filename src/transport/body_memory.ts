import { Budget } from './budget.ts';

/** Maximum number of bytes that the native server reads at once. */
const BLOCK_BYTES = 512 * 1024;
/** A body of at most that many bytes is stored in pieces as they come, a longer one in blocks. */
const SHORT_BYTES = 64 * 1024;
/** A block that was not needed for that long is released. */
const KEEP_MS = 10_000;

/**
 * Memory for request bodies that are being read, shared by all requests.
 *
 * The native server reads everything that has arrived on a connection before it serves the next one, and pausing a
 * connection does not stop that. So bodies sent by many clients at once are copied in one turn of the event loop.
 * Copying to memory that was never touched takes ten times as long, so long bodies are copied into blocks that are
 * reused. Pieces of their own would also leave holes in the memory of the process, which never returns to the system.
 */
export class BodyMemory {
  readonly maxBytes: number;
  readonly #budget: Budget;
  readonly #free: Uint8Array<ArrayBuffer>[] = [];
  /** Fewest blocks that were free since the last sweep. */
  #unneeded = 0;
  #sweeper: NodeJS.Timeout | undefined;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
    this.#budget = new Budget(blocksFor(maxBytes) * BLOCK_BYTES);
  }

  /** Number of free blocks. */
  get freeBlocks(): number {
    return this.#free.length;
  }

  /** Starts a body. */
  open(): StoredBody {
    return new StoredBody(this.#budget, {
      take: () => this.#take(),
      give: (blocks) => this.#give(blocks),
    });
  }

  #take(): Uint8Array<ArrayBuffer> {
    const block = this.#free.pop() ?? new Uint8Array(BLOCK_BYTES);
    this.#unneeded = Math.min(this.#unneeded, this.#free.length);
    return block;
  }

  #give(blocks: readonly Uint8Array<ArrayBuffer>[]): void {
    this.#free.push(...blocks);
    if (this.#free.length > 0) this.#sweeper ??= setTimeout(this.#sweep, KEEP_MS).unref();
  }

  readonly #sweep = (): void => {
    // Release the memory explicitly: garbage collection might be late, as the heap does not grow.
    for (const { buffer } of this.#free.splice(0, this.#unneeded)) buffer.transfer(0);
    this.#unneeded = this.#free.length;
    this.#sweeper = this.#free.length === 0 ? undefined : setTimeout(this.#sweep, KEEP_MS).unref();
  };
}

interface Blocks {
  take(): Uint8Array<ArrayBuffer>;
  give(blocks: readonly Uint8Array<ArrayBuffer>[]): void;
}

/** A body from its first piece until it is released. It reserves the bytes of its pieces, or of its blocks. */
export class StoredBody {
  readonly #budget: Budget;
  readonly #memory: Blocks;
  #reservedBytes = 0;
  #bytes = 0;
  #pieces: Uint8Array<ArrayBuffer>[] = [];
  /** All are full, except for the last. */
  #blocks: Uint8Array<ArrayBuffer>[] = [];
  #blockBytes = 0;
  /** The joined body, if it was in blocks. */
  #joined: ArrayBuffer | undefined;

  constructor(budget: Budget, memory: Blocks) {
    this.#budget = budget;
    this.#memory = memory;
  }

  /** Copies a piece, which is detached afterwards. Returns false if there is no memory for it. */
  append(piece: ArrayBuffer): boolean {
    const bytes = this.#bytes + piece.byteLength;
    const isShort = bytes <= SHORT_BYTES;
    if (!this.#reserve(isShort ? bytes : blocksFor(bytes) * BLOCK_BYTES)) return false;
    this.#bytes = bytes;
    if (isShort) this.#pieces.push(new Uint8Array(piece.slice(0)));
    else {
      for (const early of this.#pieces.splice(0)) this.#fill(early);
      this.#fill(new Uint8Array(piece));
    }
    return true;
  }

  /** Joins all pieces, and returns the blocks. The result is valid until the body is released. */
  join(): Uint8Array {
    const [first] = this.#pieces;
    if (first !== undefined && this.#pieces.length === 1) return first;
    const body = new Uint8Array(this.#bytes);
    let at = 0;
    for (const part of first === undefined ? this.#blocks : this.#pieces) {
      body.set(part.subarray(0, this.#bytes - at), at);
      at += part.byteLength;
    }
    if (first === undefined) this.#joined = body.buffer;
    this.#returnBlocks();
    this.#reserve(this.#bytes);
    return body;
  }

  /** Frees the body, which is not read any more. */
  release(): void {
    this.#returnBlocks();
    this.#reserve(0);
    this.#pieces = [];
    // At once: megabytes outside the heap would have all of it marked to be collected.
    if (this.#joined?.detached === false) this.#joined.transfer(0);
    this.#joined = undefined;
  }

  #reserve(bytes: number): boolean {
    const more = bytes - this.#reservedBytes;
    if (more > 0 && !this.#budget.take(more)) return false;
    if (more < 0) this.#budget.give(-more);
    this.#reservedBytes = bytes;
    return true;
  }

  #fill(piece: Uint8Array): void {
    for (let read = 0; read < piece.byteLength; ) {
      const at = this.#blockBytes % BLOCK_BYTES;
      if (at === 0) this.#blocks.push(this.#memory.take());
      const part = piece.subarray(read, read + BLOCK_BYTES - at);
      this.#blocks.at(-1)?.set(part, at);
      read += part.byteLength;
      this.#blockBytes += part.byteLength;
    }
  }

  #returnBlocks(): void {
    this.#memory.give(this.#blocks);
    this.#blocks = [];
  }
}

function blocksFor(bytes: number): number {
  return Math.ceil(bytes / BLOCK_BYTES);
}
