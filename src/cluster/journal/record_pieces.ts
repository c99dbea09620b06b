/**
 * Splits records of a journal into pieces that fit into messages; the pieces of one record are consecutive. A piece begins with
 * a byte of flags: whether it continues a record, whether more of it follows, and whether the record counts only together with
 * the next one, because both describe one step.
 */
const [CONTINUED, MORE, WITH_NEXT] = [1, 2, 4];
/** Size of a piece; several small ones share a message. */
const PIECE_BYTES = 1 << 20;

const FLAGS: readonly Uint8Array[] = Array.from({ length: 8 }, (_, flags) => Uint8Array.of(flags));

type Piece = readonly [flags: Uint8Array, part: Uint8Array];

export interface PiecesOptions {
  /** Most bytes of a piece. */
  readonly bytesMax?: number;
  /** Whether the record counts only together with the next one. */
  readonly isWithNext?: boolean;
}

/** Pieces of a record, each as its flags and a part of the record. */
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

/** A stored record with the number of its message: the one in which it ends, or in which the record ends that it depends on. */
interface KeptRecord {
  readonly record: Uint8Array;
  readonly number: number;
}

/** Records in pieces, from any beginning. See recordsIn. */
export function recordsOf(pieces: Iterable<Uint8Array>): Uint8Array[] {
  return recordsIn([[0, [...pieces]]]).map(({ record }) => record);
}

/**
 * Records of consecutive messages with these pieces. Leaves out a record whose beginning is missing, since it is in the state,
 * and one whose end is missing, since it was never stored, with the records that depend on it.
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
