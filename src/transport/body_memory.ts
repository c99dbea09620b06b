import { Budget } from './budget.ts';

/** Size of a block: the maximum number of bytes that the native server reads at once. */
const BLOCK_BYTES = 512 * 1024;
/** Maximum size of a body that is stored in pieces as received. Longer bodies are stored in blocks. */
const SHORT_BYTES = 64 * 1024;
/** Time after which an unused block is released. */
const KEEP_MS = 10_000;

/**
 * Memory for request bodies that are being received, shared by all requests.
 *
 * The native server reads all bytes that have arrived on a connection before it serves the next one, even if the
 * connection is paused. So bodies that many clients send concurrently are copied in one turn of the event loop. Copying
 * to memory that was never written takes ten times as long, so long bodies are copied to reusable blocks. Separate
 * allocations would also fragment the memory of the process, which would not return to the system.
 */
export class BodyMemory {
  readonly maxBytes: number;
  readonly #budget: Budget;
  readonly #free: Uint8Array<ArrayBuffer>[] = [];
  /** Minimum number of free blocks since the last sweep. */
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

  /** Creates an empty body. */
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
    // Releases the memory explicitly, since garbage collection might be late: the heap does not grow.
    for (const { buffer } of this.#free.splice(0, this.#unneeded)) buffer.transfer(0);
    this.#unneeded = this.#free.length;
    this.#sweeper = this.#free.length === 0 ? undefined : setTimeout(this.#sweep, KEEP_MS).unref();
  };
}

interface Blocks {
  take(): Uint8Array<ArrayBuffer>;
  give(blocks: readonly Uint8Array<ArrayBuffer>[]): void;
}

/** A body from its first piece until its release. Reserves the bytes of its pieces or blocks. */
export class StoredBody {
  readonly #budget: Budget;
  readonly #memory: Blocks;
  #reservedBytes = 0;
  #bytes = 0;
  #pieces: Uint8Array<ArrayBuffer>[] = [];
  /** Blocks, all of them full except the last. */
  #blocks: Uint8Array<ArrayBuffer>[] = [];
  #blockBytes = 0;
  /** The joined body, if it was stored in blocks. */
  #joined: ArrayBuffer | undefined;

  constructor(budget: Budget, memory: Blocks) {
    this.#budget = budget;
    this.#memory = memory;
  }

  /**
   * Appends a copy of a piece, which the native server detaches afterwards. Returns false if the memory is exhausted.
   */
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

  /** Joins all pieces and returns the blocks to the pool. The result is valid until the body is released. */
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

  /** Frees the body, which must not be read any more. */
  release(): void {
    this.#returnBlocks();
    this.#reserve(0);
    this.#pieces = [];
    // Frees the memory immediately, since megabytes outside the heap would trigger a full garbage collection.
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
