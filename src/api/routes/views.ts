import { ArrayOf } from '../../model/schema.ts';
import { MapView } from '../../model/view.ts';
import { shownList } from '../list_body.ts';
import { type ApiRoute, route } from '../route.ts';

export const VIEW_ROUTES: readonly ApiRoute[] = [
  route({
    method: 'GET',
    path: '/views',
    summary: 'All saved views of the map',
    permission: { operation: 'READ' },
    replies: { 200: { description: 'The views.', schema: ArrayOf(MapView) } },
    handle: ({ reply }, { views }) => reply.json(shownList(views.list, (view) => JSON.stringify(view))),
  }),
  route({
    method: 'POST',
    path: '/views',
    summary: 'Save a view of the map',
    permission: { operation: 'CREATE' },
    body: MapView,
    replies: { 201: { description: 'The stored view.', schema: MapView } },
    async handle({ body, path, reply }, { views }) {
      const view = await views.create(body);
      return reply.created(JSON.stringify(view), `${path}/${view.id}`);
    },
  }),
  route({
    method: 'GET',
    path: '/views/:view_id',
    summary: 'One saved view',
    permission: { operation: 'READ' },
    replies: { 200: { description: 'The view.', schema: MapView } },
    handle: ({ id, reply }, { views }) => reply.json(JSON.stringify(views.get(id))),
  }),
  route({
    method: 'PUT',
    path: '/views/:view_id',
    summary: 'Replace a saved view',
    permission: { operation: 'UPDATE' },
    body: MapView,
    replies: { 200: { description: 'The stored view.', schema: MapView } },
    handle: async ({ id, body, reply }, { views }) => reply.json(JSON.stringify(await views.replace(id, body))),
  }),
  route({
    method: 'DELETE',
    path: '/views/:view_id',
    summary: 'Delete a saved view',
    permission: { operation: 'DELETE' },
    replies: { 204: { description: 'The view is deleted.' } },
    handle: ({ id, reply }, { views }) => views.remove(id).then(() => reply.noContent),
  }),
];
