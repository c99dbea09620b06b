import type { KeptRow } from '../core/item.ts';
import type { EntityWrite, Kept, Store } from './store.ts';

/** What a store has kept, while it is still being read. */
export interface Reading {
  readonly entities: Promise<readonly EntityWrite[]>;
  /** Parts of the rows. To be read once. */
  readonly rows: AsyncIterable<readonly KeptRow[]>;
  readonly all: Promise<Kept>;
}

/** Begins to read a store. When it cannot be read, all that is read of it rejects. */
export function beginReading(store: Store): Reading {
  const entities = Promise.withResolvers<readonly EntityWrite[]>();
  const found: EntityWrite[] = [];
  let parts!: ReadableStreamDefaultController<readonly KeptRow[]>;
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
