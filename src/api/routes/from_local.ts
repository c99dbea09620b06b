import { CreationParameters, ZoneCreationParameters } from '../../model/creation.ts';
import { Fence } from '../../model/fence.ts';
import { Zone } from '../../model/zone.ts';
import { fenceFromLocal, zoneFromLocal } from '../from_local.ts';
import { type Route, route } from '../route.ts';
import { zoneIn } from '../versions.ts';

export const FROM_LOCAL_ROUTES: readonly Route[] = [
  route({
    method: 'PUT',
    path: '/zones/fromlocal',
    summary: 'A zone from local coordinates and a reference point, which is not kept',
    permission: { operation: 'UPDATE' },
    body: ZoneCreationParameters,
    replies: { 200: { description: 'The zone.', schema: Zone } },
    handle({ body, version, reply }, { entities }) {
      return reply.json(JSON.stringify(zoneIn(version, zoneFromLocal(body, entities))));
    },
  }),
  route({
    method: 'PUT',
    path: '/fences/fromlocal',
    summary: 'A fence from local coordinates and a reference point or a zone, which is not kept',
    permission: { operation: 'UPDATE' },
    body: CreationParameters,
    replies: { 200: { description: 'The fence.', schema: Fence } },
    handle: ({ body, reply }, { entities }) => reply.json(JSON.stringify(fenceFromLocal(body, entities))),
  }),
];
