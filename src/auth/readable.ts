import type { Resource } from '../model/permission.ts';
import type { OwnedEntities } from './ownership.ts';

/**
 * Entities readable with limited access: those owned by the holder of the token, and all entities of the kinds that
 * another role may read without limit.
 */
export class Readable {
  readonly #owned: OwnedEntities;
  readonly #whole: ReadonlySet<Resource>;

  constructor(owned: OwnedEntities, whole: ReadonlySet<Resource>) {
    this.#owned = owned;
    this.#whole = whole;
  }

  has(resource: Resource, id: string): boolean {
    return this.#whole.has(resource) || this.#owned.has(resource, id);
  }

  /** Whether all entities of the kind are readable. */
  hasAll(resource: Resource): boolean {
    return this.#whole.has(resource);
  }
}
