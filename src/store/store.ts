import type { StoredRow } from '../core/item.ts';
import type { EntityWrite, StoredState, StoredPart, StoreBatch } from '../core/entity_write.ts';

/** Where the hub keeps its data. Calls are served in order; a caller need not wait for the end of another's. */
export interface Store {
  /** `read` hears of the parts as they are read, of all entities before the first row. */
  load(read?: (part: StoredPart) => void): Promise<StoredState>;
  /** Keeps the whole batch or, when it rejects, nothing of it. Keeping it twice is the same as once. */
  commit(batch: StoreBatch): Promise<void>;
  close(): Promise<void>;
  /** Attempts to write that have failed, by their reason, where a store makes more than one. */
  readonly failures?: ReadonlyMap<string, number>;
}

/** Entities or rows of a part at most. */
export const PART_MAX = 5000;

/** What is kept, in parts. */
export function* partsOf({ entities, rows }: StoredPart): Generator<StoredPart> {
  yield { entities, rows: [] };
  for (let row = 0; row < rows.length; row += PART_MAX) yield { entities: [], rows: rows.slice(row, row + PART_MAX) };
}

/** All of what was read in parts. */
export function joinedParts(parts: Iterable<StoredPart>): StoredPart {
  const [entities, rows]: [EntityWrite[], StoredRow[]] = [[], []];
  for (const part of parts) {
    for (const entity of part.entities) entities.push(entity);
    for (const row of part.rows) rows.push(row);
  }
  return { entities, rows };
}

/** What a store has kept, while it is still being read. */
export interface Reading {
  readonly entities: Promise<readonly EntityWrite[]>;
  /** Parts of the rows. To be read once. */
  readonly rows: AsyncIterable<readonly StoredRow[]>;
  readonly all: Promise<StoredState>;
}

/** Begins to read a store. When it cannot be read, all that is read of it rejects. */
export function beginReading(store: Store): Reading {
  const entities = Promise.withResolvers<readonly EntityWrite[]>();
  const found: EntityWrite[] = [];
  let parts!: ReadableStreamDefaultController<readonly StoredRow[]>;
  const rows = new ReadableStream({
    start(controller: typeof parts) {
      parts = controller;
    },
  });
  const all = store.load((part) => {
    for (const entity of part.entities) found.push(entity);
    if (part.rows.length === 0) return;
    // All entities have come.
    entities.resolve(found);
    parts.enqueue(part.rows);
  });
  all.then(
    () => {
      entities.resolve(found);
      parts.close();
    },
    (error: unknown) => {
      entities.reject(error);
      parts.error(error);
    },
  );
  // Whoever waits for the entities hears of a failure there, or of a later one with the rows.
  entities.promise.catch(() => undefined);
  return { entities: entities.promise, rows, all };
}
