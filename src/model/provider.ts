import Type, { type Static } from 'typebox';
import { Filter } from './filter.ts';
import { ProviderType } from './location.ts';
import { AnyType, Maybe, Named, Properties } from './schema.ts';
import { objectTiming } from './timing.ts';

/** A source of positions: a tag, a phone, a reader. */
export const LocationProvider = Named('LocationProvider', {
  id: Type.String({ description: 'Id reported by the provider, not empty, for example a MAC address.' }),
  type: ProviderType,
  name: Maybe(Type.String({ description: 'Name for people.' })),
  sensors: Type.Optional(AnyType),
  ...objectTiming,
  filter: Maybe(Filter),
  properties: Maybe(Properties),
});
export type LocationProvider = Static<typeof LocationProvider>;
