import type { LastKnownRow } from '../core/item.ts';

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
  readonly rows: readonly LastKnownRow[];
}

/** Everything that is kept. */
export interface Kept {
  /** In the order of first creation. */
  readonly entities: readonly EntityWrite[];
  readonly rows: readonly LastKnownRow[];
  /** A UUID that the store has got when it was made. */
  readonly hubId: string;
}

/** Where the hub keeps its data. Calls are served in order; a caller need not wait for the end of another's. */
export interface Store {
  load(): Promise<Kept>;
  /** Keeps the whole batch or, when it rejects, nothing of it. Keeping it twice is the same as once. */
  commit(batch: StoreBatch): Promise<void>;
  close(): Promise<void>;
  /** Attempts to write that have failed, by their reason, where a store makes more than one. */
  readonly failures?: ReadonlyMap<string, number>;
}
