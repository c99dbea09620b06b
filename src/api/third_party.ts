import type { Entities } from '../entities/entities.ts';
import type { Fanout } from '../fanout/fanout.ts';
import { announceFenceEvent } from '../fanout/front_events.ts';
import type { KeptFence } from '../model/fence.ts';
import { completeFenceEvent } from './fence_event_input.ts';

interface ThirdPartyDeps {
  readonly fanout: Fanout;
  readonly entities: Entities;
  /** These events count as the hub's own do. */
  readonly counts: { entries: number; exits: number };
  now(): number;
}

/** How the API publishes the fence events of third parties. */
export function fenceEventPublisher(deps: ThirdPartyDeps): (fence: KeptFence, body: unknown) => void {
  const { fanout, entities, counts, now } = deps;
  return (fence, body) => {
    const event = completeFenceEvent(fence, body, {
      id: entities.newId(),
      nowMs: now(),
      trackablesOf: (providerId) => entities.trackablesOf(providerId),
    });
    counts[event.event_type === 'region_entry' ? 'entries' : 'exits']++;
    announceFenceEvent(fanout, { fence, event, zones: (id) => entities.zoneBy(id) });
  };
}
