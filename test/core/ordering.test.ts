import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { square } from '../support/hall.ts';
import {
  fence,
  type ObservedOutcome,
  inHall,
  locationAt,
  provider,
  ShardHarness,
  T0,
  zone,
} from '../support/shard_harness.ts';
import { brief } from './brief.ts';

const IN = [5, 5] as const;
const OUT = [50, 5] as const;
const DOCK = square({ id: 'dock' });

async function openWithFence(): Promise<ShardHarness> {
  const harness = await ShardHarness.open();
  harness.tell(0, zone(), provider('tag'), fence(DOCK));
  return harness;
}

function counted({ counts }: ObservedOutcome): number[] {
  return [counts.processed, counts.outdated, counts.rejected];
}

describe('a location', () => {
  test('older than the last of its provider is outdated, and has no other effect', async () => {
    const harness = await openWithFence();
    harness.tell(10, inHall(10, OUT));
    const before = harness.ask(11, { ask: 'provider_location', id: 'tag', view: { crs: 'EPSG:4326' } });
    const outcome = harness.tell(12, inHall(9.999, IN));
    assert.deepEqual(counted(outcome), [0, 1, 0]);
    assert.deepEqual(outcome.events, []);
    assert.deepEqual(outcome.rows, []);
    assert.deepEqual(harness.ask(13, { ask: 'provider_location', id: 'tag', view: { crs: 'EPSG:4326' } }), before);
  });

  test('that is outdated does not postpone a fence timeout', async () => {
    const harness = await openWithFence();
    harness.tell(0, fence({ ...DOCK, timeout: 5000 }));
    harness.tell(10, inHall(10, IN));
    harness.tell(14, inHall(9, IN));
    harness.step(20);
    assert.deepEqual(brief(harness.takeFenceEvents()), ['entry dock tag 10', 'exit dock tag 10-15']);
  });

  test('as old as the last of its provider is accepted, in the order of arrival', async () => {
    const harness = await openWithFence();
    assert.deepEqual(counted(harness.tell(10, inHall(8, IN), inHall(8, OUT), inHall(8, IN))), [3, 0, 0]);
    assert.deepEqual(brief(harness.takeFenceEvents()), ['entry dock tag 8', 'exit dock tag 8-8', 'entry dock tag 8']);
  });

  test('from a clock ahead is ordered by its time of receipt, so that the clock may be corrected', async () => {
    const harness = await openWithFence();
    assert.deepEqual(counted(harness.tell(10, inHall(3600, OUT))), [1, 0, 0]);
    assert.deepEqual(counted(harness.tell(11, inHall(11, IN))), [1, 0, 0]);
    assert.equal(harness.observed.locations[0]?.timestamp_generated, '2026-03-01T13:00:00.000Z');
  });

  test('from a clock ahead produces no event in the future', async () => {
    const harness = await openWithFence();
    harness.tell(10, inHall(3600, IN));
    harness.tell(12, inHall(3602, OUT));
    assert.deepEqual(brief(harness.takeFenceEvents()), ['entry dock tag 10', 'exit dock tag 10-12']);
  });

  test('older than the time of receipt keeps its own time in events', async () => {
    const harness = await openWithFence();
    harness.tell(60, inHall(2, IN));
    harness.tell(70, inHall(3.25, OUT));
    assert.deepEqual(brief(harness.takeFenceEvents()), ['entry dock tag 2', 'exit dock tag 2-3.25']);
  });

  test('of one provider does not affect the order of another', async () => {
    const harness = await openWithFence();
    harness.tell(10, inHall(10, OUT));
    assert.deepEqual(counted(harness.tell(11, inHall(1, OUT, { provider_id: 'other' }))), [1, 0, 0]);
  });

  test('of a provider whose location was deleted may have any age', async () => {
    const harness = await openWithFence();
    harness.tell(10, inHall(10, OUT));
    harness.tell(11, { kind: 'forget', id: 'tag' });
    assert.deepEqual(counted(harness.tell(12, inHall(1, OUT))), [1, 0, 0]);
  });

  test('of 1970 is a location like any other', async () => {
    const harness = await ShardHarness.open();
    const epoch = { timestamp_generated: '1970-01-01T00:00:00Z' };
    const outcome = harness.tell(1, { ...locationAt(1, 9, 50, epoch), generatedMs: 0 });
    assert.deepEqual(counted(outcome), [1, 0, 0]);
    assert.equal(harness.observed.locations[0]?.timestamp_generated, epoch.timestamp_generated);
    assert.deepEqual(counted(harness.tell(2, locationAt(1, 9, 50))), [1, 0, 0]);
  });

  test('whose zone no longer has a plane is rejected, and has no other effect', async () => {
    const harness = await openWithFence();
    harness.tell(1, { kind: 'zone', id: (DOCK.zone_id as string) ?? '', entity: undefined });
    const outcome = harness.tell(2, inHall(2, IN));
    assert.deepEqual(counted(outcome), [0, 0, 1]);
    assert.deepEqual(outcome.events, []);
    assert.equal(outcome.nextDeadlineMs, Number.POSITIVE_INFINITY);
    assert.deepEqual(harness.ask(3, { ask: 'provider_location', id: 'tag', view: { crs: 'EPSG:4326' } }), {
      absent: true,
    });
  });

  test('returns the time of the next deadline', async () => {
    const harness = await openWithFence();
    harness.tell(0, fence({ ...DOCK, timeout: 5000 }));
    assert.equal(harness.tell(10, inHall(9, IN)).nextDeadlineMs, T0 + 15_000);
    assert.equal(harness.step(15).nextDeadlineMs, Number.POSITIVE_INFINITY);
  });
});
