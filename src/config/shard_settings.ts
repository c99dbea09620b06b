import type { Config } from './schema.ts';

const BATCH_MAX = 2048;

/** What the shards are opened with. */
export function shardSettings(config: Config) {
  return {
    count: config.num_threads,
    capacity: config.lane_capacity,
    batchMax: BATCH_MAX,
    settings: {
      collisionsByDefault: config.calculate_collisions_default,
      providerInTrackableEvents: config.fence_event_provider_id === 'set',
      parentsMax: config.max_parent_depth,
    },
  };
}
