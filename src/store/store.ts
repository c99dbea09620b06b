import type { KeptRow } from '../core/item.ts';

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
  readonly rows: readonly KeptRow[];
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

/** Entities or rows of a part at most. */
export const PART_MAX = 5000;

/** What is kept, in parts. */
export function* partsOf({ entities, rows }: KeptPart): Generator<KeptPart> {
  yield { entities, rows: [] };
  for (let row = 0; row < rows.length; row += PART_MAX) yield { entities: [], rows: rows.slice(row, row + PART_MAX) };
}

/** All of what was read in parts. */
export function joinedParts(parts: Iterable<KeptPart>): KeptPart {
  const [entities, rows]: [EntityWrite[], KeptRow[]] = [[], []];
  for (const part of parts) {
    for (const entity of part.entities) entities.push(entity);
    for (const row of part.rows) rows.push(row);
  }
  return { entities, rows };
}

/** Where the hub keeps its data. Calls are served in order; a caller need not wait for the end of another's. */
export interface Store {
  /** `read` hears of the parts as they are read, of all entities before the first row. */
  load(read?: (part: KeptPart) => void): Promise<Kept>;
  /** Keeps the whole batch or, when it rejects, nothing of it. Keeping it twice is the same as once. */
  commit(batch: StoreBatch): Promise<void>;
  close(): Promise<void>;
  /** Attempts to write that have failed, by their reason, where a store makes more than one. */
  readonly failures?: ReadonlyMap<string, number>;
}
