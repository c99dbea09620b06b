import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { LastKnownRow } from '../../src/core/item.ts';
import type { Zone } from '../../src/model/zone.ts';
import { HALL, square } from '../support/hall.ts';
import { fence, inHall, provider, ShardHarness, T0, trackable, zone } from '../support/shard_harness.ts';

const IN = [5, 5] as const;

/** Stored rows of a tag that brought a cart into the dock at second 30. */
async function rowsOfCart(): Promise<readonly LastKnownRow[]> {
  const harness = await ShardHarness.open();
  harness.tell(0, zone(), fence(square({ id: 'dock' })), provider('tag'), trackable('cart', ['tag']));
  return harness.tell(30, inHall(30, IN)).rows;
}

describe('after a restart', () => {
  test('objects located in the coordinates of a zone still are, and move with its plane', async () => {
    const next = await ShardHarness.open();
    next.tell(40, zone(), fence(square({ id: 'dock' })), provider('tag'), trackable('cart', ['tag']));
    next.tell(40, { kind: 'restore', rows: await rowsOfCart(), suppressUntilMs: T0 + 42_000 });
    const control = (HALL.ground_control_points as number[][]).map((row, i) =>
      i % 2 === 0 ? row : [(row[0] as number) - 50, row[1] as number],
    );
    next.tell(45, zone({ ...HALL, ground_control_points: control }));
    next.step(60);
    assert.deepEqual(next.takeFenceEvents(), []);
    const view = { crs: 'local' };
    const { texts } = next.ask(61, { ask: 'provider_location', id: 'tag', view }) as { texts: string[] };
    assert.deepEqual(JSON.parse(texts[0] as string).position.coordinates, [...IN]);
  });

  /** The hall, moved west by 50 m of its plane. */
  const MOVED: Zone = {
    ...HALL,
    ground_control_points: (HALL.ground_control_points as number[][]).map((row, i) =>
      i % 2 === 0 ? row : [(row[0] as number) - 50, row[1] as number],
    ),
  };

  for (const [what, stored] of [
    ['moved', [zone()]],
    ['created again elsewhere after it was missing at the start', []],
  ] as const) {
    test(`the motions of objects whose zone is ${what} have the new position, as without a restart`, async () => {
      const [same, next] = [await ShardHarness.open(), await ShardHarness.open()];
      same.tell(0, zone(), fence(square({ id: 'dock' })), provider('tag'), trackable('cart', ['tag']));
      const { rows } = same.tell(30, inHall(30, IN));
      next.tell(40, ...stored, provider('tag'), trackable('cart', ['tag']));
      next.tell(40, { kind: 'restore', rows, suppressUntilMs: T0 + 42_000 });
      const [expected, motions] = [same, next].map((harness) => {
        harness.takeMotions();
        harness.tell(45, zone(MOVED));
        return harness.takeMotions().map(({ geometry, location }) => [geometry, location.position]);
      });
      assert.equal(motions?.length, 1);
      assert.deepEqual(motions, expected);
    });
  }
});
