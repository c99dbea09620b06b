declare const borrowed: unique symbol;

/**
 * Bytes in memory that the owner will overwrite: when the call returns, with the next batch, or with the next step, as
 * the owner documents. Read them immediately, and copy them before storing them. The type is not assignable to
 * Uint8Array, so the compiler enforces this at no runtime cost.
 */
export interface Borrowed {
  readonly [borrowed]: true;
}

/** Lends bytes that are overwritten later, or must not be changed. */
export function lend(bytes: Uint8Array): Borrowed {
  return bytes as unknown as Borrowed;
}

/** Returns the bytes, to be read before control returns to the event loop. */
export function look(bytes: Borrowed): Uint8Array {
  return bytes as unknown as Uint8Array;
}

/** Returns a copy owned by the caller. */
export function copied(bytes: Borrowed): Uint8Array<ArrayBuffer> {
  return new Uint8Array(look(bytes));
}
