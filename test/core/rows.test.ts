import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { LastKnownRow } from '../../src/core/item.ts';
import type { Location } from '../../src/model/location.ts';
import { square } from '../support/hall.ts';
import {
  deleted,
  fence,
  type ObservedOutcome,
  inHall,
  provider,
  ShardHarness,
  T0,
  trackable,
  zone,
} from '../support/shard_harness.ts';

const IN = [5, 5] as const;
const OUT = [50, 5] as const;

async function open(rows: 'all' | 'urgent'): Promise<ShardHarness> {
  const harness = await ShardHarness.open();
  harness.rows = rows;
  harness.tell(0, zone(), fence(square({ id: 'dock', timeout: 10_000 })), provider('tag'), trackable('cart', ['tag']));
  return harness;
}

function brief({ rows }: ObservedOutcome): string[] {
  return rows.map((row) =>
    row.gone === true ? `-${row.id}` : [row.id, ...row.memberships.map(([id]) => id)].join(' '),
  );
}

describe('rows', () => {
  test('contain the last position of an object, its time of receipt, and its memberships with entry times', async () => {
    const harness = await open('urgent');
    const { rows } = harness.tell(5, inHall(2, IN, { accuracy: 1 }));
    const [row] = rows as [LastKnownRow & { gone?: false }];
    const { location, ...rest } = row;
    const expected = { kind: 'provider', id: 'tag', receivedMs: T0 + 5000, eventTimeMs: T0 + 2000 };
    assert.deepEqual(rest, { ...expected, memberships: [['dock', T0 + 2000]] });
    const { timestamp_sent: _, ...observed } = harness.observed.locations[0] as Location;
    assert.deepEqual(JSON.parse(location), { ...observed, local: [5, 5] });
  });

  test('are urgent if memberships have changed; the others follow when all are requested', async () => {
    const harness = await open('urgent');
    assert.deepEqual(brief(harness.tell(1, inHall(1, OUT))), []);
    assert.deepEqual(brief(harness.tell(2, inHall(2, IN))), ['tag dock', 'cart dock']);
    assert.deepEqual(brief(harness.tell(3, inHall(3, IN))), []);
    harness.rows = 'all';
    assert.deepEqual(brief(harness.step(4)), ['tag dock', 'cart dock']);
    assert.deepEqual(brief(harness.step(5)), []);
  });

  for (const rows of ['all', 'urgent'] as const) {
    test(`of members that have exited by a timer are included if ${rows} are requested`, async () => {
      const harness = await open(rows);
      harness.tell(1, inHall(1, IN));
      harness.step(2);
      assert.deepEqual(brief(harness.step(11)), ['tag', 'cart']);
    });

    test(`of members added by a changed fence are included if ${rows} are requested`, async () => {
      const harness = await open(rows);
      harness.tell(1, inHall(1, OUT));
      harness.step(2);
      const region = { type: 'Point' as const, coordinates: [50, 5] };
      assert.deepEqual(brief(harness.tell(3, fence(square({ id: 'dock', region, radius: 5 })))), [
        'tag dock',
        'cart dock',
      ]);
      assert.deepEqual(brief(harness.tell(4, deleted('fence', 'dock'))), ['tag', 'cart']);
    });
  }

  test('of members that are entering or leaving contain their timers', async () => {
    const harness = await open('all');
    harness.tell(0, fence(square({ id: 'dock', entry_delay: 5000, exit_delay: 3000 })));
    const reported = (outcome: ObservedOutcome): unknown =>
      outcome.rows.map((row) => row.gone !== true && row.memberships);
    const at = (second: number): number => T0 + second * 1000;
    const entering = ['dock', null, { seen: at(1), area: 'entering', since: at(1), tolerance: null, delay: at(1) }];
    assert.deepEqual(reported(harness.tell(1, inHall(1, IN))), [[entering], [entering]]);
    assert.deepEqual(brief(harness.step(6)), ['tag dock', 'cart dock']);
    const leaving = ['dock', at(1), { seen: at(7), area: 'out', tolerance: null, delay: at(7) }];
    assert.deepEqual(reported(harness.tell(7, inHall(7, [50, 5]))), [[leaving], [leaving]]);
  });

  test('of deleted objects are tombstones, written at once, and replaced if the object returns', async () => {
    const harness = await open('urgent');
    harness.tell(1, inHall(1, IN));
    assert.deepEqual(brief(harness.tell(2, { kind: 'forget', id: 'tag' })), ['-tag', '-cart']);
    assert.deepEqual(brief(harness.step(3)), []);
    assert.deepEqual(brief(harness.tell(4, deleted('provider', 'tag'), inHall(4, IN))), ['tag dock', 'cart dock']);
  });
});
