import type { Config } from '../config/schema.ts';
import type { WriteEvents } from '../core/entity_write.ts';
import { joinEvents, slicedEvents } from '../events/event_bytes.ts';
import { EventLog } from '../events/event_log.ts';
import type { Fanout } from '../fanout/fanout.ts';
import { look } from '../model/borrowed.ts';
import type { EventBatch } from '../model/event_batch.ts';
import type { Store } from '../store/store.ts';
import type { Clock } from '../time/clock.ts';
import { every, schedule } from '../time/clock.ts';
import type { Log } from './log.ts';

const TRIM_MS = 10_000;
/** Pause between slices of removed events, so that commits do not wait. */
const SLICE_MS = 20;
const HOUR_MS = 3_600_000;
const VIEW = { crs: 'EPSG:4326' };

interface EventLogDeps {
  readonly store: Store;
  readonly config: Config;
  readonly clock: Clock;
}

/** Opens the event log; undefined if the settings turn it off, or the store has none. */
export async function openEventLog({ store, config, clock }: EventLogDeps): Promise<EventLog | undefined> {
  const { events } = store;
  if (events === undefined) return undefined;
  const range = await events.range();
  if (config.event_retention > 0) return new EventLog(range, { store: events, now: clock.now });
  // Events from now on are missing: a later start with a log must not accept the cursors of today.
  if (range.newest > 0) while ((await events.trim({ all: range.newest + 1 })).hasMore);
  return undefined;
}

/** Removes old events now and then. Returns a function that stops it. */
export function trimEvents(
  eventLog: EventLog | undefined,
  { store, config, clock, log }: EventLogDeps & { readonly log: Log },
): () => void {
  const { events } = store;
  if (eventLog === undefined || events === undefined) return () => undefined;
  const { event_retention: hours, event_max_bytes: bytesMax } = config;
  let isTrimming = false;
  let isStopped = false;
  const trim = async (): Promise<void> => {
    isTrimming = true;
    try {
      for (let hasMore = true; hasMore && !isStopped; ) {
        const trimmed = await events.trim({ beforeMs: clock.now() - hours * HOUR_MS, bytesMax });
        eventLog.trimmed(trimmed.range);
        hasMore = trimmed.hasMore;
        if (hasMore) await new Promise<void>((resolve) => void schedule(SLICE_MS, resolve));
      }
    } catch (error) {
      if (!isStopped) log.warn('Old events cannot be removed', { error: String(error) });
    } finally {
      isTrimming = false;
    }
  };
  const stop = every(TRIM_MS, () => {
    if (!isTrimming) void trim();
  });
  return () => {
    isStopped = true;
    stop();
  };
}

/**
 * Returns the events of shards and of the collision stage that are logged; undefined without any. They must be written
 * while the batches are valid.
 */
export type ShardEvents = (events: readonly EventBatch[]) => WriteEvents | undefined;

/**
 * Makes the shards and the collision stage render their events for the event log. `announced` receives fence events of
 * third parties, which change no state.
 */
export function logShardEvents(fanout: Fanout, announced: (events: WriteEvents) => void): ShardEvents {
  const topics = new Map(
    (['fence_events', 'collision_events'] as const).map((topic) => {
      const interest = { topic, view: VIEW };
      fanout.listen(
        {
          ignoresPublished: true,
          receive(batch, fields, how) {
            if (how !== 'announced') return;
            const { bytes, ends } = batch.events(0, fields);
            announced(slicedEvents(topic, { bytes: look(bytes), ends, fields }));
          },
        },
        interest,
      );
      return [fanout.variantOf(interest), topic] as const;
    }),
  );
  return (events) => {
    const logged: WriteEvents[] = [];
    for (const { variant, bytes, ends, fields } of events) {
      const topic = topics.get(variant);
      if (topic === undefined || fields === undefined) continue;
      logged.push(slicedEvents(topic, { bytes: look(bytes), ends, fields }));
    }
    return joinEvents(logged);
  };
}
