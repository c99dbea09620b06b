import Type from 'typebox';
import { checkZonePlace } from '../../auth/admitted.ts';
import { feature } from '../../core/zone/view.ts';
import { idKey } from '../../model/id.ts';
import { SimpleTransform, Zone } from '../../model/zone.ts';
import { found } from '../found.ts';
import { type Call, type Route, route } from '../route.ts';
import { simpleTransform } from '../simple_transform.ts';
import { VIEW_QUERY } from '../view.ts';
import { entityRows } from './entity_rows.ts';

const LIST_QUERY = Type.Object({
  foreign_id: Type.Optional(Type.String({ description: 'The foreign id of the wanted zone.' })),
});

export const ZONE_ROUTES: readonly Route[] = [
  ...entityRows({
    kind: 'zone',
    path: '/zones',
    resource: 'zone_id',
    schema: Zone,
    listQuery: LIST_QUERY,
    select({ query }: Call, { entities }) {
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
    summary: "Move a position between a zone's coordinates and EPSG:4326",
    permission: { operation: 'UPDATE', resource: 'zone_id' },
    query: Type.Object({ geojson: VIEW_QUERY.geojson }),
    body: SimpleTransform,
    replies: { 200: { description: 'The position in the other crs.', schema: SimpleTransform } },
    handle({ id, body, query, sight, reply }, hub) {
      const zone = found('zone', id, hub);
      checkZonePlace('zone_id', zone.id, sight);
      const moved = simpleTransform(hub.entities.placed(zone), body);
      if (query.geojson !== true) return reply.json(JSON.stringify(moved));
      const { position, ...rest } = moved;
      return reply.json(feature(JSON.stringify(position), JSON.stringify(rest)));
    },
  }),
];
