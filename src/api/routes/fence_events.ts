import { bodyObject } from '../../entities/body.ts';
import { FenceEventInput } from '../fence_event_input.ts';
import { found } from '../found.ts';
import { admitNames } from '../naming.ts';
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
    handle(call, hub) {
      const fence = found('fence', call.id, hub);
      admitNames('fence_event', { before: undefined, after: bodyObject(call.body) }, call);
      hub.publishFenceEvent(fence, call.body);
      return call.reply.noContent;
    },
  });
}
