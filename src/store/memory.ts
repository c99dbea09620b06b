import type { StoredRow } from '../core/item.ts';
import type { EntityWrite, StoredState, StoredPart, StoreBatch } from '../core/entity_write.ts';
import { packedRows } from '../wire/store_messages.ts';
import { loadedFrom, type Store } from './store.ts';

/** A store in memory, lost when the process exits. Also serves as the reference implementation of a store. */
export class MemoryStore implements Store {
  readonly #entities = new Map<string, EntityWrite>();
  readonly #rows = new Map<string, StoredRow>();
  readonly #hubId: string;
  #open = true;

  constructor(hubId: string) {
    this.#hubId = hubId;
  }

  load(): Promise<StoredState> {
    return loadedFrom(this);
  }

  async read(take: (part: StoredPart) => void): Promise<string> {
    this.#checkOpen();
    take({ entities: [...this.#entities.values()], rows: packedRows(this.#rows.values()) });
    return this.#hubId;
  }

  async commit(batch: StoreBatch): Promise<void> {
    this.#checkOpen();
    const { entities } = batch;
    const rows = packedRows(batch.rows);
    // Validated before any change, for atomicity.
    rows.checkTimes();
    for (const entity of entities) {
      const key = `${entity.kind} ${entity.id}`;
      if (entity.text === undefined) this.#entities.delete(key);
      else this.#entities.set(key, entity);
    }
    for (const row of rows) {
      const key = `${row.kind} ${row.id}`;
      if (row.gone === true) this.#rows.delete(key);
      else this.#rows.set(key, row);
    }
  }

  async close(): Promise<void> {
    this.#open = false;
  }

  /** Reopens the store with the data it had when closed, like a restart. */
  reopen(): this {
    this.#open = true;
    return this;
  }

  #checkOpen(): void {
    if (!this.#open) throw new Error('Cannot use the store: it is closed');
  }
}
