/**
 * Cuts a long JSON list into pieces of whole items, by its bytes: looks at brackets, quotes and commas alone. What stands
 * between them is for whoever reads the pieces to check.
 */

/** Bytes of a piece, and a little more: to read it takes about a millisecond. */
export const PIECE_BYTES = 32 * 1024;
/** How much longer a piece may be that has a long item. */
const LONGER_MAX = 4;

export interface Piece {
  /** Where its items begin, and where they end: at a comma, or at the end of the list. */
  readonly start: number;
  readonly end: number;
  /** The index of its first item, and how many there are. */
  readonly first: number;
  readonly items: number;
}

export class ListPieces {
  readonly pieces: Piece[] = [];
  /** It is no list, or has an item that is too long for a piece: somebody else reads it. */
  isUnfit = false;
  readonly #bytes: Uint8Array;
  readonly #pieceBytes: number;
  #at: number;
  /** Where the items begin that are in no piece yet. */
  #start: number;
  #depth = 0;
  #isInText = false;
  #items = 0;

  constructor(bytes: Uint8Array, pieceBytes = PIECE_BYTES) {
    this.#bytes = bytes;
    this.#pieceBytes = pieceBytes;
    const first = behindBlanks(bytes, 0);
    this.isUnfit = bytes[first] !== OPEN_ARRAY;
    this.#at = first;
    this.#start = first + 1;
  }

  /** Items of all pieces. */
  get items(): number {
    return this.#items;
  }

  /** Looks at as much as a piece has; returns whether that was all. Throws a SyntaxError where the list does not end. */
  // hot
  cut(): boolean {
    const bytes = this.#bytes;
    const until = Math.min(this.#at + this.#pieceBytes, bytes.length);
    let [at, depth, isInText] = [this.#at, this.#depth, this.#isInText];
    while (at < until) {
      const byte = bytes[at++] as number;
      if (isInText) {
        if (byte === QUOTE) isInText = false;
        else if (byte === BACKSLASH) at++;
      } else if (byte === QUOTE) isInText = true;
      else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) depth++;
      else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) {
        depth--;
        if (depth === 0) return this.#finish(at - 1);
      } else if (byte === COMMA && depth === 1) this.#comma(at - 1);
    }
    [this.#at, this.#depth, this.#isInText] = [at, depth, isInText];
    if (at < bytes.length) return this.isUnfit;
    throw new SyntaxError('Unexpected end of JSON input');
  }

  #comma(at: number): void {
    this.#items++;
    if (at - this.#start > this.#pieceBytes) this.#add(at);
  }

  #finish(end: number): true {
    const bytes = this.#bytes;
    if (bytes[end] !== CLOSE_ARRAY) throw unexpected(bytes, end);
    const behind = behindBlanks(bytes, end + 1);
    if (behind < bytes.length) throw unexpected(bytes, behind);
    if (this.#items === 0 && behindBlanks(bytes, this.#start) === end) return true;
    this.#items++;
    this.#add(end);
    return true;
  }

  #add(end: number): void {
    const start = this.#start;
    const last = this.pieces.at(-1);
    const first = last === undefined ? 0 : last.first + last.items;
    if (end - start > LONGER_MAX * this.#pieceBytes) this.isUnfit = true;
    this.pieces.push({ start, end, first, items: this.#items - first });
    this.#start = end + 1;
  }
}

/** A piece as a list of its own. */
export class PieceBuffer {
  readonly #bytes: Buffer;

  constructor(pieceBytes = PIECE_BYTES) {
    this.#bytes = Buffer.alloc(LONGER_MAX * pieceBytes + 2);
  }

  /** The list, which is written over by the next one. */
  listOf({ start, end }: Piece, bytes: Uint8Array): Buffer {
    const list = this.#bytes.subarray(0, end - start + 2);
    list[0] = OPEN_ARRAY;
    list.set(bytes.subarray(start, end), 1);
    list[end - start + 1] = CLOSE_ARRAY;
    return list;
  }
}

function behindBlanks(bytes: Uint8Array, start: number): number {
  let at = start;
  while (isBlank(bytes[at])) at++;
  return at;
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function unexpected(bytes: Uint8Array, at: number): SyntaxError {
  return new SyntaxError(
    `Unexpected token ${JSON.stringify(String.fromCharCode(bytes[at] as number))} at position ${at}`,
  );
}

const [QUOTE, COMMA, BACKSLASH] = [0x22, 0x2c, 0x5c] as const;
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d] as const;
