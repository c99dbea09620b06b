import type { Resource } from '../model/permission.ts';
import type { OwnedEntities } from './ownership.ts';

/**
 * Entities readable with limited access: those owned by the holder of the token, and all of the kinds that another of
 * its roles may read without limit.
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

  /** Whether everything of the kind is readable. */
  hasAll(resource: Resource): boolean {
    return this.#whole.has(resource);
  }
}
