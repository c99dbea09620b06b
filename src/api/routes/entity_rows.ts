import Type, { type TObject, type TSchema } from 'typebox';
import type { EntityMap, Kind } from '../../entities/known.ts';
import { found } from '../found.ts';
import { PRESENT } from '../present.ts';
import { type ApiDeps, type Call, type Permission, type Replied, type Route, route } from '../route.ts';
import { replacesIds } from '../versions.ts';

/** What differs between the kinds of entities. */
export interface EntityRows<K extends Kind> {
  readonly kind: K;
  /** Path of the collection, for example `/zones`. */
  readonly path: string;
  readonly resource: NonNullable<Permission['resource']>;
  readonly schema: TSchema;
  /** Parameters of the two lists, and the entities that they select; all when absent. */
  readonly listQuery?: TObject;
  select?(call: Call, hub: ApiDeps): readonly EntityMap[K][];
  /** Parameters of POST and PUT. */
  readonly writeQuery?: TObject;
  /** Whether PUT answers 200 with the entity, not 204. */
  readonly showsReplaced?: boolean;
}

/** The rows that all kinds of entities have: the collection, its summary, and the item. */
export function entityRows<K extends Kind>(rows: EntityRows<K>): readonly Route[] {
  return [...collectionRows(rows), ...itemRows(rows)];
}

function collectionRows<K extends Kind>(rows: EntityRows<K>): readonly Route[] {
  const { kind, path, schema } = rows;
  const present = PRESENT[kind];
  const listQuery = rows.listQuery ?? Type.Object({});
  const select = rows.select ?? ((_call: Call, hub: ApiDeps) => hub.entities.list(kind));
  return [
    route({
      method: 'GET',
      path,
      summary: `Ids of all ${kind}s`,
      permission: { operation: 'READ' },
      query: listQuery,
      replies: { 200: { description: 'The ids.', schema: Type.Array(Type.String()) } },
      handle: (call, hub) => call.reply.json(JSON.stringify(select(call, hub).map(({ id }) => id))),
    }),
    route({
      method: 'GET',
      path: `${path}/summary`,
      summary: `All ${kind}s`,
      permission: { operation: 'READ' },
      query: Type.Object({ ...listQuery.properties, ...present.query.properties }),
      replies: { 200: { description: `The ${kind}s.`, schema: Type.Array(schema) } },
      handle: (call, hub) => call.reply.json(present.many(select(call, hub), call, hub)),
    }),
    route({
      method: 'POST',
      path,
      summary: `Create a ${kind}`,
      permission: { operation: 'CREATE' },
      query: rows.writeQuery ?? Type.Object({}),
      body: schema,
      replies: { 201: { description: `The ${kind} as it is kept.`, schema } },
      async handle(call, hub) {
        const options = { replaceId: replacesIds(call.version, kind), force: isForced(call) };
        const entity = await hub.entities.create(kind, call.body, options);
        const place = `${call.path}/${encodeURIComponent(entity.id.toWellFormed())}`;
        return call.reply.created(present.one(entity, { ...call, query: {} }, hub), place);
      },
    }),
    route({
      method: 'DELETE',
      path,
      summary: `Delete all ${kind}s`,
      permission: { operation: 'DELETE' },
      replies: { 204: { description: `There are no ${kind}s any more.` } },
      handle: (call, hub) => hub.entities.clear(kind).then(() => call.reply.noContent),
    }),
  ];
}

function itemRows<K extends Kind>({ kind, path, resource, schema, ...rows }: EntityRows<K>): readonly Route[] {
  const present = PRESENT[kind];
  const item = `${path}/:${resource}`;
  const replaced: Replied = rows.showsReplaced
    ? { 200: { description: `The ${kind} as it is kept.`, schema } }
    : { 204: { description: `The ${kind} is replaced.` } };
  return [
    route({
      method: 'GET',
      path: item,
      summary: `One ${kind}`,
      permission: { operation: 'READ', resource },
      query: present.query,
      replies: { 200: { description: `The ${kind}.`, schema } },
      handle: (call, hub) => call.reply.json(present.one(found(kind, call.id, hub), call, hub)),
    }),
    route({
      method: 'PUT',
      path: item,
      summary: `Replace a ${kind}`,
      permission: { operation: 'UPDATE', resource },
      query: rows.writeQuery ?? Type.Object({}),
      body: schema,
      replies: replaced,
      async handle(call, hub) {
        const entity = await hub.entities.replace(kind, call.id, call.body, { force: isForced(call) });
        return rows.showsReplaced ? call.reply.json(present.one(entity, call, hub)) : call.reply.noContent;
      },
    }),
    route({
      method: 'DELETE',
      path: item,
      summary: `Delete a ${kind}`,
      permission: { operation: 'DELETE', resource },
      replies: { 204: { description: `The ${kind} is deleted.` } },
      handle: (call, hub) => hub.entities.remove(kind, call.id).then(() => call.reply.noContent),
    }),
  ];
}

function isForced({ query }: Call): boolean {
  return (query as { readonly force_location_update?: boolean }).force_location_update === true;
}
