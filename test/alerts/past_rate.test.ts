import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pastRateOf } from '../../src/alerts/past_rate.ts';
import type { EntityLookup } from '../../src/alerts/rule_match.ts';
import type { AlertRule } from '../../src/model/alert.ts';

const MINUTE_MS = 60_000;
const RULE = { id: 'r', name: 'Rule' };

const entities: EntityLookup = {
  fence: (id) => ({ id }),
  trackable: (id) => (id === 'deleted' ? undefined : { id }),
  trackables: () => [],
  provider: () => undefined,
  providers: () => [],
  isAssigned: () => false,
};

/** Fence events of the fence `f`, at minutes after the start of a span of one hour. */
function times(
  rule: Omit<AlertRule, 'id' | 'name'>,
  crossings: readonly (readonly [number, string, string])[],
): number {
  const events = crossings.map(([minute, type, id]) => ({
    timeMs: minute * MINUTE_MS,
    json: JSON.stringify({ event_type: `region_${type}`, fence_id: 'f', trackable_id: id }),
  }));
  const past = { fromMs: 0, toMs: 60 * MINUTE_MS, events };
  const stays = [{ fenceId: 'f', trackableId: 'always', sinceMs: -MINUTE_MS }];
  return pastRateOf({ ...RULE, ...rule }, past, { stays, entities }).times;
}

test('Entries and exits count, of existing objects to which the rule applies', () => {
  const crossings = [
    [1, 'entry', 't'],
    [2, 'exit', 't'],
    [3, 'entry', 't'],
    [4, 'entry', 'u'],
    [5, 'entry', 'deleted'],
  ] as const;
  assert.equal(times({ kind: 'entry' }, crossings), 3);
  assert.equal(times({ kind: 'exit' }, crossings), 1);
  assert.equal(times({ kind: 'entry', trackable_ids: ['u'] }, crossings), 1);
  assert.equal(times({ kind: 'entry', fence_ids: ['g'] }, crossings), 0);
});

test('A stay counts when it becomes too long, before the exit and at the end of the span', () => {
  const rule = { kind: 'inside_longer' as const, longer_than: 10 * MINUTE_MS, trackable_ids: ['t', 'u', 'v'] };
  const crossings = [
    [1, 'entry', 't'],
    [12, 'exit', 't'],
    [20, 'entry', 'u'],
    [29, 'exit', 'u'],
    [49, 'entry', 'v'],
  ] as const;
  assert.equal(times(rule, crossings), 2);
});

test('Objects that were inside at the start count as inside, and conditions that hold then do not count', () => {
  const crossings = [
    [1, 'entry', 't'],
    [2, 'exit', 'u'],
    [3, 'exit', 't'],
    [4, 'entry', 't'],
  ] as const;
  // The number is 2, 3, 2, 1, 2: with `always` and `u`, who leaves first.
  assert.equal(times({ kind: 'more_inside', more_than: 2 }, crossings), 1);
  assert.equal(times({ kind: 'more_inside', more_than: 1 }, crossings), 1);
  assert.equal(times({ kind: 'count_below', fence_ids: ['f'], fewer_than: 2 }, crossings), 1);
});

test('Events outside of the schedule of the rule do not count', () => {
  // The span begins at midnight in UTC.
  const schedule = { from: '00:00', to: '00:30' };
  const crossings = [
    [10, 'entry', 't'],
    [40, 'entry', 'u'],
  ] as const;
  assert.equal(times({ kind: 'entry', schedule }, crossings), 1);
});
