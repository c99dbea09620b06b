import { idKey } from '../model/id.ts';

/** Takes one change back. Changes are taken back in the reverse of their order. */
export type Undo = () => void;

/** Entities by id, in the order of their creation, which an undone deletion restores as well. */
export class Table<T extends { readonly id: string }> {
  #rows = new Map<string, { readonly place: number; readonly entity: T }>();
  #nextPlace = 0;
  #inOrder = true;

  get size(): number {
    return this.#rows.size;
  }

  get(id: string): T | undefined {
    return this.#rows.get(idKey(id))?.entity;
  }

  has(id: string): boolean {
    return this.#rows.has(idKey(id));
  }

  /** In the order of creation. */
  list(): T[] {
    if (!this.#inOrder) {
      this.#rows = new Map([...this.#rows].sort(([, a], [, b]) => a.place - b.place));
      this.#inOrder = true;
    }
    return Array.from(this.#rows.values(), (row) => row.entity);
  }

  /** Adds or replaces (`after` given), or removes (undefined) the entity with that id. */
  set(id: string, after: T | undefined): Undo {
    const key = idKey(id);
    const before = this.#rows.get(key);
    if (after === undefined) this.#rows.delete(key);
    else this.#rows.set(key, { place: before?.place ?? this.#nextPlace++, entity: after });
    return () => {
      if (before === undefined) {
        this.#rows.delete(key);
        return;
      }
      if (!this.#rows.has(key)) this.#inOrder = false;
      this.#rows.set(key, before);
    };
  }
}
