import type { KeptRow } from './item.ts';

/** What the hub keeps besides last-known rows. A setting is one value of the hub itself, such as its locating rules. */
export type EntityKind = 'zone' | 'fence' | 'trackable' | 'provider' | 'anchor' | 'setting';

/** An entity to be kept, as JSON text; without text it is to be deleted. */
export interface EntityWrite {
  readonly kind: EntityKind;
  readonly id: string;
  readonly text: string | undefined;
}

export interface StoreBatch {
  readonly entities: readonly EntityWrite[];
  /** Of several rows of an object the last one counts. PackedRows are good until the batch is kept. */
  readonly rows: Iterable<KeptRow>;
}

/** A part of what is kept. */
export interface KeptPart {
  /** In the order of first creation. */
  readonly entities: readonly EntityWrite[];
  readonly rows: readonly KeptRow[];
}

/** Everything that is kept. */
export interface Kept extends KeptPart {
  /** A UUID that the store has got when it was made. */
  readonly hubId: string;
}
