/** What is shorter lies in memory of its own size: there may be many such bodies, and slow ones. */
const BLOCK_BYTES = 64 * 1024;
/** Blocks that are kept for the next body: 16 MiB. */
const SPARE_MAX = 256;

/**
 * Memory for large bodies that come in pieces, in blocks that are used again: memory that comes and goes with each piece
 * has to be cleared by the system, and its garbage to be collected.
 */
export class BodyBlocks {
  readonly #spare: Buffer[] = [];

  take(): Buffer {
    return this.#spare.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES);
  }

  /** Nobody looks at what is in the block any more. */
  give(block: Buffer): void {
    if (block.length === BLOCK_BYTES && this.#spare.length < SPARE_MAX) this.#spare.push(block);
  }
}

/** The pieces of one body, which are copied. */
export class BodyPieces {
  readonly #blocks: BodyBlocks;
  /** All but the last are full. */
  readonly #own: Buffer[] = [];
  /** Room in the last of them. */
  #room = 0;
  #length = 0;

  constructor(blocks: BodyBlocks) {
    this.#blocks = blocks;
  }

  append(piece: Uint8Array): void {
    let rest = piece;
    while (rest.length > 0) {
      if (this.#room === 0) this.#grow(rest.length);
      const block = this.#own.at(-1) as Buffer;
      const part = rest.subarray(0, this.#room);
      block.set(part, block.length - this.#room);
      this.#room -= part.length;
      this.#length += part.length;
      rest = rest.subarray(part.length);
    }
  }

  /** All of them as one, in memory of its own. The blocks are given back. */
  joined(): Uint8Array {
    const [only] = this.#own;
    const body = this.#own.length === 1 && only?.length === this.#length ? only : this.#concat();
    if (body !== only) this.clear();
    return body;
  }

  /** Gives the blocks back. */
  clear(): void {
    for (const block of this.#own.splice(0)) this.#blocks.give(block);
    this.#room = 0;
    this.#length = 0;
  }

  #grow(bytes: number): void {
    const isSmall = this.#length + bytes <= BLOCK_BYTES;
    const block = isSmall ? Buffer.allocUnsafeSlow(bytes) : this.#blocks.take();
    this.#own.push(block);
    this.#room = block.length;
  }

  #concat(): Buffer {
    const last = this.#own.at(-1);
    const parts = last === undefined ? [] : [...this.#own.slice(0, -1), last.subarray(0, last.length - this.#room)];
    return Buffer.concat(parts, this.#length);
  }
}
