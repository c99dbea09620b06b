import type { Cluster } from '../cluster/cluster.ts';
import type { CollisionToLog } from '../cluster/events/cluster_events.ts';
import type { Config } from '../config/schema.ts';
import type { WriteEvents } from '../core/entity_write.ts';
import { encoded, joinEvents, slicedEvents } from '../events/event_bytes.ts';
import { EventLog } from '../events/event_log.ts';
import type { Fanout } from '../fanout/fanout.ts';
import { look } from '../model/borrowed.ts';
import type { EventBatch } from '../model/event_batch.ts';
import type { CollisionEvent } from '../model/events.ts';
import { EVENT_TOPICS } from '../model/logged_event.ts';
import { isRenderedByShards } from '../model/topics.ts';
import type { EventStore, Store } from '../store/store.ts';
import type { Clock } from '../time/clock.ts';
import { every, schedule } from '../time/clock.ts';
import type { Log } from './log.ts';

const TRIM_MS = 10_000;
/** Pause between slices of removed events, so that commits do not wait. */
const SLICE_MS = 20;
const HOUR_MS = 3_600_000;
const VIEW = { crs: 'EPSG:4326' };

/** A log of a store, and its bounds. */
export interface LogDeps {
  readonly stored: EventStore | undefined;
  /** Part of its cursors, so that one log rejects those of another. */
  readonly name?: 'audit';
  /** 0: nothing is logged. */
  readonly retentionMs: number;
  readonly bytesMax: number;
  readonly clock: Clock;
}

/** The event log of a store. */
export function eventsOf(store: Store, config: Config): Omit<LogDeps, 'clock'> {
  return { stored: store.events, retentionMs: config.event_retention * HOUR_MS, bytesMax: config.event_max_bytes };
}

/** Opens a log; undefined if the settings turn it off, or the store has none. */
export async function openLog({ stored: events, name, retentionMs, clock }: LogDeps): Promise<EventLog | undefined> {
  if (events === undefined) return undefined;
  const range = await events.range();
  const hubId = name === undefined ? range.hubId : `${name} ${range.hubId}`;
  if (retentionMs > 0) return new EventLog({ ...range, hubId }, { store: events, now: clock.now });
  // Events from now on are missing: a later start with a log must not accept the cursors of today.
  if (range.newest > 0) while ((await events.trim({ all: range.newest + 1 })).hasMore);
  return undefined;
}

/** Removes old events of a log periodically. Returns a function that stops it. */
export function trimLog(
  eventLog: EventLog | undefined,
  { stored: events, retentionMs, bytesMax, clock, log }: LogDeps & { readonly log: Log },
): () => void {
  if (eventLog === undefined || events === undefined) return () => undefined;
  let isTrimming = false;
  let isStopped = false;
  const trim = async (): Promise<void> => {
    isTrimming = true;
    try {
      for (let hasMore = true; hasMore && !isStopped; ) {
        const trimmed = await events.trim({ beforeMs: clock.now() - retentionMs, bytesMax });
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

/** Makes the shards and the collision stage render their events for the event log. */
export function logShardEvents(fanout: Fanout): ShardEvents {
  const topics = new Map(
    (['fence_events', 'collision_events'] as const).map((topic) => {
      const interest = { topic, view: VIEW };
      // Announced events are logged where they are announced.
      fanout.listen({ ignoresPublished: true, receive: () => undefined }, interest);
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

/** Appends events to the event log of the cluster. */
export interface ClusterLogging {
  /** Takes the events of a shard's step, which is journaled. */
  readonly shards: ShardEvents;
  /** Takes the events of a step of the collision stage. Call the result when the step is stored. */
  collisions(events: readonly EventBatch[]): ((step: number) => Promise<void>) | undefined;
}

/**
 * Makes the shards and the collision stage render their events for the event log of the cluster, and appends the changes that
 * records of the configuration log cause: each hub announces these.
 */
export function logClusterEvents(
  fanout: Fanout,
  { events: log, config }: { readonly events: NonNullable<Cluster['events']>; readonly config: Cluster['config'] },
): ClusterLogging {
  const variants = new Map<number, string>();
  for (const topic of EVENT_TOPICS) {
    const interest = { topic, view: VIEW };
    const isOfRecord = !isRenderedByShards(topic);
    fanout.listen(
      {
        ignoresPublished: true,
        receive(batch, fields, how) {
          if (!isOfRecord || how !== 'announced') return;
          const { bytes, ends } = batch.events(0, fields);
          log.change(config.configured, encoded(slicedEvents(topic, { bytes: look(bytes), ends, fields })));
        },
      },
      interest,
    );
    const variant = fanout.variantOf(interest);
    if (variant !== undefined) variants.set(variant, topic);
  }
  const of = (topic: string, events: readonly EventBatch[]) =>
    events.filter(({ variant }) => variants.get(variant) === topic);
  return {
    shards(events) {
      for (const batch of of('fence_events', events)) log.fenceEvents(batch);
      return undefined;
    },
    collisions(events) {
      const found = of('collision_events', events).flatMap(collisionsIn);
      return found.length === 0 ? undefined : (step) => log.collisions(step, found);
    },
  };
}

function collisionsIn({ bytes, ends, fields = [] }: EventBatch): CollisionToLog[] {
  const all = Buffer.from(look(bytes));
  return fields.map((its, i) => {
    const json = all.toString('utf8', i === 0 ? 0 : (ends[i - 1] as number) + 1, ends[i]);
    const { id, collision_type: type } = JSON.parse(json) as CollisionEvent;
    return { fields: its, json, id: type === 'colliding' ? undefined : id };
  });
}
