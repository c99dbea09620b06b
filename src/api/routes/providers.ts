import { hubError } from '../../errors.ts';
import Type from 'typebox';
import { Fence } from '../../model/fence.ts';
import { LocationProvider } from '../../model/provider.ts';
import { AnyType, ArrayOf, IdArray } from '../../model/schema.ts';
import { Trackable } from '../../model/trackable.ts';
import { idList } from '../responses.ts';
import { existing, requireEntity } from '../lookup.ts';
import { answersTo } from '../naming.ts';
import { onlyReadable } from '../ownership.ts';
import { PRESENT } from '../present.ts';
import { type ApiRoute, route } from '../route.ts';
import { relatedAs } from '../versions.ts';
import { SPATIAL_QUERY, VIEW_QUERY } from '../view.ts';
import { entityRows } from './entity_rows.ts';

const own = { operation: 'READ', resource: 'provider_id' } as const;

export const PROVIDER_ROUTES: readonly ApiRoute[] = [
  ...entityRows({ kind: 'provider', path: '/providers', resource: 'provider_id', schema: LocationProvider }),
  route({
    method: 'GET',
    path: '/providers/:provider_id/fences',
    summary: 'Fences that a provider is in',
    permission: own,
    query: Type.Object({ ...VIEW_QUERY, ...SPATIAL_QUERY }),
    replies: { 200: { description: 'The fences.', schema: ArrayOf(Fence) } },
    async handle(call, hub) {
      const { id } = requireEntity('provider', call.id, hub);
      const spatial = call.query.spatial_query === true;
      const fences = idList(await answersTo({ ask: 'provider_fences', id, spatial }, call, hub));
      return call.reply.json(
        PRESENT.fence.many(onlyReadable(existing('fence', fences, hub), 'fence_id', call.visibility), call, hub),
      );
    },
  }),
  route({
    method: 'GET',
    path: '/providers/:provider_id/trackables',
    summary: 'Trackables that a provider is assigned to',
    permission: own,
    replies: {
      200: { description: 'The trackables.', schema: ArrayOf(Trackable), v1: IdArray },
    },
    handle(call, hub) {
      const assigned = hub.entities.trackablesOf(requireEntity('provider', call.id, hub).id);
      const trackables = onlyReadable(assigned, 'trackable_id', call.visibility);
      const asIds = relatedAs(call.version) === 'ids';
      const ids = (): string => JSON.stringify(trackables.map(({ id }) => id));
      return call.reply.json(asIds ? ids() : PRESENT.trackable.many(trackables, call, hub));
    },
  }),
  route({
    method: 'GET',
    path: '/providers/:provider_id/sensors',
    summary: 'Sensor data of a provider',
    permission: own,
    replies: { 200: { description: 'The sensor data, as it was sent.', schema: AnyType } },
    handle({ id, reply }, hub) {
      const { sensors } = requireEntity('provider', id, hub);
      if (sensors != null) return reply.json(JSON.stringify(sensors));
      throw hubError('no_sensors', { id });
    },
  }),
  route({
    method: 'PUT',
    path: '/providers/:provider_id/sensors',
    summary: 'Set the sensor data of a provider, or clear it with null',
    permission: { operation: 'UPDATE', resource: 'provider_id' },
    body: AnyType,
    exactNumbers: true,
    replies: { 204: { description: 'The sensor data is stored.' } },
    async handle({ id, body, reply }, hub) {
      await hub.entities.edit('provider', id, (provider) => ({ ...provider, sensors: body }));
      return reply.noContent;
    },
  }),
];
