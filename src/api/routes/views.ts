import { MapView } from '../../model/view.ts';
import { documentRows } from './document_rows.ts';

export const VIEW_ROUTES = documentRows<MapView>({
  path: '/views',
  idName: 'view_id',
  schema: MapView,
  noun: 'view',
  summaries: {
    list: 'All saved views of the map',
    create: 'Save a view of the map',
    get: 'One saved view',
    replace: 'Replace a saved view',
    remove: 'Delete a saved view',
  },
  removed: 'The view is deleted.',
  of: ({ views }) => views,
});
