import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { square } from '../support/hall.ts';
import { deleted, fence, inHall, provider, ShardHarness, trackable, zone } from '../support/shard_harness.ts';
import { brief, briefMotions } from './brief.ts';

const IN = [5, 5] as const;
const OUT = [50, 5] as const;
const DOCK = square({ id: 'dock' });
const OTHER = { provider_id: 'other' };

async function open(): Promise<ShardHarness> {
  const harness = await ShardHarness.open();
  harness.tell(0, zone(), fence(DOCK), provider('tag'), provider('other'));
  return harness;
}

describe('a provider', () => {
  test('without trackables has events of its own', async () => {
    const harness = await open();
    harness.tell(1, inHall(1, IN));
    assert.deepEqual(harness.observed.motions, []);
    const [event, ...more] = harness.takeFenceEvents();
    assert.deepEqual(more, []);
    assert.deepEqual([event?.provider_id, event?.trackable_id, event?.trackables], ['tag', null, []]);
  });

  test('on several trackables moves all of them, in id order', async () => {
    const harness = await open();
    harness.tell(0, trackable('b', ['tag']), trackable('c', ['tag']), trackable('a', ['tag']));
    harness.tell(1, inHall(1, IN));
    assert.deepEqual(briefMotions(harness.takeMotions()), ['a by tag of 1', 'b by tag of 1', 'c by tag of 1']);
    const events = harness.takeFenceEvents();
    assert.deepEqual(brief(events), ['entry dock tag 1', 'entry dock a 1', 'entry dock b 1', 'entry dock c 1']);
    const ids = events.map(({ provider_id: of, trackables }) => [of, trackables]);
    assert.deepEqual(ids, [
      ['tag', ['a', 'b', 'c']],
      [null, ['a']],
      [null, ['b']],
      [null, ['c']],
    ]);
  });

  test('may be assigned before it exists, and stays assigned when it is deleted', async () => {
    const harness = await open();
    harness.tell(0, trackable('cart', ['late']));
    harness.tell(1, inHall(1, OUT, { provider_id: 'late' }), provider('late'));
    harness.tell(2, deleted('provider', 'late'));
    harness.tell(3, inHall(3, IN, { provider_id: 'late' }));
    assert.deepEqual(briefMotions(harness.takeMotions()), ['cart by late of 1', 'cart by late of 3']);
    assert.deepEqual(brief(harness.takeFenceEvents()), ['entry dock late 3', 'entry dock cart 3']);
  });
});

describe('a trackable', () => {
  test('names its provider in events only if the hub is configured to', async () => {
    for (const providerInTrackableEvents of [false, true]) {
      const harness = await ShardHarness.open({ providerInTrackableEvents });
      harness.tell(0, zone(), fence(DOCK), trackable('cart', ['tag']));
      harness.tell(1, inHall(1, IN));
      const ofCart = harness.observed.fenceEvents.find(({ trackable_id: id }) => id === 'cart');
      assert.equal(ofCart?.provider_id, providerInTrackableEvents ? 'tag' : null);
    }
  });

  test('follows the newest location of its providers, and ignores an older one of another provider', async () => {
    const harness = await open();
    harness.tell(0, trackable('cart', ['tag', 'other']));
    harness.tell(1, inHall(1, IN));
    harness.tell(3, inHall(3, OUT, OTHER));
    harness.tell(4, inHall(2, IN));
    harness.tell(5, inHall(5, IN));
    const expected = ['cart by tag of 1', 'cart by other of 3', 'cart by tag of 5'];
    assert.deepEqual(briefMotions(harness.takeMotions()), expected);
    const ofCart = harness.takeFenceEvents().filter(({ trackable_id: id }) => id === 'cart');
    assert.deepEqual(brief(ofCart), ['entry dock cart 1', 'exit dock cart 1-3', 'entry dock cart 5']);
  });

  test('is a member itself, independently of its providers', async () => {
    const harness = await open();
    harness.tell(0, trackable('cart', ['tag', 'other']));
    harness.tell(1, inHall(1, IN));
    harness.tell(2, inHall(2, IN, OTHER));
    harness.tell(3, inHall(3, OUT));
    assert.deepEqual(brief(harness.takeFenceEvents()), [
      'entry dock tag 1',
      'entry dock cart 1',
      'entry dock other 2',
      'exit dock tag 1-3',
      'exit dock cart 1-3',
    ]);
  });

  test('that is created on a located provider has its location at once, and its motion with the next one', async () => {
    const harness = await open();
    harness.tell(1, inHall(1, IN));
    harness.takeFenceEvents();
    harness.tell(2, trackable('cart', ['tag']));
    const view = { crs: 'local' };
    const location = harness.ask(3, { ask: 'trackable_location', id: 'cart', view });
    assert.deepEqual(JSON.parse((location as { texts: string[] }).texts[0] as string).trackables, ['cart']);
    assert.deepEqual(harness.ask(3, { ask: 'trackable_motion', id: 'cart', view }), { absent: true });
    assert.deepEqual(harness.observed.motions, []);
    assert.deepEqual(harness.observed.fenceEvents, []);
    harness.tell(4, inHall(4, IN));
    assert.deepEqual(briefMotions(harness.takeMotions()), ['cart by tag of 4']);
    assert.deepEqual(brief(harness.takeFenceEvents()), ['entry dock cart 4']);
  });

  test('publishes nothing when it loses a provider that does not determine its location', async () => {
    const harness = await open();
    harness.tell(0, trackable('cart', ['tag', 'other']));
    harness.tell(1, inHall(1, OUT, OTHER), inHall(2, IN));
    harness.takeMotions();
    harness.takeFenceEvents();
    const { events, motions } = harness.tell(3, trackable('cart', ['tag']));
    assert.deepEqual([events, motions], [[], []]);
  });

  test('that is deleted is no longer on any of its providers', async () => {
    const harness = await open();
    harness.tell(0, trackable('cart', ['tag', 'other']), trackable('lift', ['tag']));
    harness.tell(1, deleted('trackable', 'cart'));
    harness.tell(2, inHall(2, IN), inHall(2, IN, OTHER));
    assert.deepEqual(briefMotions(harness.takeMotions()), ['lift by tag of 2']);
    assert.deepEqual(
      harness.observed.locations.map(({ trackables }) => trackables),
      [['lift'], []],
    );
  });
});
