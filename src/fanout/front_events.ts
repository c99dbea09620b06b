import { fenceEventFields, fenceFeature } from '../core/fence/fence_event.ts';
import type { FenceEventJson } from '../core/outcome.ts';
import type { ZoneLookup } from '../core/zone/zone_table.ts';
import type { ChangeEvent, FenceEvent } from '../model/events.ts';
import type { StoredFence } from '../model/fence.ts';
import type { Proximity } from '../model/location.ts';
import { formatTime } from '../model/time.ts';
import type { Variant } from '../model/topics.ts';
import type { Fanout } from './fanout.ts';

/** Events that the front thread renders itself: they come from no shard. */

/** An entity before and after; undefined where there is none. */
export interface EntityChange {
  readonly kind: 'zone' | 'fence' | 'trackable' | 'provider' | 'anchor';
  readonly id: string;
  readonly before: object | undefined;
  readonly after: object | undefined;
}

export interface Announcing {
  readonly nowMs: number;
  /** What clients are shown of the entity as it is after the change. Called only when somebody has subscribed. */
  shown(): object | undefined;
}

/** Announces that an entity was created, updated or deleted. */
export function announceChange(fanout: Fanout, change: EntityChange, { nowMs, shown }: Announcing): void {
  const { kind, id, before, after } = change;
  const type = after === undefined ? 'delete' : before === undefined ? 'create' : 'update';
  fanout.announce(`${kind}_changes`, [id, type], () => {
    const object = { ...shown(), id };
    return JSON.stringify({ timestamp: formatTime(nowMs), event_type: type, id, object } satisfies ChangeEvent);
  });
}

/** Announces a proximity as it came in, but for the time at which it is sent: that is now. */
export function announceProximity(fanout: Fanout, proximity: Proximity & { provider_id: string }, nowMs: number): void {
  const { provider_id: id, source, provider_type: type } = proximity;
  fanout.announce('proximity_updates', [id, source, type], () => {
    return JSON.stringify({ ...proximity, timestamp_sent: formatTime(nowMs) });
  });
}

/** Announces what a core zone has broadcast, as JSON. In a cluster each hub receives it itself. */
export function announceXcmdBroadcast(fanout: Pick<Fanout, 'announce'>, text: string): void {
  fanout.announce('xcmd_broadcast', [], () => text);
}

/** A fence event of a shard as it was recorded, and its fence if that is still there. */
export interface RecordedFenceEvent {
  readonly event: FenceEventJson;
  readonly recordedMs: number;
  readonly fence: StoredFence | undefined;
  readonly zones: ZoneLookup;
}

/** By how much the clocks of hubs may differ. */
const CLOCKS_DIFFER_MS = 500;

/**
 * Announces a fence event of a shard that is gone, to the subscriptions of the variants for which it is new, unless they have
 * begun afterwards. Without its fence it cannot be shown as GeoJSON.
 */
export function announceFenceEventAgain(
  fanout: Fanout,
  { event: [fields, text], recordedMs, fence, zones }: RecordedFenceEvent,
  isNew: (variant: Variant) => boolean,
): void {
  const render = (variant: Variant): string | undefined => {
    const rendered = variant.geojson === true ? fence && fenceFeature(fence, text, variant, zones) : text;
    return rendered !== undefined && isNew(variant) ? rendered : undefined;
  };
  fanout.announce('fence_events', fields, render, recordedMs + CLOCKS_DIFFER_MS);
}

/** A fence event of a third party, with the fence and how to find zones for its views. */
export interface GivenFenceEvent {
  readonly fence: StoredFence;
  readonly event: FenceEvent;
  readonly zones: ZoneLookup;
}

/** Announces a fence event that comes from no shard. */
export function announceFenceEvent(fanout: Fanout, { fence, event, zones }: GivenFenceEvent): void {
  const { provider_id, trackable_id, foreign_id, event_type: type } = event;
  const who = { type, providerId: provider_id ?? undefined, trackableId: trackable_id ?? undefined };
  const text = JSON.stringify(event);
  fanout.announce('fence_events', fenceEventFields({ id: fence.id, foreign_id }, who), (variant) => {
    return variant.geojson === true ? fenceFeature(fence, text, variant, zones) : text;
  });
}
