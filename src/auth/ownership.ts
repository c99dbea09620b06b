import { idKey } from '../model/id.ts';
import { RESOURCES, type Resource } from '../model/permission.ts';

/** Entities owned by the holder of a token, by kind. UUIDs are compared case-insensitively. */
export class OwnedEntities {
  readonly #ids: ReadonlyMap<Resource, ReadonlySet<string>>;

  private constructor(ids: ReadonlyMap<Resource, ReadonlySet<string>>) {
    this.#ids = ids;
  }

  /**
   * Reads a claim of the form `{"provider_ids": ["tag-1"], "zone_ids": [...]}`. With a malformed claim, nothing is
   * owned; the token is not rejected, since its other permissions may not depend on ownership.
   */
  static from(claim: unknown): OwnedEntities {
    const ids = new Map<Resource, ReadonlySet<string>>();
    for (const resource of RESOURCES) {
      const listed = member(claim, `${resource}s`);
      if (!Array.isArray(listed)) continue;
      ids.set(resource, new Set(listed.filter((id): id is string => typeof id === 'string').map(idKey)));
    }
    return new OwnedEntities(ids);
  }

  has(resource: Resource, id: string): boolean {
    return this.#ids.get(resource)?.has(idKey(id)) === true;
  }

  /** Returns all owned ids of a kind, with UUIDs in lower case. */
  all(resource: Resource): readonly string[] {
    return [...(this.#ids.get(resource) ?? [])];
  }
}

function member(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}
