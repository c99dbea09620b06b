import Type from 'typebox';
import { type Method, type Route, route } from '../route.ts';

export const ADAPTER_ROUTES: readonly Route[] = [ciscoRow('POST'), ciscoRow('PUT')];

function ciscoRow(method: Method): Route {
  return route({
    method,
    path: '/adapters/cisco/locations',
    summary: 'Send location notifications of Cisco CMX or Cisco Spaces',
    permission: { operation: 'UPDATE' },
    // The vendor's formats differ by product and version: the adapter sorts out what it can use.
    body: Type.Unknown(),
    replies: { 204: { description: 'At least one is accepted, or none tells of a position.' } },
    handle({ body, reply }, hub) {
      const waiting = hub.acceptCisco(body);
      return waiting === undefined ? reply.noContent : waiting.then(() => reply.noContent);
    },
  });
}
