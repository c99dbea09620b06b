import Type, { type TObject } from 'typebox';
import { isDetachedFence } from '../../core/fence/fence_plane.ts';
import { fenceIn } from '../../core/fence/fence_view.ts';
import type { ReplaceOptions } from '../../entities/entities.ts';
import type { EntityMap, EntityKindName } from '../../entities/entity_lookup.ts';
import { type StoredFence, publicFence } from '../../model/fence.ts';
import { isSame } from '../../model/json_tree.ts';
import { exactInProperties, parseLossless } from '../../model/lossless_numbers.ts';
import type { Resource } from '../../model/permission.ts';
import { ArrayOf, IdArray } from '../../model/schema.ts';
import { checkStorable } from '../body.ts';
import type { ApiDeps } from '../deps.ts';
import { requireEntity } from '../lookup.ts';
import { unlessKnown, versionCheck, withETag, withVersion } from '../etag.ts';
import { inTurn } from '../in_turn.ts';
import { JsonPatch, patched } from '../json_patch.ts';
import { shownList } from '../list_body.ts';
import { admitNames, editSeen, seenText } from '../naming.ts';
import { onlyOwned } from '../ownership.ts';
import { leadingOn, PAGE_HEADERS, PAGE_QUERY, pageOf } from '../page.ts';
import { PRESENT } from '../present.ts';
import { type ApiCall, type Replied, type ApiRoute, route } from '../route.ts';
import { replacesIds } from '../versions.ts';

/** Differences between the kinds of entities. */
export interface EntityRows<K extends EntityKindName> {
  readonly kind: K;
  /** Path of the collection, for example `/zones`. */
  readonly path: string;
  readonly resource: Resource;
  /** Stored form; docs/schemas.ts has the documented one. */
  readonly schema: TObject;
  /** Parameters of the two lists, and the entities that they select; default: all. */
  readonly listQuery?: TObject;
  select?(call: ApiCall, hub: ApiDeps): readonly EntityMap[K][];
  /** Parameters of POST, PUT and PATCH. */
  readonly writeQuery?: TObject;
  /** Whether PUT replies 200 with the entity instead of 204. */
  readonly showsReplaced?: boolean;
}

/** Routes common to all kinds of entities: the collection, its summary, and the item. */
export function entityRows<K extends EntityKindName>(rows: EntityRows<K>): readonly ApiRoute[] {
  return [...collectionRows(rows), ...itemRows(rows)];
}

function collectionRows<K extends EntityKindName>(rows: EntityRows<K>): readonly ApiRoute[] {
  const { kind, path, resource, schema } = rows;
  const present = PRESENT[kind];
  const listQuery = Type.Object({ ...rows.listQuery?.properties, ...PAGE_QUERY });
  const select = rows.select ?? ((_call: ApiCall, hub: ApiDeps) => hub.entities.list(kind));
  const listed = (call: ApiCall, hub: ApiDeps) => pageOf(onlyOwned(select(call, hub), resource, call.owned), call);
  return [
    route({
      method: 'GET',
      path,
      summary: `Ids of all ${kind}s`,
      permission: { operation: 'READ', resource, owned: 'reply' },
      query: listQuery,
      replies: { 200: { description: 'The ids.', schema: IdArray, headers: PAGE_HEADERS } },
      handle(call, hub) {
        return inTurn(hub.entities.count(kind), hub, () => {
          const page = listed(call, hub);
          return leadingOn(call.reply.json(shownList(page.items, ({ id }) => JSON.stringify(id))), page);
        });
      },
    }),
    route({
      method: 'GET',
      path: `${path}/summary`,
      summary: `All ${kind}s`,
      permission: { operation: 'READ', resource, owned: 'reply' },
      query: Type.Object({ ...listQuery.properties, ...present.query.properties }),
      replies: { 200: { description: `The ${kind}s.`, schema: ArrayOf(schema), headers: PAGE_HEADERS } },
      handle(call, hub) {
        return inTurn(hub.entities.count(kind), hub, () => {
          const page = listed(call, hub);
          return leadingOn(call.reply.json(present.many(page.items, call, hub)), page);
        });
      },
    }),
    route({
      method: 'POST',
      path,
      summary: `Create ${named(kind)}`,
      permission: { operation: 'CREATE', resource, owned: 'body' },
      etag: 'create',
      query: rows.writeQuery ?? Type.Object({}),
      body: schema,
      replies: { 201: { description: `The ${kind} as stored.`, schema } },
      async handle(call, hub) {
        const options = { replaceId: replacesIds(call.version, kind), ...writeOptions(kind, call) };
        const entity = await hub.entities.create(kind, call.body, options);
        const place = `${call.path}/${encodeURIComponent(entity.id.toWellFormed())}`;
        const shown = present.one(entity, { ...call, query: {} }, hub);
        return withETag(call.reply.created(shown, place), { stored: storedText(kind, entity, call), shown });
      },
    }),
    route({
      method: 'DELETE',
      path,
      summary: `Delete all ${kind}s`,
      permission: { operation: 'DELETE' },
      replies: { 204: { description: `All ${kind}s are deleted.` } },
      handle: (call, hub) => hub.entities.clear(kind, call.by()).then(() => call.reply.noContent),
    }),
  ];
}

