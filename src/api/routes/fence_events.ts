import { FenceEventInput } from '../fence_event_input.ts';
import { found } from '../found.ts';
import { type Method, type Route, route } from '../route.ts';

export const FENCE_EVENT_ROUTES: readonly Route[] = [eventsRow('POST'), eventsRow('PUT')];

/** Membership stays as it is: the event is only passed on. */
function eventsRow(method: Method): Route {
  return route({
    method,
    path: '/fences/:fence_id/events',
    summary: 'Publish an event of a fence that somebody else has seen',
    permission: { operation: method === 'POST' ? 'CREATE' : 'UPDATE', resource: 'fence_id' },
    body: FenceEventInput,
    replies: { 204: { description: 'The event is published.' } },
    handle({ id, body, reply }, hub) {
      hub.publishFenceEvent(found('fence', id, hub), body);
      return reply.noContent;
    },
  });
}
