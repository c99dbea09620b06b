import Type from 'typebox';
import { type Route, route } from '../route.ts';

export const METRICS_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/metrics',
    summary: 'Metrics in the text format of Prometheus, without a version in the path',
    versions: [],
    unversioned: true,
    permission: { operation: 'READ' },
    replies: { 200: { description: 'The metrics.', schema: Type.String(), mediaType: 'text/plain' } },
    async handle(_call, { operation: { metrics } }) {
      return { status: 200, headers: { 'Content-Type': metrics.contentType }, body: await metrics.text() };
    },
  }),
];
