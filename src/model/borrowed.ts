declare const borrowed: unique symbol;

/**
 * Bytes in memory that somebody else writes over soon: when the call returns that handed them over, with the next batch,
 * or the next step, as whoever lends them says. They can be looked at now, and they must be copied before they are kept:
 * as they are no Uint8Array, the compiler sees to it. It costs nothing: they are the same bytes.
 */
export interface Borrowed {
  readonly [borrowed]: true;
}

/** Lends bytes that are written over later, or are not to be changed. */
export function lend(bytes: Uint8Array): Borrowed {
  return bytes as unknown as Borrowed;
}

/** The bytes themselves, to be read before anybody else has a turn. */
export function look(bytes: Borrowed): Uint8Array {
  return bytes as unknown as Uint8Array;
}

/** A copy, which is the caller's own. */
export function copied(bytes: Borrowed): Uint8Array<ArrayBuffer> {
  return new Uint8Array(look(bytes));
}
