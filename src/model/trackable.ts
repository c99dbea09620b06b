import Type, { type Static } from 'typebox';
import { Filter } from './filter.ts';
import { Polygon } from './geojson.ts';
import { RuleSet } from './rule.ts';
import { documented, Maybe, Meters, Named, OneOf, Properties } from './schema.ts';
import { objectTiming } from './timing.ts';

const TrackableType = OneOf(['omlox', 'virtual'], {
  title: 'TrackableType',
  description: 'Whether the trackable itself is compatible with omlox.',
});

/** A thing that is located through its providers. */
export const Trackable = Named('Trackable', {
  id: Type.String({ description: 'A UUID.' }),
  type: TrackableType,
  name: Maybe(Type.String({ description: 'Name for people.' })),
  geometry: Maybe(Polygon),
  extrusion: Meters('Height of the trackable.'),
  location_providers: Maybe(
    Type.Array(Type.String(documented({ minLength: 1 })), { description: 'Ids of its providers, each once.' }),
  ),
  ...objectTiming,
  filter: Maybe(Filter),
  radius: Meters('Radius of a round trackable.'),
  calculate_collisions: Maybe(
    Type.Boolean({ description: 'Whether it takes part in collisions; by default a setting of the hub decides.' }),
  ),
  properties: Maybe(Properties),
  locating_rules: Maybe(RuleSet),
  parent: Maybe(Type.String({ description: 'Id of the trackable that carries this one.' })),
});
export type Trackable = Static<typeof Trackable>;
