import type { StoredRow } from '../core/item.ts';
import type { EntityWrite, StoredState, StoredPart, StoreBatch } from '../core/entity_write.ts';

/** Persistent storage of the hub. Calls are executed in order; a caller need not wait for another's call. */
export interface Store {
  /** Reads all data. `read` receives the parts while they are read, all entities before the first row. */
  load(read?: (part: StoredPart) => void): Promise<StoredState>;
  /** Stores the whole batch, or rejects and stores nothing. Storing it twice is the same as once. */
  commit(batch: StoreBatch): Promise<void>;
  close(): Promise<void>;
  /** Failed write attempts by reason, for stores with more than one. */
  readonly failures?: ReadonlyMap<string, number>;
}

/** Maximum entities or rows of a part. */
export const PART_MAX = 5000;

/** Splits stored data into parts. */
export function* partsOf({ entities, rows }: StoredPart): Generator<StoredPart> {
  yield { entities, rows: [] };
  for (let row = 0; row < rows.length; row += PART_MAX) yield { entities: [], rows: rows.slice(row, row + PART_MAX) };
}

/** Joins data read in parts. */
export function joinedParts(parts: Iterable<StoredPart>): StoredPart {
  const [entities, rows]: [EntityWrite[], StoredRow[]] = [[], []];
  for (const part of parts) {
    for (const entity of part.entities) entities.push(entity);
    for (const row of part.rows) rows.push(row);
  }
  return { entities, rows };
}

/** Contents of a store while they are being read. */
export interface StoreReading {
  readonly entities: Promise<readonly EntityWrite[]>;
  /** Parts of the rows. Can be read once. */
  readonly rows: AsyncIterable<readonly StoredRow[]>;
  readonly all: Promise<StoredState>;
}

/** Starts reading a store. If it cannot be read, all members of the result reject. */
export function beginReading(store: Store): StoreReading {
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
    // All entities have been read.
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
  // The caller that awaits the entities receives this failure, or a later one with the rows.
  entities.promise.catch(() => undefined);
  return { entities: entities.promise, rows, all };
}
