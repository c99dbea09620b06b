import type { RunningShards } from './running_shards.ts';

/** Returns entries and exits with their times. */
export function crossingsOf({ events }: RunningShards): string[] {
  return events
    .filter(({ topic }) => topic === 'fence_events')
    .map((event) => {
      const { event_type: type, trackable_id, provider_id, fence_id, entry_time, exit_time } = event;
      return [type, trackable_id ?? provider_id, fence_id, entry_time, exit_time].join(' ');
    })
    .sort();
}
