import type { StoredRow } from '../core/item.ts';
import type { EntityWrite, StoredState, StoredPart, StoreBatch } from '../core/entity_write.ts';

/** Persistent storage of the hub. Calls are executed in order, so callers need not wait for earlier calls. */
export interface Store {
  /** Reads all data. Calls `read` with each part as it is read, all entities before the first row. */
  load(read?: (part: StoredPart) => void): Promise<StoredState>;
  /** Stores the whole batch, or rejects and stores nothing. Idempotent. */
  commit(batch: StoreBatch): Promise<void>;
  close(): Promise<void>;
  /** Number of failed write attempts by reason, for stores that distinguish reasons. */
  readonly failures?: ReadonlyMap<string, number>;
}

/** Maximum number of entities or rows in a part. */
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

/** Contents of a store that is being read. */
export interface StoreReading {
  readonly entities: Promise<readonly EntityWrite[]>;
  /** The rows in parts. Can be iterated once. */
  readonly rows: AsyncIterable<readonly StoredRow[]>;
  readonly all: Promise<StoredState>;
}

/** Starts to read a store. If it cannot be read, all members of the result reject. */
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
    // The first rows follow all entities.
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
  // Prevents an unhandled rejection: the caller receives the failure when it awaits the entities or the rows.
  entities.promise.catch(() => undefined);
  return { entities: entities.promise, rows, all };
}
