import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Query } from '../../src/core/item.ts';
import type { Fence } from '../../src/model/fence.ts';
import type { Filter } from '../../src/model/filter.ts';
import { HALL, square } from '../support/hall.ts';
import { deleted, fence, inHall, provider, ShardHarness, trackable, zone } from '../support/shard_harness.ts';
import { brief, briefMotions } from './brief.ts';

const IN = [5, 5] as const;
const OUT = [15, 5] as const;
const VIEW = { crs: 'EPSG:4326' };
const NOTHING = { locations: [], motions: [], events: [] };
/** A room from 0 to 10 m, and a floor from 0 to 20 m around it. */
const ROOM = square({ id: 'room', untracked: true });
const corners = [0, 20, 20, 0, 0].map((x, i) => [x, i > 1 && i < 4 ? 20 : 0]);
const FLOOR: Fence = { ...square({ id: 'floor' }), region: { type: 'Polygon', coordinates: [corners] } };

/** A cart with two tags. */
async function open(room: Fence = ROOM): Promise<ShardHarness> {
  const harness = await ShardHarness.open();
  harness.rows = 'all';
  harness.tell(0, zone(), fence(room), fence(FLOOR), provider('tag'), provider('other'));
  harness.tell(0, trackable('cart', ['tag', 'other'], { radius: 1 }));
  return harness;
}

/** Returns and removes what the shard has published. */
function published(harness: ShardHarness) {
  const locations = harness.observed.locations.splice(0).map(({ provider_id }) => provider_id);
  return { locations, motions: briefMotions(harness.takeMotions()), events: brief(harness.takeFenceEvents()) };
}

/** Returns what the shard answers about the position of the tag and the cart. */
function answers(harness: ShardHarness, second: number): string {
  const queries: readonly Query[] = [
    { ask: 'provider_location', id: 'tag', view: VIEW },
    { ask: 'provider_locations', view: VIEW },
    { ask: 'trackable_motion', id: 'cart', view: VIEW },
    { ask: 'trackable_motions', view: VIEW },
    { ask: 'trackable_locations', id: 'cart', view: VIEW },
    { ask: 'trackable_fences', id: 'cart', spatial: true },
    { ask: 'forecast', id: 'cart', horizonMs: 10_000 },
    { ask: 'search', kind: 'trackable', view: VIEW, most: 10 },
  ];
  return JSON.stringify(queries.map((query) => harness.ask(second, query)));
}