function itemRows<K extends EntityKindName>(rows: EntityRows<K>): readonly ApiRoute[] {
  const { kind, path, resource, schema } = rows;
  const present = PRESENT[kind];
  const item = `${path}/:${resource}`;
  const replaced: Replied = rows.showsReplaced
    ? { 200: { description: `The ${kind} as stored.`, schema } }
    : { 204: { description: `The ${kind} is replaced.` } };
  return [
    route({
      method: 'GET',
      path: item,
      summary: `One ${kind}`,
      permission: { operation: 'READ', resource },
      etag: 'read',
      query: present.query,
      replies: { 200: { description: `The ${kind}.`, schema } },
      handle(call, hub) {
        const entity = requireEntity(kind, call.id, hub);
        return unlessKnown(call, { stored: storedText(kind, entity, call), shown: present.one(entity, call, hub) });
      },
    }),
    route({
      method: 'PUT',
      path: item,
      summary: `Replace ${named(kind)}`,
      permission: { operation: 'UPDATE', resource },
      etag: 'write',
      query: rows.writeQuery ?? Type.Object({}),
      body: schema,
      replies: replaced,
      async handle(call, hub) {
        const check = versionCheck(call, { action: 'replace', kind, id: call.id });
        const revise = (before: EntityMap[K]): unknown => {
          check(() => storedText(kind, before, call));
          return call.body;
        };
        const options = writeOptions(kind, call);
        const entity = await editSeen(kind, call, { entities: hub.entities, revise, options });
        const stored = storedText(kind, entity, call);
        if (rows.showsReplaced !== true) return withVersion(call.reply.noContent, stored);
        const shown = present.one(entity, call, hub);
        return withETag(call.reply.json(shown), { stored, shown });
      },
    }),
    route({
      method: 'PATCH',
      path: item,
      summary: `Change ${named(kind)} by JSON Patch`,
      permission: { operation: 'UPDATE', resource },
      etag: 'write',
      query: rows.writeQuery ?? Type.Object({}),
      body: JsonPatch,
      exactNumbers: true,
      replies: { 200: { description: `The ${kind} as stored.`, schema } },
      async handle(call, hub) {
        const check = versionCheck(call, { action: 'replace', kind, id: call.id });
        const revise = (before: EntityMap[K]): unknown => {
          check(() => storedText(kind, before, call));
          const revised = patchedEntity(kind, before, call, hub);
          checkStorable(revised, hub);
          return revised;
        };
        const options = writeOptions(kind, call);
        const entity = await editSeen(kind, call, { entities: hub.entities, revise, options });
        const shown = present.one(entity, { ...call, query: {} }, hub);
        return withETag(call.reply.json(shown), { stored: storedText(kind, entity, call), shown });
      },
    }),
    route({
      method: 'DELETE',
      path: item,
      summary: `Delete ${named(kind)}`,
      permission: { operation: 'DELETE', resource },
      etag: 'write',
      replies: { 204: { description: `The ${kind} is deleted.` } },
      async handle(call, hub) {
        const check = versionCheck(call, { action: 'delete', kind, id: call.id });
        const admit = (before: object): void => check(() => storedText(kind, before, call));
        await hub.entities.remove(kind, call.id, { admit, by: call.by() });
        return call.reply.noContent;
      },
    }),
  ];
}

/** The stored form of an entity as visible to the caller, as JSON. */
function storedText(kind: EntityKindName, entity: object, call: ApiCall): string {
  return seenText(kind, JSON.stringify(kind === 'fence' ? publicFence(entity as StoredFence) : entity), call);
}

interface WriteQuery {
  readonly force_location_update?: boolean;
  readonly subdivide?: boolean;
}

/** Authorizes the input when the write runs: earlier changes determine which of its references are new. */
function writeOptions(kind: EntityKindName, call: ApiCall): ReplaceOptions {
  const { force_location_update: force, subdivide } = call.query as WriteQuery;
  const admit = (before: object | undefined, after: object) => admitNames(kind, { before, after }, call);
  return { force: force === true, subdivide: subdivide === true, admit, by: call.by() };
}

function named(kind: EntityKindName): string {
  return kind === 'anchor' ? 'an anchor' : `a ${kind}`;
}

/**
 * Applies the JSON Patch of a call to an entity as its token sees it. Throws HUB_BAD_REQUEST naming the failed
 * operation.
 */
function patchedEntity<K extends EntityKindName>(kind: K, entity: EntityMap[K], call: ApiCall, hub: ApiDeps): unknown {
  const patch = call.body;
  if (kind === 'fence') return exactInProperties(patchedFence(entity as StoredFence, patch, hub));
  return exactInProperties(patched(seenBy(call, kind, patchable(kind, entity, hub)), patch));
}

/**
 * A fence is patched in stored form. A fence whose zone was deleted cannot be shown in the zone's coordinates, so it is
 * patched in EPSG:4326; unless the patch moves it, its stored form is preserved, since the zone may be created again.
 */
function patchedFence(fence: StoredFence, patch: unknown, { entities }: ApiDeps): unknown {
  const zoneBy = (name: string) => entities.zoneBy(name);
  const shown = isDetachedFence(fence, zoneBy) ? fenceIn({ crs: 'EPSG:4326' }, fence, zoneBy) : undefined;
  if (shown === undefined) return patched(publicFence(fence), patch);
  const revised = patched(shown, patch);
  if (typeof revised !== 'object' || revised === null || !isSame(placeOf(revised), placeOf(shown))) return revised;
  return { ...revised, ...placeOf(fence) };
}

function placeOf({ region, crs, zone_id }: Partial<StoredFence>): object {
  return { region, crs, zone_id };
}

/** The entity as visible to the caller. A patch is applied to it, because it can copy and test values. */
function seenBy(call: ApiCall, kind: EntityKindName, entity: object): object {
  return call.visibility === undefined
    ? entity
    : (parseLossless(seenText(kind, JSON.stringify(entity), call)) as object);
}

/** The public form of the entity: an operation on its read-only children has no effect and is not an error. */
function patchable(kind: EntityKindName, entity: { readonly id: string }, { entities }: ApiDeps): object {
  if (kind !== 'trackable' && kind !== 'zone') return entity;
  return { ...entity, children: entities.childrenOf(kind, entity.id) };
}
