import Type, { type Static } from 'typebox';
import { ProviderType } from './location.ts';
import { Maybe, Properties } from './schema.ts';
import { objectTiming } from './timing.ts';

/** A source of positions: a tag, a phone, a reader. */
export const LocationProvider = Type.Object({
  id: Type.String(),
  type: ProviderType,
  name: Maybe(Type.String()),
  sensors: Type.Optional(Type.Unknown({ description: 'Application-defined sensor data, kept as sent.' })),
  ...objectTiming,
  properties: Maybe(Properties),
});
export type LocationProvider = Static<typeof LocationProvider>;
