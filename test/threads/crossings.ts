import type { RunningShards } from './running_shards.ts';

/** Entries and exits, with the times at which they were. */
export function crossingsOf({ events }: RunningShards): string[] {
  return events
    .filter(({ topic }) => topic === 'fence_events')
    .map((event) => {
      const { event_type: type, trackable_id, provider_id, fence_id, entry_time, exit_time } = event;
      return [type, trackable_id ?? provider_id, fence_id, entry_time, exit_time].join(' ');
    })
    .sort();
}
