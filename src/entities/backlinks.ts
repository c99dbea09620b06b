import { idKey } from '../model/id.ts';

/** Finds the entities that name an id, for entities that name ids of others: trackables by provider, children by parent. */
export class Backlinks<T extends { readonly id: string }> {
  readonly #linksOf: (entity: T) => readonly string[];
  readonly #sources = new Map<string, readonly T[]>();

  constructor(linksOf: (entity: T) => readonly string[]) {
    this.#linksOf = linksOf;
  }

  /** The entities that name the id, sorted by their own id. The array is replaced, never changed, by later changes. */
  of(id: string): readonly T[] {
    return this.#sources.get(idKey(id)) ?? NONE;
  }

  /** An entity was created (no `before`), replaced, or removed (no `after`). */
  change(before: T | undefined, after: T | undefined): void {
    if (before !== undefined) for (const id of this.#linksOf(before)) this.#remove(idKey(id), before);
    if (after !== undefined) for (const id of this.#linksOf(after)) this.#add(idKey(id), after);
  }

  #add(key: string, entity: T): void {
    const sources = this.#sources.get(key) ?? NONE;
    this.#sources.set(key, sources.toSpliced(placeOf(sources, entity.id), 0, entity));
  }

  #remove(key: string, entity: T): void {
    const sources = this.#sources.get(key) ?? NONE;
    const place = placeOf(sources, entity.id);
    if (sources[place]?.id !== entity.id) return;
    if (sources.length === 1) this.#sources.delete(key);
    else this.#sources.set(key, sources.toSpliced(place, 1));
  }
}

const NONE: readonly never[] = [];

/** First place whose id is not before the given one. */
function placeOf(sorted: readonly { readonly id: string }[], id: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle]?.id ?? '') < id) low = middle + 1;
    else high = middle;
  }
  return low;
}
