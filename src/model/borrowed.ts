declare const borrowed: unique symbol;

/**
 * Bytes in memory that their owner overwrites soon: when the call that passed them returns, with the next batch, or
 * with the next step, as the owner documents. Read them immediately, and copy them before storing them. They are no
 * Uint8Array, so the compiler enforces this at no cost: they are the same bytes.
 */
export interface Borrowed {
  readonly [borrowed]: true;
}

/** Lends bytes that are overwritten later, or must not be changed. */
export function lend(bytes: Uint8Array): Borrowed {
  return bytes as unknown as Borrowed;
}

/** The bytes themselves, to be read before control returns to the event loop. */
export function look(bytes: Borrowed): Uint8Array {
  return bytes as unknown as Uint8Array;
}

/** A copy owned by the caller. */
export function copied(bytes: Borrowed): Uint8Array<ArrayBuffer> {
  return new Uint8Array(look(bytes));
}
