/**
 * Splits the bytes of a long JSON list into pieces of whole items. Only brackets, quotes and commas are inspected; the
 * reader of the pieces validates the rest.
 */

/** Approximate size of a piece in bytes, which takes about a millisecond to read. */
export const PIECE_BYTES = 32 * 1024;
/** Maximum size of a piece with a long item, as a multiple of the piece size. */
const LONGER_MAX = 4;

export interface Piece {
  /** Offset of the first item, and offset after the last item: a comma or the end of the list. */
  readonly start: number;
  readonly end: number;
  /** Index of the first item, and number of items. */
  readonly first: number;
  readonly items: number;
}

export class ListPieces {
  readonly pieces: Piece[] = [];
  /** Whether the body cannot be split, because it is not a list or has an item that is too long for a piece. */
  isUnsupported = false;
  readonly #bytes: Uint8Array;
  readonly #pieceBytes: number;
  #at: number;
  /** Offset of the next piece's first item. */
  #start: number;
  #depth = 0;
  #isInString = false;
  #items = 0;

  constructor(bytes: Uint8Array, pieceBytes = PIECE_BYTES) {
    this.#bytes = bytes;
    this.#pieceBytes = pieceBytes;
    const first = afterBlanks(bytes, 0);
    this.isUnsupported = bytes[first] !== OPEN_ARRAY;
    this.#at = first;
    this.#start = first + 1;
  }

  /** Number of items in all pieces. */
  get items(): number {
    return this.#items;
  }

  /**
   * Advances by the size of a piece and returns whether the list is complete. Throws a SyntaxError if the list is not
   * closed.
   */
  // hot
  cut(): boolean {
    const bytes = this.#bytes;
    const until = Math.min(this.#at + this.#pieceBytes, bytes.length);
    let [at, depth, isInString] = [this.#at, this.#depth, this.#isInString];
    while (at < until) {
      const byte = bytes[at++] as number;
      if (isInString) {
        if (byte === QUOTE) isInString = false;
        else if (byte === BACKSLASH) at++;
      } else if (byte === QUOTE) isInString = true;
      else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) depth++;
      else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) {
        depth--;
        if (depth === 0) return this.#finish(at - 1);
      } else if (byte === COMMA && depth === 1) this.#comma(at - 1);
    }
    [this.#at, this.#depth, this.#isInString] = [at, depth, isInString];
    if (at < bytes.length) return this.isUnsupported;
    throw new SyntaxError('Unexpected end of JSON input');
  }

  #comma(at: number): void {
    this.#items++;
    if (at - this.#start > this.#pieceBytes) this.#add(at);
  }

  #finish(end: number): true {
    const bytes = this.#bytes;
    if (bytes[end] !== CLOSE_ARRAY) throw unexpected(bytes, end);
    const rest = afterBlanks(bytes, end + 1);
    if (rest < bytes.length) throw unexpected(bytes, rest);
    if (this.#items === 0 && afterBlanks(bytes, this.#start) === end) return true;
    this.#items++;
    this.#add(end);
    return true;
  }

  #add(end: number): void {
    const start = this.#start;
    const last = this.pieces.at(-1);
    const first = last === undefined ? 0 : last.first + last.items;
    if (end - start > LONGER_MAX * this.#pieceBytes) this.isUnsupported = true;
    this.pieces.push({ start, end, first, items: this.#items - first });
    this.#start = end + 1;
  }
}

/** Reusable buffer for a piece as a list of its own. */
export class PieceBuffer {
  readonly #bytes: Buffer;

  constructor(pieceBytes = PIECE_BYTES) {
    this.#bytes = Buffer.alloc(LONGER_MAX * pieceBytes + 2);
  }

  /** Copies a piece to a list, which is valid until the next call. */
  listOf({ start, end }: Piece, bytes: Uint8Array): Buffer {
    const list = this.#bytes.subarray(0, end - start + 2);
    list[0] = OPEN_ARRAY;
    list.set(bytes.subarray(start, end), 1);
    list[end - start + 1] = CLOSE_ARRAY;
    return list;
  }
}

function afterBlanks(bytes: Uint8Array, start: number): number {
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
