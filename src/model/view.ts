import Type, { type Static } from 'typebox';
import { Maybe, Named } from './schema.ts';

/** A view of the map that people come back to, for all who use the page. */
export const MapView = Named('MapView', {
  id: Type.String({ description: 'Id of the view. The hub makes it.' }),
  name: Type.String({ minLength: 1, maxLength: 200, description: 'What people call it.' }),
  address: Type.String({
    minLength: 1,
    maxLength: 4000,
    description: 'The query of the address by which the page shows it: place, zoom, floor, layers, what is selected.',
  }),
  is_start: Maybe(Type.Boolean({ description: 'Whether the map opens with it. One view at most is the start.' })),
});
export type MapView = Static<typeof MapView>;
