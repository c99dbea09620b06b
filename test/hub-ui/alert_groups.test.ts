import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type AlertGroup, compareGroups, groupAlerts } from '../../src/hub-ui/alerts/alert_groups.ts';
import { type Alert, ALERT_STATES, SEVERITIES } from '../../src/model/alert.ts';

let lastId = 0;

function alertOf(more: Partial<Alert>): Alert {
  lastId++;
  return {
    id: `alert-${lastId}`,
    rule_id: 'leaves',
    name: 'Leaves dock',
    kind: 'exit',
    severity: 'warning',
    state: 'raised',
    fence_id: 'dock',
    times: 1,
    raised_at: '2026-03-01T10:00:00.000Z',
    ...more,
  };
}

/** Time in the morning, in seconds after ten. */
const at = (seconds: number): string => new Date(Date.UTC(2026, 2, 1, 10, 0, seconds)).toISOString();

const keysOf = (groups: readonly AlertGroup[]): readonly string[] => groups.map(({ key }) => key);

test('Alerts of a rule are grouped by fence, with their objects and repetitions counted', () => {
  const [dock, gate, elsewhere] = groupAlerts([
    alertOf({ id: 'a', trackable_id: 'forklift', times: 200, raised_at: at(2) }),
    alertOf({ id: 'b', trackable_id: 'pallet', state: 'acknowledged', raised_at: at(4) }),
    alertOf({ id: 'c', trackable_id: 'pallet', state: 'cleared', raised_at: at(1) }),
    alertOf({ id: 'd', provider_id: 'pallet', times: 10, raised_at: at(3) }),
    alertOf({ id: 'e', fence_id: 'gate', kind: 'more_inside', count: 5, raised_at: at(0) }),
    alertOf({ id: 'f', fence_id: null, kind: 'collision', trackable_id: 'forklift', other_trackable_id: 'crane' }),
  ]).toSorted((one, other) => other.times - one.times);
  assert.deepEqual(
    dock?.alerts.map(({ id }) => id),
    ['b', 'd', 'a', 'c'],
  );
  assert.deepEqual([dock?.times, dock?.objects, dock?.newest.id], [212, 3, 'b'], 'a tag is no trackable of that id');
  assert.deepEqual([dock?.raised.length, dock?.open.length, dock?.since], [2, 3, at(2)], 'c is cleared');
  assert.deepEqual([gate?.objects, elsewhere?.objects], [0, 2]);
});

for (const [promise, first, second] of [
  ['critical before warning', { severity: 'critical' }, { severity: 'warning', raised_at: at(9) }],
  ['warning before info', { severity: 'warning', state: 'acknowledged' }, { severity: 'info' }],
  ['open before cleared', { severity: 'info', state: 'acknowledged' }, { severity: 'critical', state: 'cleared' }],
  ['unacknowledged before acknowledged', { state: 'raised' }, { state: 'acknowledged', raised_at: at(9) }],
  ['later before earlier', { raised_at: at(2) }, { raised_at: at(1) }],
] as const satisfies readonly (readonly [string, Partial<Alert>, Partial<Alert>])[]) {
  test(`Groups are sorted: ${promise}`, () => {
    const both = [alertOf({ ...second, rule_id: 'a' }), alertOf({ ...first, rule_id: 'b' })];
    assert.deepEqual(
      groupAlerts(both).map(({ newest }) => newest.rule_id),
      ['b', 'a'],
    );
  });
}

test('A group has the severity of its open alerts, not of cleared ones', () => {
  const [group] = groupAlerts([
    alertOf({ severity: 'info' }),
    alertOf({ severity: 'warning', state: 'acknowledged' }),
    alertOf({ severity: 'critical', state: 'cleared' }),
  ]);
  assert.equal(group?.severity, 'warning');
});

test('A further alert of a group does not move it among its equals', () => {
  const before = [alertOf({ rule_id: 'a', raised_at: at(1) }), alertOf({ rule_id: 'b', raised_at: at(2) })];
  const after = [...before, alertOf({ rule_id: 'a', raised_at: at(3) })];
  assert.deepEqual(keysOf(groupAlerts(after)), keysOf(groupAlerts(before)));
});

const few = (name: string) => fc.constantFrom(...['1', '2', '3'].map((digit) => `${name}-${digit}`));
const anyAlert: fc.Arbitrary<Partial<Alert>> = fc.record({
  rule_id: few('rule'),
  fence_id: fc.option(few('fence'), { nil: null }),
  trackable_id: fc.option(few('object'), { nil: null }),
  other_trackable_id: fc.option(few('object'), { nil: null }),
  provider_id: fc.option(few('object'), { nil: null }),
  severity: fc.constantFrom(...SEVERITIES),
  state: fc.constantFrom(...ALERT_STATES),
  times: fc.integer({ min: 1, max: 1_000 }),
  raised_at: fc.integer({ min: 0, max: 5 }).map(at),
});

test('Each alert is in exactly one group, counts add up, and the order is total', () => {
  fc.assert(
    fc.property(fc.array(anyAlert, { maxLength: 40 }), fc.nat({ max: 40 }), (members, turn) => {
      const alerts = members.map(alertOf);
      const groups = groupAlerts(alerts);
      const grouped = groups.flatMap((group) => group.alerts.map(({ id }) => id));
      assert.deepEqual(grouped.toSorted(), alerts.map(({ id }) => id).toSorted());
      const sum = (count: (group: AlertGroup) => number): number => groups.reduce((all, one) => all + count(one), 0);
      const countOf = (isCounted: (alert: Alert) => boolean): number => alerts.filter(isCounted).length;
      assert.equal(
        sum(({ raised }) => raised.length),
        countOf(({ state }) => state === 'raised'),
      );
      assert.equal(
        sum(({ open }) => open.length),
        countOf(({ state }) => state !== 'cleared'),
      );
      assert.equal(
        sum(({ times }) => times),
        alerts.reduce((all, { times }) => all + times, 0),
      );
      for (const { alerts: own, newest, key } of groups) {
        assert.equal(new Set(own.map(({ rule_id, fence_id }) => `${rule_id} ${fence_id}`)).size, 1, key);
        assert.ok(own.every(({ raised_at: raised }) => raised <= newest.raised_at));
      }
      const isOrdered = groups.every((one, i) =>
        groups.every((other, k) => Math.sign(compareGroups(one, other)) === Math.sign(i - k)),
      );
      assert.ok(isOrdered, 'any two groups have one order');
      const rearranged = [...alerts.slice(turn), ...alerts.slice(0, turn)].reverse();
      assert.deepEqual(groupAlerts(rearranged), groups, 'the order of arrival does not matter');
    }),
    { seed: 42 },
  );
});
