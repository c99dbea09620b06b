import Type, { type Static } from 'typebox';
import { LineString, Point } from './geojson.ts';
import { Maybe, Metres, Named } from './schema.ts';

/** From what a zone or a fence is made that was measured in local coordinates. */
export const CreationParameters = Named('CreationParameters', {
  creation_type: Maybe(Type.Literal('local_coordinates', { description: 'How it is made; local_coordinates.' })),
  local_coordinates: Maybe(LineString),
  global_reference: Maybe(Point),
  local_reference: Maybe(Point),
  rotation: Maybe(Type.Number({ description: 'Degrees by which the local axes are turned clockwise from north.' })),
  meridian_convergence: Maybe(Type.Number({ description: 'Degrees that are added to the rotation.' })),
  radius: Metres('Radius of a round fence around the local reference.'),
  zone_id: Maybe(Type.String({ description: 'Id or foreign id of the zone whose coordinates are given.' })),
});
export type CreationParameters = Static<typeof CreationParameters>;
