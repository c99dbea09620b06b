import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { FenceEvent } from '../../src/model/events.ts';
import { type Expected, VECTORS, type Vector } from '../scenarios/vectors.ts';
import { HALL, square } from '../support/hall.ts';
import { locationAt, ShardHarness, T0 } from '../support/shard_harness.ts';

const TRACKABLE = '11111111-0000-4000-8000-000000000001';
const END = 100;

async function run(vector: Vector): Promise<ShardHarness> {
  const harness = await ShardHarness.open();
  const { fence, provider, trackable } = vector;
  harness.tell(
    0,
    { kind: 'zone', id: HALL.id, entity: HALL },
    { kind: 'fence', id: square().id, entity: square(fence) },
    { kind: 'provider', id: 'tag', entity: { id: 'tag', type: 'uwb', ...provider } },
  );
  if (trackable !== undefined) {
    const entity = { id: TRACKABLE, type: 'omlox' as const, location_providers: ['tag'], ...trackable };
    harness.tell(0, { kind: 'trackable', id: TRACKABLE, entity });
  }
  for (const [second, east] of vector.seen) {
    const position = { type: 'Point' as const, coordinates: [10 + east, 5] };
    harness.tell(second, locationAt(second, 0, 0, { crs: 'local', source: HALL.id, position }));
  }
  // Silence, with a tick every half second.
  for (let second = vector.seen.at(-1)?.[0] ?? 0; second <= END; second += 0.5) harness.step(second);
  return harness;
}

function expected(list: readonly Expected[]): object[] {
  let entryTime: number | undefined;
  return list.map((event) => {
    if ('entry' in event) {
      entryTime = event.entryTime ?? event.entry;
      return { type: 'region_entry', entry_time: iso(entryTime), exit_time: undefined };
    }
    return { type: 'region_exit', entry_time: iso(entryTime ?? 0), exit_time: iso(event.exitTime ?? event.exit) };
  });
}

function found(events: readonly FenceEvent[]): object[] {
  return events.map(({ event_type: type, entry_time, exit_time }) => ({ type, entry_time, exit_time }));
}

function iso(second: number): string {
  return new Date(T0 + second * 1000).toISOString();
}

describe('a fence', () => {
  for (const vector of VECTORS) {
    test(vector.name, async () => {
      const { observed } = await run(vector);
      const ofProvider = observed.fenceEvents.filter((event) => event.trackable_id === null);
      assert.deepEqual(found(ofProvider), expected(vector.events));
      const ofTrackable = observed.fenceEvents.filter((event) => event.trackable_id !== null);
      const same = vector.trackable === undefined ? [] : vector.events;
      assert.deepEqual(found(ofTrackable), expected(vector.trackableEvents ?? same));
      for (const event of ofTrackable) assert.equal(event.provider_id, null);
    });
  }
});
