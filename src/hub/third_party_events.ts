import { completeFenceEvent } from '../api/fence_event_input.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { EntityWrite, WriteEvents } from '../core/entity_write.ts';
import type { Entities } from '../entities/entities.ts';
import { HubError, hubError } from '../errors.ts';
import { joinEvents, textEvent } from '../events/event_bytes.ts';
import type { Fanout } from '../fanout/fanout.ts';
import { announceFenceEvent, fieldsOfFenceEvent } from '../fanout/front_events.ts';
import type { LinkedEvent } from '../links/event_passage.ts';
import type { FenceEvent } from '../model/events.ts';
import type { StoredFence } from '../model/fence.ts';
import type { HubCounts } from '../operation/counts.ts';

interface ThirdPartyDeps {
  readonly fanout: Fanout;
  readonly entities: Entities;
  /** Counters shared with the hub's own events. */
  readonly counts: HubCounts;
  readonly cluster: Cluster | undefined;
  /** Whether this hub, and not its cluster, logs the events. */
  readonly logsEvents: boolean;
  now(): number;
  /** Logs events without waiting. */
  log(events: WriteEvents): void;
  /** Stores entities and events in one commit. Rejects with HUB_UNAVAILABLE. */
  write(entities: readonly EntityWrite[], events: WriteEvents | undefined): Promise<void>;
}

interface Given {
  readonly fence: StoredFence;
  readonly event: FenceEvent;
}

/** Fence events of third parties: posted by clients, or received by links to other hubs. They change no membership. */
export interface ThirdPartyEvents {
  /** Checks and publishes an event. Throws HUB_BAD_REQUEST. */
  publish(fence: StoredFence, body: unknown): void;
  /**
   * Stores events and the writes that belong to them, and then publishes the events. On a single hub, a crash loses both or
   * neither; in a cluster, the events are in the log before the writes. Resolves with why events were rejected. Rejects with
   * HUB_UNAVAILABLE if nothing was stored.
   */
  accept(events: readonly LinkedEvent[], besides: readonly EntityWrite[]): Promise<readonly string[]>;
}

export function thirdPartyEvents(deps: ThirdPartyDeps): ThirdPartyEvents {
  const { fanout, entities, counts, cluster, logsEvents, now } = deps;
  const complete = (fence: StoredFence, body: unknown, id: string): Given => {
    const trackablesOf = (providerId: string) => entities.trackablesOf(providerId);
    return { fence, event: completeFenceEvent(fence, body, { id, nowMs: now(), trackablesOf }) };
  };
  const announce = ({ fence, event }: Given): void => {
    counts[event.event_type === 'region_entry' ? 'entries' : 'exits']++;
    announceFenceEvent(fanout, { fence, event, zones: (id) => entities.zoneBy(id) });
    cluster?.fanout?.announce('fenceEvent', JSON.stringify(event));
  };
  const toCluster = ({ event }: Given): void => {
    cluster?.events?.thirdParty(fieldsOfFenceEvent(event), JSON.stringify(event));
  };
  const logged = (all: readonly Given[]): WriteEvents | undefined => {
    if (!logsEvents) return undefined;
    const written = all.map(({ event }) => textEvent('fence_events', fieldsOfFenceEvent(event), JSON.stringify(event)));
    return joinEvents(written);
  };
  return {
    publish(fence, body) {
      const given = complete(fence, body, entities.newId());
      announce(given);
      toCluster(given);
      const events = logged([given]);
      if (events !== undefined) deps.log(events);
    },
    async accept(events, besides) {
      const rejected: string[] = [];
      const accepted = events.flatMap(({ id, fenceId, body }) => {
        try {
          const fence = entities.get('fence', fenceId);
          if (fence === undefined) throw hubError('not_found', { action: 'find', kind: 'fence', id: fenceId });
          return complete(fence, body, id);
        } catch (error) {
          if (!(error instanceof HubError)) throw error;
          rejected.push(`Fence event "${id}": ${error.message}`);
          return [];
        }
      });
      if (cluster === undefined) await deps.write(besides, logged(accepted));
      else {
        for (const given of accepted) toCluster(given);
        await cluster.events?.appender.settled();
        await deps.write(besides, undefined);
      }
      for (const given of accepted) announce(given);
      return rejected;
    },
  };
}
