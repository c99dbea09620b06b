import Type from 'typebox';
import type { Query } from '../../core/item.ts';
import { TrackableMotion } from '../../model/events.ts';
import { Fence } from '../../model/fence.ts';
import { Location } from '../../model/location.ts';
import { LocationProvider } from '../../model/provider.ts';
import { Trackable } from '../../model/trackable.ts';
import { idList, textList } from '../answers.ts';
import { existing, found } from '../found.ts';
import { limitedTo, onlyOwned } from '../ownership.ts';
import { PRESENT } from '../present.ts';
import { oneOf } from '../read_one.ts';
import { type Route, route } from '../route.ts';
import { TrackableShown } from '../shown.ts';
import { relatedAs } from '../versions.ts';
import { SPATIAL_QUERY, SUBDIVIDE_QUERY, VIEW_QUERY, viewOf } from '../view.ts';
import { entityRows } from './entity_rows.ts';

const WRITE_QUERY = Type.Object({
  force_location_update: Type.Optional(
    Type.Boolean({ description: 'Whether the newest locations of its providers are evaluated at once.' }),
  ),
  ...SUBDIVIDE_QUERY,
});

const own = { operation: 'READ', resource: 'trackable_id' } as const;

export const TRACKABLE_ROUTES: readonly Route[] = [
  ...entityRows({
    kind: 'trackable',
    path: '/trackables',
    resource: 'trackable_id',
    schema: Trackable,
    shown: TrackableShown,
    writeQuery: WRITE_QUERY,
    showsReplaced: true,
  }),
  route({
    method: 'GET',
    path: '/trackables/motions',
    summary: 'Motions of all trackables',
    permission: { operation: 'READ', resource: 'trackable_id', owned: 'reply' },
    query: Type.Object(VIEW_QUERY),
    replies: { 200: { description: 'The motions.', schema: Type.Array(TrackableMotion) } },
    async handle({ query, owned, reply }, hub) {
      const view = viewOf(query, hub.entities);
      const asked: Query = { ask: 'trackable_motions', view, ...limitedTo('trackable', owned, hub) };
      return reply.json(textList(await hub.read(asked), view));
    },
  }),
  route({
    method: 'GET',
    path: '/trackables/:trackable_id/motion',
    summary: 'Motion of a trackable',
    permission: own,
    query: Type.Object(VIEW_QUERY),
    replies: { 200: { description: 'The motion.', schema: TrackableMotion } },
    handle: (call, hub) => oneOf('trackable', 'trackable_motion', call, hub),
  }),
  route({
    method: 'GET',
    path: '/trackables/:trackable_id/location',
    summary: 'The location that counts for a trackable',
    permission: own,
    query: Type.Object(VIEW_QUERY),
    replies: { 200: { description: 'The location.', schema: Location } },
    handle: (call, hub) => oneOf('trackable', 'trackable_location', call, hub),
  }),
  route({
    method: 'GET',
    path: '/trackables/:trackable_id/locations',
    summary: 'Last locations of all providers of a trackable',
    permission: own,
    query: Type.Object(VIEW_QUERY),
    replies: { 200: { description: 'The locations.', schema: Type.Array(Location) } },
    async handle({ id, query, reply }, hub) {
      const trackable = found('trackable', id, hub);
      const view = viewOf(query, hub.entities);
      return reply.json(textList(await hub.read({ ask: 'trackable_locations', id: trackable.id, view }), view));
    },
  }),
  route({
    method: 'GET',
    path: '/trackables/:trackable_id/fences',
    summary: 'Fences that a trackable is in',
    permission: own,
    query: Type.Object({ ...VIEW_QUERY, ...SPATIAL_QUERY }),
    replies: { 200: { description: 'The fences.', schema: Type.Array(Fence) } },
    async handle(call, hub) {
      const { id } = found('trackable', call.id, hub);
      const spatial = call.query.spatial_query === true;
      const fences = idList(await hub.read({ ask: 'trackable_fences', id, spatial }));
      return call.reply.json(
        PRESENT.fence.many(onlyOwned(existing('fence', fences, hub), 'fence_id', call.owned), call, hub),
      );
    },
  }),
  route({
    method: 'GET',
    path: '/trackables/:trackable_id/providers',
    summary: 'Providers of a trackable',
    permission: own,
    replies: {
      200: { description: 'The providers.', schema: Type.Array(LocationProvider), v1: Type.Array(Type.String()) },
    },
    handle({ id, version, owned, reply }, hub) {
      const trackable = found('trackable', id, hub);
      const assigned = existing('provider', trackable.location_providers ?? [], hub);
      const providers = onlyOwned(assigned, 'provider_id', owned);
      const related = relatedAs(version) === 'ids' ? providers.map((provider) => provider.id) : providers;
      return reply.json(JSON.stringify(related));
    },
  }),
  route({
    method: 'GET',
    path: '/trackables/:trackable_id/sensors',
    summary: 'Sensor data of all providers of a trackable',
    permission: own,
    replies: {
      200: { description: 'The sensor data of each provider that has some.', schema: Type.Array(Type.Unknown()) },
    },
    handle({ id, reply }, hub) {
      const trackable = found('trackable', id, hub);
      const providers = existing('provider', trackable.location_providers ?? [], hub);
      return reply.json(JSON.stringify(providers.map(({ sensors }) => sensors).filter((sensors) => sensors != null)));
    },
  }),
];
