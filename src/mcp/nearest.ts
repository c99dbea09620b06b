import Type from 'typebox';
import type { TrackableMotion } from '../model/events.ts';
import { idKey } from '../model/id.ts';
import type { Location } from '../model/location.ts';
import { MATCHES_MAX, type SearchMatch, type SearchResult } from '../model/search.ts';
import { ArgumentError, pageOf } from './answers.ts';
import { pathOf, type Rest, RestError } from './rest.ts';
import { CURSOR, KIND, optionalText, tool } from './tool.ts';

const COUNT_DEFAULT = 10;
/** Maximum length of an expression of the locating rules. */
const WHERE_MAX = 4096;

type LonLat = readonly [lon: number, lat: number];

/** Tool that finds the objects near a point or near another object. */
export const NEAREST = tool({
  name: 'nearest',
  title: 'Objects near a point or an object',
  description: 'The trackables or providers nearest to a point or to an object, with their distances in meters.',
  input: Type.Object({
    kind: Type.Optional(KIND),
    id: optionalText('Id of the trackable or provider from which distances are measured'),
    longitude: Type.Optional(Type.Number({ description: 'Without id: longitude of the point in degrees' })),
    latitude: Type.Optional(Type.Number({ description: 'Without id: latitude of the point in degrees' })),
    count: Type.Optional(
      Type.Integer({ minimum: 1, maximum: MATCHES_MAX - 1, description: `Maximum number; ${COUNT_DEFAULT} if absent` }),
    ),
    radius: Type.Optional(Type.Number({ exclusiveMinimum: 0, description: 'Greatest distance in meters' })),
    floor: Type.Optional(Type.Number({ description: 'Only objects on this floor' })),
    where: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: WHERE_MAX,
        description: 'Only objects whose last location fulfills this expression of the locating rules: accuracy < 5',
      }),
    ),
    ...CURSOR,
  }),
  async run({ kind = 'trackable', id, longitude, latitude, count = COUNT_DEFAULT, cursor, ...terms }, { rest }) {
    const near = id === undefined ? givenPoint(longitude, latitude) : await pointOf(id, rest);
    if (near === undefined) return { id, position: null };
    // The object itself may be one of the matches.
    const k = count + (id === undefined ? 0 : 1);
    const { body } = await rest.ask('GET', '/search', { query: { kind, near: near.join(), k, ...terms } });
    const { matches, complete } = body as SearchResult;
    const others = matches
      .map(foundObject)
      .filter((object) => id === undefined || idKey(String(object.id)) !== idKey(id));
    const [lon, lat] = near;
    return {
      ...{ longitude: lon, latitude: lat, complete: complete && others.length <= count },
      ...pageOf(others.slice(0, count), cursor),
    };
  },
});

function foundObject({ distance, location, motion }: SearchMatch) {
  if (motion === undefined) return { kind: 'provider', id: location?.provider_id, distance, location };
  const { id, name, location: moved } = motion;
  return { kind: 'trackable', id, ...(name != null && { name }), distance, location: moved };
}

/** Throws an ArgumentError if a coordinate is missing. */
function givenPoint(longitude: number | undefined, latitude: number | undefined): LonLat {
  if (longitude !== undefined && latitude !== undefined) return [longitude, latitude];
  const missing = longitude === undefined ? 'longitude' : 'latitude';
  throw new ArgumentError(`${missing}: must be a number, unless id is given, found nothing`);
}

/** Last position of a trackable or provider; undefined without one. */
async function pointOf(id: string, rest: Rest): Promise<LonLat | undefined> {
  for (const path of [pathOf('trackables', id, 'motion'), pathOf('providers', id, 'location')]) {
    try {
      const { body } = await rest.ask('GET', path);
      const { position } = 'location' in (body as object) ? (body as TrackableMotion).location : (body as Location);
      const [lon = 0, lat = 0] = position.coordinates;
      return [lon, lat];
    } catch (error) {
      if (!(error instanceof RestError && error.status === 404)) throw error;
    }
  }
  return undefined;
}
