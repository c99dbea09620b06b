import type { HubCounts } from '../counts.ts';
import type { Fanout } from '../fanout/fanout.ts';
import type { UsageCounts } from '../model/usage.ts';

/** What was counted since the start of this run, by the names of the usage statistics. */
export function runCounts(counts: HubCounts, proximities: number, fanout: Fanout): UsageCounts {
  const locations = sentOf(fanout, 'location_updates');
  const motions = sentOf(fanout, 'trackable_motions');
  const fences = sentOf(fanout, 'fence_events');
  const collisions = sentOf(fanout, 'collision_events');
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

function sentOf(fanout: Fanout, topic: Parameters<Fanout['sent']>[0]) {
  const count = (geojson: boolean, kind: string | undefined): number => {
    const { events, byKind } = fanout.sent(topic, geojson);
    return kind === undefined ? events : (byKind.get(kind) ?? 0);
  };
  return { plain: (kind?: string) => count(false, kind), geojson: (kind?: string) => count(true, kind) };
}
