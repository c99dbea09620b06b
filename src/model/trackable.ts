import Type, { type Static } from 'typebox';
import { Polygon } from './geojson.ts';
import { LocatingRule } from './rule.ts';
import { Maybe, Metres, OneOf, Properties } from './schema.ts';
import { objectTiming } from './timing.ts';

/** A thing that is located through its providers. */
export const Trackable = Type.Object({
  id: Type.String({ description: 'A UUID.' }),
  type: OneOf(['omlox', 'virtual'], 'Whether the trackable itself is compatible with omlox.'),
  name: Maybe(Type.String()),
  geometry: Maybe(Polygon),
  extrusion: Metres('Height of the trackable.'),
  location_providers: Maybe(Type.Array(Type.String(), { description: 'Ids of its providers, each once.' })),
  ...objectTiming,
  radius: Metres('Radius of a round trackable.'),
  calculate_collisions: Maybe(Type.Boolean()),
  properties: Maybe(Properties),
  locating_rules: Maybe(Type.Array(LocatingRule)),
  parent: Maybe(Type.String({ description: 'Id of the trackable that carries this one.' })),
});
export type Trackable = Static<typeof Trackable>;
