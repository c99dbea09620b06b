import type { Entities } from '../entities/entities.ts';
import type { Fanout } from '../fanout/fanout.ts';
import { announceFenceEvent } from '../fanout/front_events.ts';
import type { Fence } from '../model/fence.ts';
import { completeFenceEvent } from './fence_event_input.ts';

interface ThirdPartyDeps {
  readonly fanout: Fanout;
  readonly entities: Entities;
  now(): number;
}

/** How the API publishes the fence events of third parties. */
export function fenceEventPublisher({ fanout, entities, now }: ThirdPartyDeps): (fence: Fence, body: unknown) => void {
  return (fence, body) => {
    const event = completeFenceEvent(fence, body, {
      id: entities.newId(),
      nowMs: now(),
      trackablesOf: (providerId) => entities.trackablesOf(providerId),
    });
    announceFenceEvent(fanout, { fence, event, zones: (id) => entities.zoneBy(id) });
  };
}
