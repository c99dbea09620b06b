import { hubError } from '../../errors.ts';
import Type from 'typebox';
import { checkZoneOutline, checkZonePlace } from '../../auth/reference_check.ts';
import { WGS84 } from '../../core/geo/crs.ts';
import { roundDegrees, roundMeters } from '../../core/geo/rounding.ts';
import { feature } from '../../core/zone/view.ts';
import { zoneTransform } from '../../core/zone/zone_transform.ts';
import { bodyObject } from '../../entities/body.ts';
import { checker } from '../../model/check.ts';
import { Fence } from '../../model/fence.ts';
import { idKey } from '../../model/id.ts';
import { show } from '../../model/error_value_text.ts';
import { SimpleTransform, Zone } from '../../model/zone.ts';
import { requireEntity } from '../lookup.ts';
import { PRESENT } from '../present.ts';
import { type ApiCall, type ApiRoute, route } from '../route.ts';
import { replacesIds } from '../versions.ts';
import { SUBDIVIDE_QUERY, VIEW_QUERY } from '../view.ts';
import { fenceAround, fenceFromZone } from '../zone_fence.ts';
import { entityRows } from './entity_rows.ts';

const LIST_QUERY = Type.Object({
  foreign_id: Type.Optional(Type.String({ description: 'The foreign id of the zone.' })),
});

const transform = checker(SimpleTransform);

export const ZONE_ROUTES: readonly ApiRoute[] = [
  ...entityRows({
    kind: 'zone',
    path: '/zones',
    resource: 'zone_id',
    schema: Zone,
    listQuery: LIST_QUERY,
    select({ query }: ApiCall, { entities }) {
      const { foreign_id: wanted } = query as { readonly foreign_id?: string };
      if (wanted === undefined) return entities.list('zone');
      return entities
        .list('zone')
        .filter((zone) => zone.foreign_id != null && idKey(zone.foreign_id) === idKey(wanted));
    },
  }),
  route({
    method: 'PUT',
    path: '/zones/:zone_id/transform',
    summary: "Transform a position between a zone's coordinates and EPSG:4326",
    permission: { operation: 'UPDATE', resource: 'zone_id' },
    query: Type.Object({ geojson: VIEW_QUERY.geojson }),
    body: SimpleTransform,
    replies: { 200: { description: 'The position in the other crs.', schema: SimpleTransform } },
    handle({ id, body, query, visibility, reply }, hub) {
      const zone = requireEntity('zone', id, hub);
      checkZonePlace('zone_id', zone.id, visibility);
      const moved = simpleTransform(hub.entities.placed(zone), body);
      if (query.geojson !== true) return reply.json(JSON.stringify(moved));
      const { position, ...rest } = moved;
      return reply.json(feature(JSON.stringify(position), JSON.stringify(rest)));
    },
  }),
  route({
    method: 'GET',
    path: '/zones/:zone_id/createfence',
    summary: 'A fence around a zone, which is not stored',
    permission: { operation: 'READ', resource: 'zone_id' },
    replies: { 200: { description: 'The fence.', schema: Fence } },
    handle({ id, visibility, reply }, hub) {
      const stored = requireEntity('zone', id, hub);
      checkZoneOutline('zone_id', stored, visibility);
      const zone = hub.entities.placed(stored);
      return reply.json(JSON.stringify(fenceAround(zone, hub.entities)));
    },
  }),
  route({
    method: 'POST',
    path: '/zones/:zone_id/fence',
    summary: "Create a fence whose region is given in the zone's coordinates, and stored in EPSG:4326",
    permission: { operation: 'CREATE', resource: 'zone_id' },
    query: Type.Object(SUBDIVIDE_QUERY),
    body: Fence,
    replies: { 201: { description: 'The stored fence.', schema: Fence } },
    async handle(call, hub) {
      const zone = requireEntity('zone', call.id, hub);
      checkZonePlace('zone_id', zone.id, call.visibility);
      const body = fenceFromZone(zone, bodyObject(call.body), hub.entities);
      const fence = await hub.entities.create('fence', body, {
        replaceId: replacesIds(call.version, 'fence'),
        subdivide: call.query.subdivide === true,
        by: call.by(),
      });
      const [prefix] = call.path.split('/zones/');
      const place = `${prefix}/fences/${encodeURIComponent(fence.id.toWellFormed())}`;
      return call.reply.created(PRESENT.fence.one(fence, { ...call, query: {} }, hub), place);
    },
  }),
];

/**
 * Transforms a position between a zone's coordinates and EPSG:4326, away from its crs; z is unchanged. Throws
 * HUB_BAD_REQUEST for an invalid SimpleTransform, a zone that is not georeferenced, and a position outside its range.
 */
function simpleTransform(zone: Zone, body: unknown): SimpleTransform {
  const { position, crs } = transform.parse(body);
  const wanted = crs ?? 'local';
  if (wanted !== 'local' && wanted !== 'EPSG:4326')
    throw hubError('not_local_or_wgs84', { path: 'crs', found: show(crs) });
  const plane = zoneTransform(zone);
  if (plane === undefined) throw hubError('zone_not_placed', { path: 'zone_id', found: show(zone.id) });
  const [x, y, z] = position.coordinates as [number, number, number?];
  const toWgs84 = wanted === 'local';
  const from = toWgs84 ? plane : WGS84;
  const out: [number, number] = [Number.NaN, Number.NaN];
  if (from.covers(x, y)) (toWgs84 ? plane.toWgs84 : plane.fromWgs84)(x, y, out);
  if (!Number.isFinite(out[0]) || !Number.isFinite(out[1])) {
    throw hubError('out_of_zone', { path: 'position.coordinates', zone_id: zone.id, found: show([x, y]) });
  }
  const coordinates = out.map(toWgs84 ? roundDegrees : roundMeters);
  if (z !== undefined) coordinates.push(z);
  return { position: { type: 'Point', coordinates }, source: zone.id, crs: toWgs84 ? 'EPSG:4326' : 'local' };
}
