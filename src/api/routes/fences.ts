import Type, { type TSchema } from 'typebox';
import type { Query } from '../../core/item.ts';
import { bodyObject } from '../../entities/body.ts';
import { TrackableMotion } from '../../model/events.ts';
import { Fence } from '../../model/fence.ts';
import type { ObjectKind } from '../../model/id.ts';
import { Location } from '../../model/location.ts';
import { LocationProvider } from '../../model/provider.ts';
import { ArrayOf } from '../../model/schema.ts';
import { Trackable } from '../../model/trackable.ts';
import { idList, textList } from '../responses.ts';
import { FenceEventInput } from '../fence_event_input.ts';
import { existing, requireEntity } from '../lookup.ts';
import { admitNames, answersTo } from '../naming.ts';
import { limitedTo, onlyReadable } from '../ownership.ts';
import { PRESENT } from '../present.ts';
import { type Method, type ApiRoute, route } from '../route.ts';
import { SPATIAL_QUERY, SUBDIVIDE_QUERY, VIEW_QUERY, viewOf } from '../view.ts';
import { entityRows } from './entity_rows.ts';

export const FENCE_ROUTES: readonly ApiRoute[] = [
  ...entityRows({
    kind: 'fence',
    path: '/fences',
    resource: 'fence_id',
    schema: Fence,
    writeQuery: Type.Object(SUBDIVIDE_QUERY),
  }),
  placesRow('locations', 'fence_locations', Location),
  placesRow('motions', 'fence_motions', TrackableMotion),
  objectsRow('providers', 'provider', LocationProvider),
  objectsRow('trackables', 'trackable', Trackable),
  eventsRow('POST'),
  eventsRow('PUT'),
];

/** Locations or motions of the objects in a fence. */
function placesRow(name: string, ask: 'fence_locations' | 'fence_motions', schema: TSchema): ApiRoute {
  return route({
    method: 'GET',
    path: `/fences/:fence_id/${name}`,
    summary: `The ${name} in a fence`,
    permission: { operation: 'READ', resource: 'fence_id' },
    query: Type.Object({ ...VIEW_QUERY, ...SPATIAL_QUERY }),
    replies: { 200: { description: `The ${name}.`, schema: ArrayOf(schema) } },
    async handle(call, hub) {
      const { query, owned, visibility, reply } = call;
      const { id } = requireEntity('fence', call.id, hub);
      const view = viewOf(call, hub);
      const kind = ask === 'fence_motions' ? 'trackable' : 'provider';
      const only = visibility?.seesAll(`${kind}_id`) === true ? {} : limitedTo(kind, owned, hub);
      const asked: Query = { ask, id, spatial: query.spatial_query === true, view, ...only };
      return reply.json(textList(await answersTo(asked, call, hub), view));
    },
  });
}

/** The entities in a fence. */
function objectsRow<K extends ObjectKind>(name: string, kind: K, schema: TSchema): ApiRoute {
  return route({
    method: 'GET',
    path: `/fences/:fence_id/${name}`,
    summary: `The ${name} in a fence`,
    permission: { operation: 'READ', resource: 'fence_id' },
    query: Type.Object(SPATIAL_QUERY),
    replies: { 200: { description: `The ${name}.`, schema: ArrayOf(schema) } },
    async handle(call, hub) {
      const { id } = requireEntity('fence', call.id, hub);
      const spatial = call.query.spatial_query === true;
      const ask = kind === 'provider' ? 'fence_providers' : 'fence_trackables';
      const answers = await answersTo({ ask, id, spatial }, call, hub);
      const objects = onlyReadable(existing(kind, idList(answers), hub), `${kind}_id`, call.visibility);
      return call.reply.json(PRESENT[kind].many(objects, call, hub));
    },
  });
}

/** Memberships do not change: the event is only published. */
function eventsRow(method: Method): ApiRoute {
  return route({
    method,
    path: '/fences/:fence_id/events',
    summary: 'Publish a fence event of a third party',
    permission: { operation: method === 'POST' ? 'CREATE' : 'UPDATE', resource: 'fence_id' },
    body: FenceEventInput,
    replies: { 204: { description: 'The event is published.' } },
    handle(call, hub) {
      const fence = requireEntity('fence', call.id, hub);
      admitNames('fence_event', { before: undefined, after: bodyObject(call.body) }, call);
      hub.publishFenceEvent(fence, call.body);
      return call.reply.noContent;
    },
  });
}
