import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { square } from '../support/hall.ts';
import { deleted, fence, forced, inHall, iso, ShardHarness, trackable, zone } from '../support/shard_harness.ts';
import { brief, briefMotions } from './brief.ts';

const IN = [5, 5] as const;
const OUT = [50, 5] as const;
const OTHER = { provider_id: 'other' };

async function open(): Promise<ShardHarness> {
  const harness = await ShardHarness.open();
  harness.tell(0, zone(), fence(square({ id: 'dock' })));
  return harness;
}

/** Events and motions of the trackable since the previous call. */
function news(harness: ShardHarness): string[] {
  const events = harness.takeFenceEvents().filter(({ trackable_id: id }) => id != null);
  return [...briefMotions(harness.takeMotions()), ...brief(events)];
}

describe('a forced change of a trackable', () => {
  test('moves a new one to the location of its provider, as an observation made now', async () => {
    const harness = await open();
    harness.tell(1, inHall(1, IN));
    harness.tell(5, forced(trackable('cart', ['tag'])));
    assert.deepEqual(harness.observed.motions[0]?.location.trackables, ['cart']);
    assert.deepEqual(news(harness), ['cart by tag of 1', 'entry dock cart 5']);
    const motion = harness.outcomes.at(-1)?.motions[0];
    assert.equal(motion?.kind === 'moved' && motion.eventTimeMs, Date.parse(iso(5)));
  });

  test('does nothing without a location', async () => {
    const harness = await open();
    const outcome = harness.tell(5, forced(trackable('cart', ['tag'])));
    assert.deepEqual([outcome.events, outcome.motions, outcome.rows], [[], [], []]);
  });

  test('does nothing when nothing would change', async () => {
    const harness = await open();
    harness.tell(0, trackable('cart', ['tag']));
    harness.tell(1, inHall(1, IN));
    news(harness);
    const outcome = harness.tell(2, forced(trackable('cart', ['tag'])));
    assert.deepEqual([outcome.events, outcome.motions, outcome.rows], [[], [], []]);
  });

  test('to other providers makes it move there, and cross fences', async () => {
    const harness = await open();
    harness.tell(0, trackable('cart', ['tag']));
    harness.tell(1, inHall(1, IN));
    harness.tell(2, inHall(2, OUT, OTHER));
    news(harness);
    harness.tell(5, forced(trackable('cart', ['other'])));
    assert.deepEqual(news(harness), ['cart by other of 2', 'exit dock cart 1-5']);
    harness.tell(6, forced(trackable('cart', ['tag', 'other'])));
    assert.deepEqual(news(harness), []);
  });

  test('to a greater radius makes it touch a fence', async () => {
    const harness = await open();
    harness.tell(0, trackable('cart', ['tag']));
    harness.tell(1, inHall(1, [12, 5]));
    news(harness);
    harness.tell(5, forced(trackable('cart', ['tag'], { radius: 3 })));
    assert.deepEqual(news(harness), ['cart by tag of 1', 'entry dock cart 5']);
  });

  test('of its name is a new motion without a crossing', async () => {
    const harness = await open();
    harness.tell(0, trackable('cart', ['tag']));
    harness.tell(1, inHall(1, IN));
    news(harness);
    harness.tell(5, forced(trackable('cart', ['tag'], { name: 'Cart' })));
    assert.equal(harness.observed.motions[0]?.name, 'Cart');
    assert.deepEqual(news(harness), ['cart by tag of 1']);
  });

  test('of its rules makes another location win', async () => {
    const harness = await open();
    harness.tell(0, trackable('cart', ['tag', 'other']));
    harness.tell(1, inHall(1, IN));
    harness.tell(2, inHall(2, OUT, OTHER));
    news(harness);
    const locating_rules = [{ expression: "provider_id = 'tag'", priority: 1 }];
    harness.tell(5, forced(trackable('cart', ['tag', 'other'], { locating_rules })));
    assert.deepEqual(news(harness), ['cart by tag of 1', 'entry dock cart 5']);
  });

  test('moves what the trackable carries as well', async () => {
    const harness = await open();
    harness.tell(0, trackable('box', [], { parent: 'cart' }));
    harness.tell(1, inHall(1, IN));
    harness.tell(5, forced(trackable('cart', ['tag'])));
    assert.deepEqual(news(harness), ['cart by tag of 1', 'box by tag of 1', 'entry dock cart 5', 'entry dock box 5']);
  });
});

describe('a change of a trackable that is not forced', () => {
  test('publishes nothing, and takes effect from the next location on', async () => {
    const harness = await open();
    harness.tell(0, trackable('cart', ['tag']));
    harness.tell(1, inHall(1, IN));
    news(harness);
    harness.tell(2, trackable('cart', ['tag'], { name: 'Cart' }));
    assert.deepEqual(news(harness), []);
    harness.tell(3, inHall(3, IN));
    assert.equal(harness.observed.motions[0]?.name, 'Cart');
    assert.deepEqual(news(harness), ['cart by tag of 3']);
  });

  test('is visible when the motion is queried', async () => {
    const harness = await open();
    harness.tell(0, trackable('cart', ['tag']));
    harness.tell(1, inHall(1, [12, 5]));
    harness.tell(2, trackable('cart', ['tag'], { radius: 3, name: 'Cart' }));
    const answer = harness.ask(3, { ask: 'trackable_motion', id: 'cart', view: { crs: 'EPSG:4326' } });
    const { name, geometry } = JSON.parse((answer as { texts: string[] }).texts[0] as string);
    assert.deepEqual([name, geometry.type], ['Cart', 'Polygon']);
  });

  test('out of collisions ends them at once', async () => {
    const harness = await open();
    harness.tell(0, trackable('cart', ['tag'], { radius: 1 }));
    const [moved] = harness.tell(1, inHall(1, IN)).motions;
    assert.equal(moved?.kind, 'moved');
    const more = { radius: 1, calculate_collisions: false };
    const [gone] = harness.tell(2, trackable('cart', ['tag'], more)).motions;
    assert.deepEqual([gone?.kind, gone?.id], ['gone', 'cart']);
    assert.deepEqual(harness.tell(3, inHall(3, IN)).motions, []);
    assert.deepEqual(harness.tell(4, deleted('trackable', 'cart')).motions, []);
  });
});
