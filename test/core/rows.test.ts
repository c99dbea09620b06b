import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { LastKnownRow } from '../../src/core/item.ts';
import type { Outcome } from '../../src/core/outcome.ts';
import type { Location } from '../../src/model/location.ts';
import { square } from '../support/hall.ts';
import { deleted, fence, inHall, provider, ShardBench, T0, trackable, zone } from '../support/shard_harness.ts';

const IN = [5, 5] as const;
const OUT = [50, 5] as const;

async function open(rows: 'all' | 'urgent'): Promise<ShardBench> {
  const bench = await ShardBench.open();
  bench.rows = rows;
  bench.tell(0, zone(), fence(square({ id: 'dock', timeout: 10_000 })), provider('tag'), trackable('cart', ['tag']));
  return bench;
}

function brief({ rows }: Outcome): string[] {
  return rows.map((row) =>
    row.gone === true ? `-${row.id}` : [row.id, ...row.memberships.map(([id]) => id)].join(' '),
  );
}

describe('rows', () => {
  test('say where an object was last and when it was heard of, and what it is in since when', async () => {
    const bench = await open('urgent');
    const { rows } = bench.tell(5, inHall(2, IN, { accuracy: 1 }));
    const [row] = rows as [LastKnownRow & { gone?: false }];
    const { location, ...rest } = row;
    const expected = { kind: 'provider', id: 'tag', receivedMs: T0 + 5000, keyMs: T0 + 2000 };
    assert.deepEqual(rest, { ...expected, memberships: [['dock', T0 + 2000]] });
    const { timestamp_sent: _, ...heard } = bench.heard.locations[0] as Location;
    assert.deepEqual(JSON.parse(location), { ...heard, local: [5, 5] });
  });

  test('that are urgent are those whose memberships have changed; the others follow when all are wanted', async () => {
    const bench = await open('urgent');
    assert.deepEqual(brief(bench.tell(1, inHall(1, OUT))), []);
    assert.deepEqual(brief(bench.tell(2, inHall(2, IN))), ['tag dock', 'cart dock']);
    assert.deepEqual(brief(bench.tell(3, inHall(3, IN))), []);
    bench.rows = 'all';
    assert.deepEqual(brief(bench.step(4)), ['tag dock', 'cart dock']);
    assert.deepEqual(brief(bench.step(5)), []);
  });

  for (const rows of ['all', 'urgent'] as const) {
    test(`of members that have left by a timer come as well when ${rows} are wanted`, async () => {
      const bench = await open(rows);
      bench.tell(1, inHall(1, IN));
      bench.step(2);
      assert.deepEqual(brief(bench.step(11)), ['tag', 'cart']);
    });

    test(`of members that a changed fence has made come as well when ${rows} are wanted`, async () => {
      const bench = await open(rows);
      bench.tell(1, inHall(1, OUT));
      bench.step(2);
      const region = { type: 'Point' as const, coordinates: [50, 5] };
      assert.deepEqual(brief(bench.tell(3, fence(square({ id: 'dock', region, radius: 5 })))), [
        'tag dock',
        'cart dock',
      ]);
      assert.deepEqual(brief(bench.tell(4, deleted('fence', 'dock'))), ['tag', 'cart']);
    });
  }

  test('of those who are entering name no membership', async () => {
    const bench = await open('all');
    bench.tell(0, fence(square({ id: 'dock', entry_delay: 5000 })));
    assert.deepEqual(brief(bench.tell(1, inHall(1, IN))), ['tag', 'cart']);
    assert.deepEqual(brief(bench.step(6)), ['tag dock', 'cart dock']);
  });

  test('of what is gone are gone, at once, and come again with it', async () => {
    const bench = await open('urgent');
    bench.tell(1, inHall(1, IN));
    assert.deepEqual(brief(bench.tell(2, { kind: 'forget', id: 'tag' })), ['-tag', '-cart']);
    assert.deepEqual(brief(bench.step(3)), []);
    assert.deepEqual(brief(bench.tell(4, deleted('provider', 'tag'), inHall(4, IN))), ['tag dock', 'cart dock']);
  });
});
