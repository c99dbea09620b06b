import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { square } from '../support/hall.ts';
import { deleted, fence, forced, inHall, iso, ShardBench, trackable, zone } from '../support/shard_harness.ts';
import { brief, briefMotions } from './brief.ts';

const IN = [5, 5] as const;
const OUT = [50, 5] as const;
const OTHER = { provider_id: 'other' };

async function open(): Promise<ShardBench> {
  const bench = await ShardBench.open();
  bench.tell(0, zone(), fence(square({ id: 'dock' })));
  return bench;
}

/** Events and motions of the trackable since the last time. */
function news(bench: ShardBench): string[] {
  const events = bench.takeFenceEvents().filter(({ trackable_id: id }) => id != null);
  return [...briefMotions(bench.takeMotions()), ...brief(events)];
}

describe('a forced change of a trackable', () => {
  test('makes a new one move to the location of its provider, as an observation made now', async () => {
    const bench = await open();
    bench.tell(1, inHall(1, IN));
    bench.tell(5, forced(trackable('cart', ['tag'])));
    assert.deepEqual(bench.heard.motions[0]?.location.trackables, ['cart']);
    assert.deepEqual(news(bench), ['cart by tag of 1', 'entry dock cart 5']);
    const motion = bench.outcomes.at(-1)?.motions[0];
    assert.equal(motion?.kind === 'moved' && motion.keyMs, Date.parse(iso(5)));
  });

  test('does nothing without a location', async () => {
    const bench = await open();
    const outcome = bench.tell(5, forced(trackable('cart', ['tag'])));
    assert.deepEqual([outcome.events, outcome.motions, outcome.rows], [[], [], []]);
  });

  test('does nothing when nothing would change', async () => {
    const bench = await open();
    bench.tell(0, trackable('cart', ['tag']));
    bench.tell(1, inHall(1, IN));
    news(bench);
    const outcome = bench.tell(2, forced(trackable('cart', ['tag'])));
    assert.deepEqual([outcome.events, outcome.motions, outcome.rows], [[], [], []]);
  });

  test('to other providers makes it move there, and cross fences', async () => {
    const bench = await open();
    bench.tell(0, trackable('cart', ['tag']));
    bench.tell(1, inHall(1, IN));
    bench.tell(2, inHall(2, OUT, OTHER));
    news(bench);
    bench.tell(5, forced(trackable('cart', ['other'])));
    assert.deepEqual(news(bench), ['cart by other of 2', 'exit dock cart 1-5']);
    bench.tell(6, forced(trackable('cart', ['tag', 'other'])));
    assert.deepEqual(news(bench), []);
  });

  test('to a greater radius makes it touch a fence', async () => {
    const bench = await open();
    bench.tell(0, trackable('cart', ['tag']));
    bench.tell(1, inHall(1, [12, 5]));
    news(bench);
    bench.tell(5, forced(trackable('cart', ['tag'], { radius: 3 })));
    assert.deepEqual(news(bench), ['cart by tag of 1', 'entry dock cart 5']);
  });

  test('of its name is a new motion, and no crossing', async () => {
    const bench = await open();
    bench.tell(0, trackable('cart', ['tag']));
    bench.tell(1, inHall(1, IN));
    news(bench);
    bench.tell(5, forced(trackable('cart', ['tag'], { name: 'Cart' })));
    assert.equal(bench.heard.motions[0]?.name, 'Cart');
    assert.deepEqual(news(bench), ['cart by tag of 1']);
  });

  test('of its rules makes another location win', async () => {
    const bench = await open();
    bench.tell(0, trackable('cart', ['tag', 'other']));
    bench.tell(1, inHall(1, IN));
    bench.tell(2, inHall(2, OUT, OTHER));
    news(bench);
    const locating_rules = [{ expression: "provider_id = 'tag'", priority: 1 }];
    bench.tell(5, forced(trackable('cart', ['tag', 'other'], { locating_rules })));
    assert.deepEqual(news(bench), ['cart by tag of 1', 'entry dock cart 5']);
  });

  test('takes along what the trackable carries', async () => {
    const bench = await open();
    bench.tell(0, trackable('box', [], { parent: 'cart' }));
    bench.tell(1, inHall(1, IN));
    bench.tell(5, forced(trackable('cart', ['tag'])));
    assert.deepEqual(news(bench), ['cart by tag of 1', 'box by tag of 1', 'entry dock cart 5', 'entry dock box 5']);
  });
});

describe('a change of a trackable that is not forced', () => {
  test('says nothing, and acts from the next location on', async () => {
    const bench = await open();
    bench.tell(0, trackable('cart', ['tag']));
    bench.tell(1, inHall(1, [12, 5]));
    news(bench);
    bench.tell(2, trackable('cart', ['tag'], { radius: 3, name: 'Cart' }));
    assert.deepEqual(news(bench), []);
    bench.tell(3, inHall(3, [12, 5]));
    assert.equal(bench.heard.motions[0]?.name, 'Cart');
    assert.deepEqual(news(bench), ['cart by tag of 3', 'entry dock cart 3']);
  });

  test('is seen when the motion is asked for', async () => {
    const bench = await open();
    bench.tell(0, trackable('cart', ['tag']));
    bench.tell(1, inHall(1, [12, 5]));
    bench.tell(2, trackable('cart', ['tag'], { radius: 3, name: 'Cart' }));
    const answer = bench.ask(3, { ask: 'trackable_motion', id: 'cart', view: { crs: 'EPSG:4326' } });
    const { name, geometry } = JSON.parse((answer as { texts: string[] }).texts[0] as string);
    assert.deepEqual([name, geometry.type], ['Cart', 'Polygon']);
  });

  test('out of collisions ends them at once', async () => {
    const bench = await open();
    bench.tell(0, trackable('cart', ['tag'], { radius: 1 }));
    const [moved] = bench.tell(1, inHall(1, IN)).motions;
    assert.equal(moved?.kind, 'moved');
    const more = { radius: 1, calculate_collisions: false };
    const [gone] = bench.tell(2, trackable('cart', ['tag'], more)).motions;
    assert.deepEqual([gone?.kind, gone?.id], ['gone', 'cart']);
    assert.deepEqual(bench.tell(3, inHall(3, IN)).motions, []);
    assert.deepEqual(bench.tell(4, deleted('trackable', 'cart')).motions, []);
  });
});
