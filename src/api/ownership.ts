import { hubError } from '../errors.ts';
import type { OwnedEntities } from '../auth/ownership.ts';
import type { Visibility } from '../auth/visibility.ts';
import type { ObjectKind } from '../model/id.ts';
import { KIND_OF_RESOURCE, type Resource } from '../model/permission.ts';
import { show } from '../model/error_value_text.ts';
import type { ApiDeps } from './deps.ts';
import type { ApiRoute } from './route.ts';
import type { Match } from './router.ts';
import { replacesIds } from './versions.ts';

interface Asked {
  readonly match: Match;
  readonly owned: OwnedEntities;
}

/**
 * Throws HUB_NOT_AUTHORIZED unless the entity of the path is owned. Ids in the body are checked after parsing, and
 * lists in replies are filtered where they are created.
 */
export function checkPathOwned({ permission, method }: ApiRoute, { match, owned }: Asked, hub: ApiDeps): void {
  if (permission === 'public') return;
  const { resource } = permission;
  if (resource === undefined) throw hubError('never_owned', { request: named(method, match) });
  if (permission.owned !== undefined || owned.has(resource, meant(resource, match.id, hub))) return;
  throw hubError('not_owned', { request: named(method, match) });
}

/**
 * Throws HUB_NOT_AUTHORIZED unless everything named by the body is owned, if the route requires that. An unreadable id
 * counts as not owned, independent of the handler.
 */
export function checkBodyOwned({ permission, method }: ApiRoute, { match, owned }: Asked, body: unknown): void {
  if (permission === 'public' || permission.resource === undefined) return;
  const { resource } = permission;
  if (permission.owned === 'body') {
    const isGenerated = replacesIds(match.version, KIND_OF_RESOURCE[resource]);
    if (isGenerated || !owns(owned, resource, textIn(body, 'id'))) {
      throw hubError('body_not_owned', { request: named(method, match), member: resource });
    }
  }
  if (permission.owned !== 'items' || !Array.isArray(body)) return;
  if (body.every((item) => owns(owned, resource, textIn(item, resource)))) return;
  throw hubError('items_not_owned', { request: named(method, match), member: resource });
}

/** Filters a list to owned entities, if lists are limited to them. */
export function onlyOwned<T extends { readonly id: string }>(
  list: readonly T[],
  resource: Resource,
  owned: OwnedEntities | undefined,
): readonly T[] {
  return owned === undefined ? list : list.filter(({ id }) => owned.has(resource, id));
}

/** Filters a list to readable entities, for references. */
export function onlyReadable<T extends { readonly id: string }>(
  list: readonly T[],
  resource: Resource,
  visibility: Visibility | undefined,
): readonly T[] {
  return visibility === undefined ? list : list.filter(({ id }) => visibility.sees([resource], id));
}

/** Limits of a query to the shards: the ids of existing entities, in the spelling of their creation. */
export function limitedTo(
  kind: ObjectKind,
  owned: OwnedEntities | undefined,
  { entities }: ApiDeps,
): { readonly only?: readonly string[] } {
  if (owned === undefined) return {};
  return { only: owned.all(`${kind}_id`).flatMap((id) => entities.get(kind, id)?.id ?? []) };
}

/** Some paths identify a zone by its foreign id; ownership uses its own id. */
function meant(resource: Resource, id: string, { entities }: ApiDeps): string {
  return resource === 'zone_id' ? (entities.zoneBy(id)?.id ?? id) : id;
}

function owns(owned: OwnedEntities, resource: Resource, id: unknown): boolean {
  return typeof id === 'string' && owned.has(resource, id);
}

function textIn(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}

function named(method: string, { path }: Match): string {
  return `${method} ${show(path)}`;
}
