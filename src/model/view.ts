import Type, { type Static } from 'typebox';
import { Maybe, Named } from './schema.ts';

/** A saved view of the map, shared by all users of the page. */
export const MapView = Named('MapView', {
  id: Type.String({ description: 'Id of the view. The hub makes it.' }),
  name: Type.String({ minLength: 1, maxLength: 200, description: 'Display name of the view.' }),
  address: Type.String({
    minLength: 1,
    maxLength: 4000,
    description: 'Query string of the page that shows it: position, zoom, floor, layers, selection.',
  }),
  is_start: Maybe(
    Type.Boolean({ description: 'Whether the map opens with this view. At most one view is the start view.' }),
  ),
});
export type MapView = Static<typeof MapView>;
