import Type from 'typebox';
import { checkZoneOutline, checkZonePlace } from '../../auth/admitted.ts';
import { bodyObject } from '../../entities/body.ts';
import { Fence } from '../../model/fence.ts';
import { found } from '../found.ts';
import { PRESENT } from '../present.ts';
import { type Route, route } from '../route.ts';
import { replacesIds } from '../versions.ts';
import { SUBDIVIDE_QUERY } from '../view.ts';
import { fenceAround, fenceFromZone } from '../zone_fence.ts';

export const ZONE_FENCE_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/zones/:zone_id/createfence',
    summary: 'A fence around a zone, which is not kept',
    permission: { operation: 'READ', resource: 'zone_id' },
    replies: { 200: { description: 'The fence.', schema: Fence } },
    handle({ id, sight, reply }, hub) {
      const kept = found('zone', id, hub);
      checkZoneOutline('zone_id', kept, sight);
      const zone = hub.entities.placed(kept);
      return reply.json(JSON.stringify(fenceAround(zone, hub.entities)));
    },
  }),
  route({
    method: 'POST',
    path: '/zones/:zone_id/fence',
    summary: "Create a fence whose region is given in the zone's coordinates, and kept in EPSG:4326",
    permission: { operation: 'CREATE', resource: 'zone_id' },
    query: Type.Object(SUBDIVIDE_QUERY),
    body: Fence,
    replies: { 201: { description: 'The fence as it is kept.', schema: Fence } },
    async handle(call, hub) {
      const zone = found('zone', call.id, hub);
      checkZonePlace('zone_id', zone.id, call.sight);
      const body = fenceFromZone(zone, bodyObject(call.body), hub.entities);
      const fence = await hub.entities.create('fence', body, {
        replaceId: replacesIds(call.version, 'fence'),
        subdivide: call.query.subdivide === true,
      });
      const [prefix] = call.path.split('/zones/');
      const place = `${prefix}/fences/${encodeURIComponent(fence.id.toWellFormed())}`;
      return call.reply.created(PRESENT.fence.one(fence, { ...call, query: {} }, hub), place);
    },
  }),
];
