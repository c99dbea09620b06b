import Type, { type Static } from 'typebox';
import { Polygon } from './geojson.ts';
import { LocatingRule } from './rule.ts';
import { documented, Maybe, Metres, Named, OneOf, Properties } from './schema.ts';
import { objectTiming } from './timing.ts';

/** A thing that is located through its providers. */
export const Trackable = Named('Trackable', {
  id: Type.String({ description: 'A UUID.' }),
  type: OneOf(['omlox', 'virtual'], 'Whether the trackable itself is compatible with omlox.'),
  name: Maybe(Type.String({ description: 'Name for people.' })),
  geometry: Maybe(Polygon),
  extrusion: Metres('Height of the trackable.'),
  location_providers: Maybe(
    Type.Array(Type.String(documented({ minLength: 1 })), { description: 'Ids of its providers, each once.' }),
  ),
  ...objectTiming,
  radius: Metres('Radius of a round trackable.'),
  calculate_collisions: Maybe(
    Type.Boolean({ description: 'Whether it takes part in collisions; a setting of the hub decides when absent.' }),
  ),
  properties: Maybe(Properties),
  locating_rules: Maybe(
    Type.Array(LocatingRule, { description: 'Which of its locations counts; the rules of the hub when absent.' }),
  ),
  parent: Maybe(Type.String({ description: 'Id of the trackable that carries this one.' })),
});
export type Trackable = Static<typeof Trackable>;
