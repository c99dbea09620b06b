import Type, { type Static } from 'typebox';
import { LineString, Point } from './geojson.ts';
import { Maybe, Metres, Named } from './schema.ts';

const ZoneName = Type.String({ description: 'Id or foreign id of the zone whose coordinates are given.' });
const RADIUS = 'Radius of a round fence around the local reference.';

/** From what a zone or a fence is made that was measured in local coordinates. */
export const CreationParameters = Named('CreationParameters', {
  creation_type: Maybe(Type.Literal('local_coordinates', { description: 'How it is made; local_coordinates.' })),
  local_coordinates: Maybe(LineString),
  global_reference: Maybe(Point),
  local_reference: Maybe(Point),
  rotation: Maybe(Type.Number({ description: 'Degrees by which the local axes are turned clockwise from north.' })),
  meridian_convergence: Maybe(Type.Number({ description: 'Degrees that are added to the rotation.' })),
  radius: Metres(RADIUS),
  zone_id: Maybe(ZoneName),
});
export type CreationParameters = Static<typeof CreationParameters>;

/** What a zone is made from. */
export const ZoneCreationParameters = Named('ZoneCreationParameters', {
  ...CreationParameters.properties,
  global_reference: Point,
  local_coordinates: LineString,
});

/** What a fence is made from: an outline placed by a reference or by a zone, or a circle in a zone. */
export const FenceCreationParameters = Type.Union([
  ZoneCreationParameters,
  Type.Object({ ...CreationParameters.properties, local_coordinates: LineString, zone_id: ZoneName }),
  Type.Object({
    ...CreationParameters.properties,
    zone_id: ZoneName,
    radius: Type.Number({ exclusiveMinimum: 0, description: RADIUS }),
  }),
]);
