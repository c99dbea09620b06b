import type { StoredRow } from '../core/item.ts';
import type { EntityWrite, StoredState, StoredPart, StoreBatch } from '../core/entity_write.ts';
import { type EventRange, type EventTrim, packedRows, type StoredEvents } from '../wire/store_messages.ts';

/** Persistent storage of the hub. Calls are executed in order, so callers need not wait for earlier calls. */
export interface Store {
  /** Reads all data. */
  load(): Promise<StoredState>;
  /** Calls `take` with each part of the data as it is read, all entities before the first row. Returns the hub's id. */
  read(take: (part: StoredPart) => void): Promise<string>;
  /** Stores the whole batch, or rejects and stores nothing. Idempotent. */
  commit(batch: StoreBatch): Promise<void>;
  close(): Promise<void>;
  /** Number of failed write attempts by reason, for stores that distinguish reasons. */
  readonly failures?: ReadonlyMap<string, number>;
  /** The stored events, for stores that have an event log. */
  readonly events?: EventStore | undefined;
  /** The entries of the audit log, for stores that have one. */
  readonly audit?: EventStore | undefined;
}

/** A log of a store: events, or entries of the audit log. Calls are executed in order, with commits. */
export interface EventStore {
  range(): Promise<EventRange>;
  /** Returns the first blocks with events after a position: at least one, and more within `bytesMax`. */
  read(after: number, bytesMax: number): Promise<StoredEvents>;
  /** Returns the position before the oldest block that was stored at or after a time. */
  positionAt(timeMs: number): Promise<number>;
  /** Removes some of the oldest events. Returns whether more are to be removed. */
  trim(to: EventTrim): Promise<{ readonly range: EventRange; readonly hasMore: boolean }>;
}

/** Maximum number of entities or rows in a part. */
export const PART_MAX = 5000;

/** Splits stored data into parts. */
export function* partsOf({ entities, rows }: Omit<StoredState, 'hubId'>): Generator<StoredPart> {
  yield { entities, rows: packedRows([]) };
  for (let row = 0; row < rows.length; row += PART_MAX) {
    yield { entities: [], rows: packedRows(rows.slice(row, row + PART_MAX)) };
  }
}

/** Decodes and joins data read in parts. */
export function joinedParts(parts: Iterable<StoredPart>): Omit<StoredState, 'hubId'> {
  const [entities, rows]: [EntityWrite[], StoredRow[]] = [[], []];
  for (const part of parts) {
    for (const entity of part.entities) entities.push(entity);
    for (const row of part.rows) rows.push(row);
  }
  return { entities, rows };
}

/** Reads all data of a store. */
export async function loadedFrom(store: Pick<Store, 'read'>): Promise<StoredState> {
  const parts: StoredPart[] = [];
  const hubId = await store.read((part) => parts.push(part));
  return { ...joinedParts(parts), hubId };
}

/** Contents of a store that is being read. */
export interface StoreReading {
  /** All entities before the first row. Can be iterated once. Fails if the store cannot be read. */
  readonly parts: AsyncIterable<StoredPart>;
  readonly hubId: Promise<string>;
}

/** Starts to read a store. */
export function beginReading(store: Store): StoreReading {
  let controller!: ReadableStreamDefaultController<StoredPart>;
  const parts = new ReadableStream<StoredPart>({
    start(own) {
      controller = own;
    },
  });
  const hubId = store.read((part) => controller.enqueue(part));
  hubId.then(
    () => controller.close(),
    (error: unknown) => controller.error(error),
  );
  return { parts, hubId };
}
