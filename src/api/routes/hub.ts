import Type from 'typebox';
import { type Route, route } from '../route.ts';

const Version = Type.Object({
  hub_version: Type.String(),
  vendor: Type.String(),
  api_version: Type.String({ description: 'Version of the omlox Hub API.' }),
});

export const HUB_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/health',
    summary: 'Whether the hub answers',
    unversioned: true,
    permission: { operation: 'READ' },
    replies: { 200: { description: 'It does.', schema: Type.Object({}) } },
    handle: ({ reply }) => reply.json('{}'),
  }),
  route({
    method: 'GET',
    path: '/version',
    summary: 'Versions of the hub and of its API',
    unversioned: true,
    permission: { operation: 'READ' },
    replies: { 200: { description: 'The versions.', schema: Version } },
    handle: ({ reply }, { versionInfo }) => reply.json(JSON.stringify(versionInfo)),
  }),
];
