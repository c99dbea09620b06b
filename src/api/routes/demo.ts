import Type from 'typebox';
import { Demo } from '../../model/demo.ts';
import type { Permit } from '../deps.ts';
import { type ApiRoute, route, valueRoute } from '../route.ts';

const COLLECTIONS = ['/zones', '/fences', '/trackables', '/providers'];
const ITEMS = ['/zones/:zone_id', '/fences/:fence_id', '/trackables/:trackable_id', '/providers/:provider_id'];

/** A simulated site that runs in the hub, for demonstration. */
export const DEMO_ROUTES: readonly ApiRoute[] = [
  route({
    method: 'POST',
    path: '/demo',
    summary: 'Start the demo: a simulated warehouse with 40 tags and 13 fences',
    versions: ['v2'],
    permission: { operation: 'CREATE' },
    query: Type.Object({
      beside: Type.Optional(Type.Boolean({ description: 'Whether to start it even if the hub already has a site.' })),
    }),
    notes: {
      description:
        'The demo runs until it is stopped, or the hub stops. It needs the permissions to create and to delete any zone, ' +
        'fence, trackable and provider.',
      refusals: { 400: 'The hub has a site already.', 503: 'The demo is being removed.' },
    },
    replies: { 202: { description: 'The demo, which is starting.', schema: Demo } },
    async handle({ reply, query, token }, { demo, permit }) {
      for (const path of COLLECTIONS) await permit('POST', path, token);
      await checkMayRemove(permit, token);
      return { ...reply.json(JSON.stringify(demo.start({ beside: query.beside === true }))), status: 202 };
    },
  }),
  valueRoute({
    path: '/demo',
    summary: 'State of the demo',
    versions: ['v2'],
    notes: { description: 'In a cluster: in the hub that replies.' },
    returns: ['The demo.', Demo],
    value: (_call, { demo }) => demo.current,
  }),
  route({
    method: 'DELETE',
    path: '/demo',
    summary: 'Stop the demo and remove its entities',
    versions: ['v2'],
    permission: { operation: 'DELETE' },
    notes: { description: 'It also removes entities left by a hub that stopped before.' },
    replies: { 204: { description: 'All its entities are removed.' } },
    async handle({ reply, token }, { demo, permit }) {
      await checkMayRemove(permit, token);
      await demo.stop();
      return reply.noContent;
    },
  }),
];

async function checkMayRemove(permit: Permit, token: string | undefined): Promise<void> {
  for (const path of ITEMS) await permit('DELETE', path, token);
}
