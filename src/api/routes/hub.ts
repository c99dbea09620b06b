import Type from 'typebox';
import { type Route, route } from '../route.ts';

const Version = Type.Object(
  {
    hub_version: Type.String({ description: 'Version of the hub.' }),
    vendor: Type.String({ description: 'Who has made it.' }),
    api_version: Type.String({ description: 'Version of the omlox Hub API.' }),
  },
  { title: 'Version', description: 'Versions of the hub and of its API.' },
);

const Health = Type.Object({}, { title: 'Health', description: 'An object without members: the hub answers.' });

export const HUB_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/health',
    summary: 'Whether the hub answers',
    unversioned: true,
    permission: { operation: 'READ' },
    replies: { 200: { description: 'It does.', schema: Health } },
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
