import Type, { type Static } from 'typebox';
import { TrackableMotion } from './events.ts';
import { Polygon } from './geojson.ts';
import { Location } from './location.ts';
import { Maybe, Named, OneOf } from './schema.ts';

/** Kinds of objects that can be searched. */
export const SEARCHED_KINDS = ['provider', 'trackable'] as const;

/** Maximum number of objects that a search returns. */
export const MATCHES_MAX = 500;
export const MATCHES_DEFAULT = 100;

const kindWord = OneOf(SEARCHED_KINDS, { title: 'SearchedKind', description: 'Kind of the objects.' });
const k = Type.Integer({
  minimum: 1,
  maximum: MATCHES_MAX,
  description: `Maximum number of objects; ${MATCHES_DEFAULT} if absent.`,
});
const radius = Type.Number({
  exclusiveMinimum: 0,
  description: 'Greatest distance from near in meters; any if absent.',
});
const floor = Type.Number({ description: 'Only objects on this floor.' });
const where = Type.String({
  description: 'Only objects whose last location fulfills this expression, in the language of the locating rules.',
});

/** Parameters of a search for objects near a point. */
export const SEARCH_QUERY = {
  kind: kindWord,
  near: Type.String({ description: 'Longitude and latitude of a point, with a comma between them.' }),
  k: Type.Optional(k),
  radius: Type.Optional(radius),
  floor: Type.Optional(floor),
  where: Type.Optional(where),
};

/** A search for objects by their last positions. */
export const SearchRequest = Named('SearchRequest', {
  kind: kindWord,
  region: Maybe(Polygon),
  near: Maybe(
    Type.Array(Type.Number(), {
      minItems: 2,
      maxItems: 2,
      description: 'Longitude and latitude of a point, from which distances are measured.',
    }),
  ),
  k: Maybe(k),
  radius: Maybe(radius),
  floor: Maybe(floor),
  where: Maybe(where),
});
export type SearchRequest = Static<typeof SearchRequest>;

/** An object that a search has found. */
const SearchMatch = Named('SearchMatch', {
  distance: Type.Optional(Type.Number({ description: 'Distance from near in meters; absent without near.' })),
  location: Type.Optional(Location),
  motion: Type.Optional(TrackableMotion),
});
export type SearchMatch = Static<typeof SearchMatch>;

export const SearchResult = Named('SearchResult', {
  matches: Type.Array(SearchMatch, { description: 'The nearest first; without near, in the order of their ids.' }),
  complete: Type.Boolean({ description: 'False if there are more than k such objects.' }),
});
export type SearchResult = Static<typeof SearchResult>;
