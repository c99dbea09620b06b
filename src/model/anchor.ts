import Type, { type Static } from 'typebox';
import { Point } from './geojson.ts';
import { Maybe, Named, Properties } from './schema.ts';

/**
 * A device at a fixed position from which a locating system measures. If both of its positions are known, it helps to
 * georeference its zone.
 */
export const Anchor = Named('Anchor', {
  id: Type.String({ description: 'Id of the anchor.' }),
  name: Maybe(Type.String({ description: 'Name for people.' })),
  zone_id: Maybe(Type.String({ description: 'Id or foreign id of the zone of the local position.' })),
  local_position: Maybe(Point),
  georeferenced_position: Maybe(Point),
  local_azimuth_angle: Maybe(Type.Number({ description: 'Degrees.' })),
  global_azimuth_angle: Maybe(Type.Number({ description: 'Degrees.' })),
  elevation_angle: Maybe(Type.Number({ description: 'Degrees.' })),
  properties: Maybe(Properties),
});
export type Anchor = Static<typeof Anchor>;
