import { hubError } from '../errors.ts';
import type { EntityMap, EntityKindName } from '../entities/entity_lookup.ts';
import type { ApiDeps } from './deps.ts';

/** The entity of a path. Throws HUB_NOT_FOUND if it does not exist. */
export function requireEntity<K extends EntityKindName>(kind: K, id: string, { entities }: ApiDeps): EntityMap[K] {
  const entity = entities.get(kind, id);
  if (entity !== undefined) return entity;
  throw hubError('not_found', { action: 'find', kind, id });
}

/** Looks up entities by id, in order. Skips ids without an entity. */
export function existing<K extends EntityKindName>(
  kind: K,
  ids: readonly string[],
  { entities }: ApiDeps,
): EntityMap[K][] {
  return ids.map((id) => entities.get(kind, id)).filter((entity) => entity !== undefined);
}
