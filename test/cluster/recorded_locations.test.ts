import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { RecordedLocations, type RecoveredStep } from '../../src/cluster/journal/journal_recovery.ts';
import { copied } from '../../src/model/borrowed.ts';
import { eventTime } from '../../src/model/clock_steps.ts';
import { type LaneItem, LocationPacker, locationsOf } from '../../src/wire/location_record.ts';
import { packBatch } from '../../src/wire/messages.ts';
import { T0 } from '../support/shard_harness.ts';
import { accepted } from '../wire/accepted_locations.ts';
import { Front, takenBy } from '../wire/hub_to_hub.ts';

/** The clock of the owner has stepped backward. */
const clockSteps = [{ toMs: T0 - 1e6, byMs: 1234 }];

function stepWith(items: readonly LaneItem[]): RecoveredStep {
  const batch = copied(packBatch({ nowMs: T0, flushBudget: 0, items }));
  return { endMs: T0, step: { batch, effects: new Uint8Array(), clockSteps } };
}

test('Repeated locations of an ingress hub are left out if the previous owner has recorded them, and no others', () => {
  const front = new Front();
  const packer = new LocationPacker();
  const sent = fc.array(fc.record({ location: accepted, isRecorded: fc.boolean() }), { maxLength: 60 });
  fc.assert(
    fc.property(sent, (locations) => {
      for (const [index, { location }] of locations.entries())
        front.shards.location({ ...location, speed: index }, { receivedMs: T0 + index, generatedMs: T0 - 10 * index });
      const runs = front.sent();
      const copies = runs.map((run) => ({ ...run, bytes: Uint8Array.from(run.bytes) }));
      const { lane } = takenBy(copies, packer, { eventTime: (ms) => eventTime(ms, clockSteps) });
      const [one, other] = [0, 1].map((part) => {
        return lane.filter((_, index) => locations[index]?.isRecorded && index % 2 === part);
      }) as [LaneItem[], LaneItem[]];
      const journal = { earlier: [stepWith(one)], steps: [stepWith(other)], requests: new Map([['front', 6]]) };
      const recorded = new RecordedLocations(journal);
      assert.deepEqual(recorded.without(runs, { ingress: 'front', number: 6 }), [], 'all of this one were recorded');
      const left = recorded.without(runs, { ingress: 'front', number: 7 });
      const speeds = left.flatMap((run) => {
        const found = locationsOf(run).map(({ sentSpeed }) => sentSpeed);
        assert.equal(found.length, run.count);
        return found;
      });
      assert.deepEqual(
        speeds,
        [...locations.keys()].filter((index) => locations[index]?.isRecorded === false),
      );
      packer.done(lane);
    }),
    { numRuns: 60, seed: 1 },
  );
});
