import Type, { type Static } from 'typebox';
import { LineString, Point } from './geojson.ts';
import { Maybe, Meters, Named } from './schema.ts';

const CreationType = Type.Literal('local_coordinates', {
  title: 'CreationType',
  description: 'Kind of the source data.',
});

/** Source data of a zone or a fence measured in local coordinates; see from_local.ts for the required members. */
export const CreationParameters = Named('CreationParameters', {
  creation_type: Maybe(CreationType),
  local_coordinates: Maybe(LineString),
  global_reference: Maybe(Point),
  local_reference: Maybe(Point),
  rotation: Maybe(Type.Number({ description: 'Clockwise rotation of the local axes from north, in degrees.' })),
  meridian_convergence: Maybe(Type.Number({ description: 'Degrees added to the rotation.' })),
  radius: Meters('Radius of a round fence around the local reference.'),
  zone_id: Maybe(Type.String({ description: 'Id or foreign id of the zone whose coordinates are given.' })),
});
export type CreationParameters = Static<typeof CreationParameters>;

/** Source of a zone measured in local coordinates. */
export const ZoneCreationParameters = Named('ZoneCreationParameters', {
  ...CreationParameters.properties,
  global_reference: Point,
  local_coordinates: LineString,
});