describe('An untracked fence', () => {
  test('lets no location inside be published, answered or stored, and has no events', async () => {
    const harness = await open();
    const before = answers(harness, 1);
    const outcome = harness.tell(2, inHall(2, IN));
    assert.deepEqual(published(harness), NOTHING);
    assert.equal(answers(harness, 3), before);
    assert.deepEqual([outcome.rows, outcome.counts.processed], [[], 1]);
  });

  test('removes the location of an object that enters, once, and of its row, until it is outside', async () => {
    const harness = await open();
    const empty = answers(harness, 1);
    harness.tell(2, inHall(2, OUT));
    assert.deepEqual(published(harness), {
      locations: ['tag'],
      motions: ['cart by tag of 2'],
      events: ['entry floor tag 2', 'entry floor cart 2'],
    });
    const entered = harness.tell(4, inHall(3, IN));
    assert.deepEqual(published(harness), { ...NOTHING, events: ['exit floor tag 2-3', 'exit floor cart 2-3'] });
    assert.deepEqual(entered.rows, [
      { kind: 'provider', id: 'tag', gone: true },
      { kind: 'trackable', id: 'cart', gone: true },
    ]);
    assert.deepEqual(
      entered.motions.map(({ kind }) => kind),
      ['gone'],
    );
    assert.equal(answers(harness, 5), empty);
    assert.deepEqual(harness.tell(6, inHall(6, IN)).rows, []);
    harness.tell(7, inHall(7, OUT));
    assert.deepEqual(published(harness).motions, ['cart by tag of 7']);
  });

  test('applies to its own heights and floor only, without tolerances', async () => {
    const harness = await open({ ...ROOM, floor: 1, entry_tolerance: 4, entry_delay: 10_000 });
    harness.tell(2, inHall(2, IN));
    assert.deepEqual(published(harness).locations, ['tag']);
    harness.tell(3, inHall(3, [9.5, 5], { floor: 1 }));
    assert.deepEqual(published(harness).locations, []);
  });

  test('leaves a trackable to its other provider', async () => {
    const harness = await open();
    harness.tell(2, inHall(2, OUT, { provider_id: 'other' }), inHall(2, OUT));
    published(harness);
    harness.tell(3, inHall(3, IN));
    assert.deepEqual(published(harness).motions, ['cart by other of 2']);
  });

  test('does not publish a filtered position inside, nor a fused one', async () => {
    const cv = { kind: 'cv', process_noise: 0.1, default_accuracy: 10 } as const;
    /** Returns whether locations outside the room led to a motion inside. */
    const isSeen = async (room: Fence, other: string, filter: Filter): Promise<boolean> => {
      const harness = await open(room);
      harness.tell(0, trackable('cart', ['tag', 'other'], { filter }), provider('tag', { filter }));
      for (let second = 1; second < 10; second++) {
        const [provider_id, x] = second % 2 === 0 ? ['tag', 15] : [other, -5];
        harness.tell(second, inHall(second, [x, 5], { provider_id }));
      }
      const longitudes = harness.observed.motions.map(({ location }) => location.position.coordinates[0] ?? 0);
      return longitudes.some((lon) => lon > 9 && lon < 9.000139);
    };
    for (const [other, filter] of [
      ['tag', cv],
      ['other', { ...cv, fuse: true }],
    ] as const) {
      assert.equal(await isSeen({ ...ROOM, untracked: false }, other, filter), true, other);
      assert.equal(await isSeen(ROOM, other, filter), false, other);
    }
  });

  test('removes the locations inside when it is created, moved, or becomes untracked, and not those outside', async () => {
    for (const first of [undefined, { ...ROOM, untracked: false }, square({ id: 'room', untracked: true, floor: 3 })]) {
      const harness = await ShardHarness.open();
      harness.tell(
        0,
        zone(),
        provider('tag'),
        provider('other'),
        trackable('cart', ['tag']),
        trackable('fork', ['other']),
      );
      if (first !== undefined) harness.tell(0, fence(first));
      harness.tell(1, inHall(1, IN), inHall(1, OUT, { provider_id: 'other' }));
      published(harness);
      harness.tell(2, fence(ROOM));
      const { locations, motions } = published(harness);
      assert.deepEqual([locations, motions], [[], []]);
      const left = harness.ask(3, { ask: 'provider_locations', view: VIEW });
      assert.ok('texts' in left && left.texts.length === 1 && left.texts[0]?.includes('"other"'), JSON.stringify(left));
      const moving = harness.ask(3, { ask: 'trackable_motions', view: VIEW });
      assert.ok('texts' in moving && moving.texts.length === 1 && moving.texts[0]?.includes('"fork"'));
    }
  });

  test('moves with its zone', async () => {
    const harness = await open();
    harness.tell(
      1,
      inHall(1, OUT, { crs: 'EPSG:4326', position: { type: 'Point', coordinates: [9.00021, 50.00005] } }),
    );
    assert.deepEqual(published(harness).locations, ['tag']);
    const rows = (HALL.ground_control_points as number[][]).map((row, i) =>
      i % 2 === 0 ? row : [row[0]! - 10, row[1]!],
    );
    harness.tell(2, zone({ ...HALL, ground_control_points: rows }));
    assert.deepEqual(harness.ask(3, { ask: 'provider_locations', view: VIEW }), { texts: [] });
  });

  test('is an ordinary fence again without the member, and after its deletion nothing is untracked', async () => {
    const harness = await open();
    harness.tell(1, fence({ ...ROOM, untracked: null }), inHall(1, IN));
    assert.deepEqual(published(harness).events, [
      ...['entry floor tag 1', 'entry room tag 1', 'entry floor cart 1', 'entry room cart 1'],
    ]);
    const other = await open();
    other.tell(1, deleted('fence', 'room'), inHall(1, IN));
    assert.deepEqual(published(other).locations, ['tag']);
  });

  test('hides the location of a row that was stored before it existed', async () => {
    const before = await ShardHarness.open();
    before.rows = 'all';
    before.tell(0, zone(), provider('tag'));
    const { rows } = before.tell(1, inHall(1, IN));
    assert.equal(rows.length, 1);
    const harness = await open();
    const { receivedMs } = harness.items(2, deleted('fence', 'none'))[0]!;
    const restored = harness.tell(2, { kind: 'restore', rows, suppressUntilMs: receivedMs } as never);
    assert.deepEqual(harness.ask(3, { ask: 'provider_locations', view: VIEW }), { texts: [] });
    assert.deepEqual(restored.rows, [{ kind: 'provider', id: 'tag', gone: true }]);
  });
});
