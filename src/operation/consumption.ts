import { zoneSquareMeters } from '../core/zone/outline.ts';
import type { Fanout } from '../fanout/fanout.ts';
import { type StoredFence, publicFence } from '../model/fence.ts';
import type { ProviderType } from '../model/location.ts';
import type { SentCounts, SentKind } from '../model/mqtt.ts';
import type { LocationProvider } from '../model/provider.ts';
import { PROVIDER_TYPES } from '../model/provider_type.ts';
import type { Trackable } from '../model/trackable.ts';
import type { Consumption, UsageCounts } from '../model/usage.ts';
import type { Zone } from '../model/zone.ts';
import type { HubCounts } from './counts.ts';

/** Events sent since start: to WebSocket subscribers, and to the broker. */
interface SentByRun {
  readonly fanout: Fanout;
  readonly mqtt: SentCounts;
}

/** Returns the counters since start, by the names of the usage statistics. */
export function runCounts(counts: HubCounts, proximities: number, sent: SentByRun): UsageCounts {
  const locations = sentOf(sent, 'location_updates');
  const motions = sentOf(sent, 'trackable_motions');
  const fences = sentOf(sent, 'fence_events');
  const collisions = sentOf(sent, 'collision_events');
  return {
    locationupdates_processed: counts.processed,
    locationupdates_sent: locations.plain(),
    locationupdates_geojson_sent: locations.geojson(),
    fenceevents_entry_processed: counts.entries,
    fenceevents_entry_sent: fences.plain('region_entry'),
    fenceevents_entry_geojson_sent: fences.geojson('region_entry'),
    fenceevents_exit_processed: counts.exits,
    fenceevents_exit_sent: fences.plain('region_exit'),
    fenceevents_exit_geojson_sent: fences.geojson('region_exit'),
    proximityupdates_processed: proximities,
    trackablemotions_processed: counts.motions,
    trackablemotions_sent: motions.plain(),
    trackablemotions_geojson_sent: motions.geojson(),
    collisions_start_processed: counts.collisionsStarted,
    collisions_start_sent: collisions.plain('collision_start'),
    collisions_colliding_processed: counts.collisionsColliding,
    collisions_colliding_sent: collisions.plain('colliding'),
    collisions_end_processed: counts.collisionsEnded,
    collisions_end_sent: collisions.plain('collision_end'),
  };
}

function sentOf({ fanout, mqtt }: SentByRun, topic: Parameters<Fanout['sent']>[0]) {
  const count = (geojson: boolean, kind: SentKind | undefined): number => {
    const { events, byKind } = fanout.sent(topic, geojson);
    return kind === undefined ? events : (byKind.get(kind) ?? 0);
  };
  return {
    plain: (kind?: SentKind) => count(false, kind) + mqtt[kind ?? (topic as SentKind)],
    geojson: (kind?: SentKind) => count(true, kind),
  };
}

/** Configured entities. */
interface Configured {
  readonly fences: readonly StoredFence[];
  readonly zones: readonly Zone[];
  readonly trackables: readonly Trackable[];
  readonly providers: readonly LocationProvider[];
}

/**
 * Returns the numbers of configured and active entities. A provider that has sent locations in the month is active, and
 * so is a trackable to which it is assigned.
 */
export function snapshotOf(configured: Configured, active: ReadonlySet<string>): Consumption['config'] {
  const { fences, zones, trackables, providers } = configured;
  const activeProviders = providers.filter(({ id }) => active.has(id));
  const activeTrackables = trackables.filter(({ location_providers }) =>
    location_providers?.some((id) => active.has(id)),
  );
  return {
    fences: fences.map(publicFence),
    zones: zones.map((zone) => ({ ...zone, sqm: zoneSquareMeters(zone) })),
    trackables_no: trackables.length,
    trackables_no_active: activeTrackables.length,
    locationproviders_no: providers.length,
    locationproviders_no_active: activeProviders.length,
    locationproviders_by_type_no: byType(providers),
    locationproviders_by_type_no_active: byType(activeProviders),
  };
}

function byType(providers: readonly LocationProvider[]): Record<ProviderType, number> {
  const counts = Object.fromEntries(PROVIDER_TYPES.map((type) => [type, 0])) as Record<ProviderType, number>;
  for (const { type } of providers) counts[type]++;
  return counts;
}
