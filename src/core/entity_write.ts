import type { StoredRow } from './item.ts';

/**
 * Kind of a stored record other than a last-known row. A setting is one value of the hub itself, such as its locating
 * rules.
 */
export type StoredKind = 'zone' | 'fence' | 'trackable' | 'provider' | 'anchor' | 'setting';

/** An entity to store, as JSON; without `text`, to delete. */
export interface EntityWrite {
  readonly kind: StoredKind;
  readonly id: string;
  readonly text: string | undefined;
}

export interface StoreBatch {
  readonly entities: readonly EntityWrite[];
  /** If an object has several rows, the last one counts. Packed rows are valid until the batch is stored. */
  readonly rows: Iterable<StoredRow>;
}

/** A part of the stored state. */
export interface StoredPart {
  /** In the order of first creation. */
  readonly entities: readonly EntityWrite[];
  readonly rows: readonly StoredRow[];
}

/** The complete stored state. */
export interface StoredState extends StoredPart {
  /** UUID that the store generated when it was created. */
  readonly hubId: string;
}
