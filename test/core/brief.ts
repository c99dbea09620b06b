import type { FenceEvent, TrackableMotion } from '../../src/model/events.ts';
import { T0 } from '../support/shard_harness.ts';

/** Formats fence events as short strings: `entry dock tag 1` means that the tag entered the fence named dock at 1 s. */
export function brief(events: readonly FenceEvent[]): string[] {
  return events.map((event) => {
    const object = event.trackable_id ?? event.provider_id;
    const times = event.exit_time == null ? [event.entry_time] : [event.entry_time, event.exit_time];
    const seconds = times.map((time) => (Date.parse(time as string) - T0) / 1000);
    return `${event.event_type.slice('region_'.length)} ${event.fence_id} ${object} ${seconds.join('-')}`;
  });
}

/** Formats motions as short strings: id, provider and second of the location. */
export function briefMotions(motions: readonly TrackableMotion[]): string[] {
  return motions.map(({ id, location }) => {
    const second = (Date.parse(location.timestamp_generated as string) - T0) / 1000;
    return `${id} by ${location.provider_id} of ${second}`;
  });
}
