import { fenceEventFields, fenceFeature } from '../core/fence/fence_event.ts';
import type { FenceEventJson } from '../core/outcome.ts';
import type { ZoneLookup } from '../core/zone/zone_table.ts';
import type { ChangeEvent, FenceEvent } from '../model/events.ts';
import type { StoredFence } from '../model/fence.ts';
import type { Proximity } from '../model/location.ts';
import { formatTime } from '../model/time.ts';
import type { FilterFields, Variant } from '../model/topics.ts';
import type { Fanout } from './fanout.ts';

/** Events that the main thread renders, because they come from no shard. */

/** An entity before and after a change; undefined before its creation or after its deletion. */
export interface ChangedEntity {
  readonly kind: 'zone' | 'fence' | 'trackable' | 'provider' | 'anchor';
  readonly id: string;
  readonly before: object | undefined;
  readonly after: object | undefined;
}

export interface Announcing {
  readonly nowMs: number;
  /** Returns the entity after the change in its API form. */
  shown(): object | undefined;
}

/** The event of a changed entity. */
export interface EntityEvent {
  readonly topic: `${ChangedEntity['kind']}_changes`;
  readonly fields: FilterFields;
  json(): string;
}

export function changeEvent({ kind, id, before, after }: ChangedEntity, { nowMs, shown }: Announcing): EntityEvent {
  const type = after === undefined ? 'delete' : before === undefined ? 'create' : 'update';
  return {
    topic: `${kind}_changes`,
    fields: [id, type],
    json() {
      const object = { ...shown(), id };
      return JSON.stringify({ timestamp: formatTime(nowMs), event_type: type, id, object } satisfies ChangeEvent);
    },
  };
}

/** Publishes that an entity was created, updated or deleted. */
export function announceChange(fanout: Fanout, { topic, fields, json }: EntityEvent): void {
  fanout.announce(topic, fields, json);
}

/** A proximity with the provider that it names, or that its path names. */
export type ResolvedProximity = Proximity & { readonly provider_id: string };

/** Publishes a proximity as received, with the current time as `timestamp_sent`. */
export function announceProximity(fanout: Fanout, proximity: ResolvedProximity, nowMs: number): void {
  const { provider_id: id, source, provider_type: type } = proximity;
  fanout.announce('proximity_updates', [id, source, type], () => {
    return JSON.stringify({ ...proximity, timestamp_sent: formatTime(nowMs) });
  });
}

/** Publishes a broadcast of a core zone, given as JSON. In a cluster each hub receives the broadcast itself. */
export function announceXcmdBroadcast(fanout: Pick<Fanout, 'announce'>, text: string): void {
  fanout.announce('xcmd_broadcast', [], () => text);
}

/** A recorded fence event of a shard, and its fence; undefined if the fence was deleted. */
export interface RecordedFenceEvent {
  readonly event: FenceEventJson;
  readonly fence: StoredFence | undefined;
  readonly zones: ZoneLookup;
}

/** Subscriptions that receive a redelivered event. */
export interface Redelivery {
  /** Number of the last interest that its hub had acknowledged. */
  readonly upTo: number;
  /** Returns whether the subscriptions of a variant lack the event, and notes that they have received it. */
  isNew(variant: Variant): boolean;
}

/**
 * Redelivers a fence event of a failed shard, to subscriptions that the shard knew and that have not received it. Without its
 * fence, the event cannot be rendered as GeoJSON.
 */
export function redeliverFenceEvent(
  fanout: Fanout,
  { event: [fields, text], fence, zones }: RecordedFenceEvent,
  { upTo, isNew }: Redelivery,
): void {
  const render = (variant: Variant): string | undefined => {
    const rendered = variant.geojson === true ? fence && fenceFeature(fence, text, variant, zones) : text;
    return rendered !== undefined && isNew(variant) ? rendered : undefined;
  };
  fanout.announce('fence_events', fields, render, upTo);
}

/** A fence event of a third party, with its fence and the zones for views. */
export interface GivenFenceEvent {
  readonly fence: StoredFence;
  readonly event: FenceEvent;
  readonly zones: ZoneLookup;
}

/** Filter fields of a fence event that comes from no shard. */
export function fieldsOfFenceEvent(event: FenceEvent): FilterFields {
  const { fence_id: id, provider_id, trackable_id, foreign_id, event_type: type } = event;
  const who = { type, providerId: provider_id ?? undefined, trackableId: trackable_id ?? undefined };
  return fenceEventFields({ id, foreign_id }, who);
}

/** Publishes a fence event that comes from no shard. */
export function announceFenceEvent(fanout: Fanout, { fence, event, zones }: GivenFenceEvent): void {
  const text = JSON.stringify(event);
  fanout.announce('fence_events', fieldsOfFenceEvent(event), (variant) => {
    return variant.geojson === true ? fenceFeature(fence, text, variant, zones) : text;
  });
}
