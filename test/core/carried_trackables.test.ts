import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { square } from '../support/hall.ts';
import { deleted, fence, inHall, provider, ShardHarness, trackable, zone } from '../support/shard_harness.ts';
import { brief, briefMotions } from './brief.ts';

const IN = [5, 5] as const;
const OUT = [50, 5] as const;
const OWN = { provider_id: 'own' };

/** A cart with a tag carries a box, which carries a vase. */
async function open(): Promise<ShardHarness> {
  const harness = await ShardHarness.open();
  harness.tell(0, zone(), fence(square({ id: 'dock' })), provider('tag'), provider('own'));
  harness.tell(0, trackable('vase', [], { parent: 'box' }), trackable('box', [], { parent: 'cart' }));
  harness.tell(0, trackable('cart', ['tag']));
  return harness;
}

describe('a carried trackable', () => {
  test('moves with its parent, and so does what it carries', async () => {
    const harness = await open();
    harness.tell(1, inHall(1, IN));
    assert.deepEqual(briefMotions(harness.takeMotions()), ['cart by tag of 1', 'box by tag of 1', 'vase by tag of 1']);
    assert.deepEqual(brief(harness.takeFenceEvents()), [
      'entry dock tag 1',
      'entry dock cart 1',
      'entry dock box 1',
      'entry dock vase 1',
    ]);
  });

  test('follows a newer location of its own provider, and its children follow it', async () => {
    const harness = await open();
    harness.tell(0, trackable('box', ['own'], { parent: 'cart' }));
    harness.tell(1, inHall(1, IN));
    harness.takeMotions();
    harness.tell(2, inHall(2, OUT, OWN));
    assert.deepEqual(briefMotions(harness.takeMotions()), ['box by own of 2', 'vase by own of 2']);
    harness.tell(3, inHall(3, IN));
    assert.deepEqual(briefMotions(harness.takeMotions()), ['cart by tag of 3', 'box by tag of 3', 'vase by tag of 3']);
  });

  test('stays at a location that its rules rank higher than that of its parent', async () => {
    const harness = await open();
    const locating_rules = [{ expression: "provider_id = 'own'", priority: 1 }];
    harness.tell(0, trackable('box', ['own'], { parent: 'cart', locating_rules }));
    harness.tell(1, inHall(1, OUT, OWN));
    harness.takeMotions();
    harness.tell(2, inHall(2, IN));
    assert.deepEqual(briefMotions(harness.takeMotions()), ['cart by tag of 2']);
  });

  test('moves once if it shares the provider of its parent', async () => {
    const harness = await open();
    for (const id of ['box', 'a-box']) harness.tell(0, trackable(id, ['tag'], { parent: 'cart' }));
    harness.tell(1, inHall(1, IN));
    const motions = briefMotions(harness.takeMotions());
    assert.equal(motions.length, 4);
    assert.equal(new Set(motions).size, 4);
  });

  test('stays where its parent released it, whatever the rules are then', async () => {
    const harness = await open();
    harness.tell(1, inHall(1, IN));
    harness.takeMotions();
    harness.tell(2, trackable('box', []));
    harness.tell(3, inHall(3, OUT));
    assert.deepEqual(briefMotions(harness.takeMotions()), ['cart by tag of 3']);
    const answer = harness.ask(4, { ask: 'fence_trackables', id: 'dock', spatial: true });
    assert.deepEqual(answer, { ids: ['vase', 'box'] });
    harness.tell(5, { kind: 'rules', rules: [{ expression: 'floor = 0', priority: 1 }] });
    assert.deepEqual(harness.takeMotions(), []);
    assert.deepEqual(harness.ask(6, { ask: 'fence_trackables', id: 'dock', spatial: true }), answer);
  });

  test('returns to the location of its own provider when it is no longer carried', async () => {
    const harness = await open();
    harness.tell(0, trackable('box', ['own'], { parent: 'cart' }));
    harness.tell(1, inHall(1, OUT, OWN));
    harness.tell(2, inHall(2, IN));
    harness.takeMotions();
    harness.takeFenceEvents();
    harness.tell(3, trackable('box', ['own']));
    assert.deepEqual(briefMotions(harness.takeMotions()), ['box by own of 1', 'vase by own of 1']);
    assert.deepEqual(brief(harness.takeFenceEvents()), ['exit dock box 2-3', 'exit dock vase 2-3']);
  });

  test('loses its motion with the provider of its parent', async () => {
    const harness = await open();
    harness.tell(1, inHall(1, IN));
    harness.takeFenceEvents();
    const { motions } = harness.tell(3, deleted('provider', 'tag'));
    assert.deepEqual(brief(harness.takeFenceEvents()), [
      'exit dock tag 1-3',
      'exit dock cart 1-3',
      'exit dock box 1-3',
      'exit dock vase 1-3',
    ]);
    assert.deepEqual(
      motions.map(({ kind, id }) => `${kind} ${id}`),
      ['gone cart', 'gone box', 'gone vase'],
    );
  });

  test('falls back to its own provider when its parent loses its location', async () => {
    const harness = await open();
    harness.tell(0, trackable('box', ['own'], { parent: 'cart' }));
    harness.tell(1, inHall(1, OUT, OWN));
    harness.tell(2, inHall(2, IN));
    harness.takeMotions();
    harness.tell(3, { kind: 'forget', id: 'tag' });
    assert.deepEqual(briefMotions(harness.takeMotions()), ['box by own of 1', 'vase by own of 1']);
    const answer = harness.ask(4, { ask: 'trackable_motion', id: 'vase', view: { crs: 'EPSG:4326' } });
    assert.equal(JSON.parse((answer as { texts: string[] }).texts[0] as string).location.provider_id, 'own');
  });

  test('has the location of its parent, but not among the locations of its providers', async () => {
    const harness = await open();
    harness.tell(1, inHall(1, IN));
    const view = { crs: 'local' };
    const location = harness.ask(2, { ask: 'trackable_location', id: 'vase', view }) as { texts: string[] };
    assert.equal(JSON.parse(location.texts[0] as string).provider_id, 'tag');
    assert.deepEqual(harness.ask(2, { ask: 'trackable_locations', id: 'vase', view }), { texts: [] });
  });

  test('is timed by the provider of its location, then by itself', async () => {
    const harness = await open();
    harness.tell(
      0,
      provider('tag', { exit_delay: 3000 }),
      trackable('box', [], { parent: 'cart', fence_timeout: 9000 }),
    );
    harness.tell(1, inHall(1, IN));
    harness.tell(2, inHall(2, OUT));
    harness.takeFenceEvents();
    harness.step(5);
    assert.deepEqual(brief(harness.takeFenceEvents()), [
      'exit dock tag 1-5',
      'exit dock box 1-5',
      'exit dock cart 1-5',
      'exit dock vase 1-5',
    ]);
  });

  test('lists its ancestors for the collision stage, nearest first', async () => {
    const harness = await open();
    const { motions } = harness.tell(1, inHall(1, IN));
    const ancestors = motions.map((motion) => motion.kind === 'moved' && [motion.id, ...motion.ancestors]);
    assert.deepEqual(ancestors, [['cart'], ['box', 'cart'], ['vase', 'box', 'cart']]);
  });
});
