/**
 * Records of a journal in pieces that a message can carry: what a step has changed may be more, and then all of its pieces
 * follow one another. A piece begins with a byte of flags: whether it goes on with a record, whether more of it follows,
 * and whether the record counts only with the one behind it, since both say what one step has done.
 */
const [CONTINUED, MORE, WITH_NEXT] = [1, 2, 4];
/** Of a piece; several small ones share a message. */
const PIECE_BYTES = 1 << 20;

const FLAGS: readonly Uint8Array[] = Array.from({ length: 8 }, (_, flags) => Uint8Array.of(flags));

type Piece = readonly [flags: Uint8Array, part: Uint8Array];

export interface PiecesOptions {
  /** Of a piece. */
  readonly bytesMax?: number;
  /** Whether the record counts only with the one that comes behind it. */
  readonly isWithNext?: boolean;
}

/** The pieces of a record, each as its flags and a part of the record. */
export function piecesOf(
  record: Uint8Array,
  { bytesMax = PIECE_BYTES, isWithNext = false }: PiecesOptions = {},
): Piece[] {
  const withNext = isWithNext ? WITH_NEXT : 0;
  const pieces: Piece[] = [];
  let start = 0;
  do {
    const end = Math.min(record.length, start + bytesMax);
    const flags = (start > 0 ? CONTINUED : 0) | (end < record.length ? MORE : 0) | withNext;
    pieces.push([FLAGS[flags] as Uint8Array, record.subarray(start, end)]);
    start = end;
  } while (start < record.length);
  return pieces;
}

/** A record that was kept with the message of that number: the one in which it ends, or in which what it counts with does. */
interface KeptRecord {
  readonly record: Uint8Array;
  readonly number: number;
}

/** The records that pieces make up, from wherever these begin. See recordsIn. */
export function recordsOf(pieces: Iterable<Uint8Array>): Uint8Array[] {
  return recordsIn([[0, [...pieces]]]).map(({ record }) => record);
}

/**
 * The records of messages that follow one another, whose pieces they are. One whose beginning is missing is left out, since it
 * is in the state, and the last one where its end is: it was never kept. So are those in front of it that count only with it.
 */
export function recordsIn(messages: Iterable<readonly [number: number, pieces: readonly Uint8Array[]]>): KeptRecord[] {
  const records: KeptRecord[] = [];
  let withNext: Uint8Array[] = [];
  let begun: Uint8Array[] = [];
  for (const [number, pieces] of messages) {
    for (const piece of pieces) {
      const flags = piece[0] as number;
      if ((flags & CONTINUED) !== 0 && begun.length === 0) continue;
      begun.push(piece.subarray(1));
      if ((flags & MORE) !== 0) continue;
      withNext.push(begun.length === 1 ? (begun[0] as Uint8Array) : Buffer.concat(begun));
      begun = [];
      if ((flags & WITH_NEXT) !== 0) continue;
      for (const record of withNext) records.push({ record, number });
      withNext = [];
    }
  }
  return records;
}
