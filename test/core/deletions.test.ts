import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { HALL, square } from '../support/hall.ts';
import {
  deleted,
  fence,
  type ObservedOutcome,
  inHall,
  provider,
  ShardHarness,
  trackable,
  zone,
} from '../support/shard_harness.ts';
import { brief, briefMotions } from './brief.ts';

const IN = [5, 5] as const;
const OUT = [50, 5] as const;
const OTHER = { provider_id: 'other' };
const VIEW = { crs: 'local' };

/** A cart in two fences, with its tag. */
async function open(): Promise<ShardHarness> {
  const harness = await ShardHarness.open();
  harness.tell(0, zone(), fence(square({ id: 'b', timeout: 60_000 })), fence(square({ id: 'a' })));
  harness.tell(0, provider('tag'), provider('other'), trackable('cart', ['tag', 'other'], { radius: 1 }));
  harness.tell(1, inHall(1, IN));
  harness.takeFenceEvents();
  harness.takeMotions();
  return harness;
}

function gone({ motions, rows }: ObservedOutcome): string[] {
  return [
    ...motions.map(({ kind, id }) => `motion ${kind} ${id}`),
    ...rows.map((row) => `row ${row.gone === true ? 'gone' : 'kept'} ${row.id}`),
  ];
}

describe('deleting a fence', () => {
  test('drops its memberships and timers, without events', async () => {
    const harness = await open();
    const outcome = harness.tell(3, deleted('fence', 'b'));
    assert.deepEqual(outcome.events, []);
    assert.deepEqual(gone(outcome), ['row kept tag', 'row kept cart']);
    for (const row of outcome.rows) assert.deepEqual(row.gone !== true && row.memberships.map(([id]) => id), ['a']);
    harness.step(100);
    assert.deepEqual(harness.takeFenceEvents(), []);
    harness.tell(101, inHall(101, OUT));
    assert.deepEqual(brief(harness.takeFenceEvents()), ['exit a tag 1-101', 'exit a cart 1-101']);
  });

  test('leaves nothing to a new fence with the same id', async () => {
    const harness = await open();
    harness.tell(3, deleted('fence', 'b'), fence(square({ id: 'b' })));
    assert.deepEqual(brief(harness.takeFenceEvents()), ['entry b tag 3', 'entry b cart 3']);
  });

  test('that does not exist does nothing', async () => {
    const harness = await open();
    assert.deepEqual(gone(harness.tell(3, deleted('fence', 'c'))), []);
  });
});

describe('deleting a provider', () => {
  test('exits all fences at that moment, and ends its motion', async () => {
    const harness = await open();
    const outcome = harness.tell(3.5, deleted('provider', 'tag'));
    assert.deepEqual(brief(harness.takeFenceEvents()), [
      'exit a tag 1-3.5',
      'exit b tag 1-3.5',
      'exit a cart 1-3.5',
      'exit b cart 1-3.5',
    ]);
    assert.deepEqual(gone(outcome), ['motion gone cart', 'row gone tag', 'row gone cart']);
    assert.deepEqual(harness.ask(4, { ask: 'provider_location', id: 'tag', view: VIEW }), { absent: true });
    assert.deepEqual(harness.ask(4, { ask: 'trackable_motion', id: 'cart', view: VIEW }), { absent: true });
    assert.deepEqual(harness.ask(4, { ask: 'fence_trackables', id: 'a', spatial: false }), { ids: [] });
    harness.step(100);
    assert.deepEqual(harness.takeFenceEvents(), []);
  });

  test('names the provider and its trackables in the events', async () => {
    const harness = await open();
    harness.tell(3, deleted('provider', 'tag'));
    const [first] = harness.takeFenceEvents();
    assert.deepEqual([first?.provider_id, first?.trackables], ['tag', ['cart']]);
    assert.equal(harness.events.at(-1)?.fields[2], 'tag');
  });

  test('lets its trackable fall back to another location at once', async () => {
    const harness = await ShardHarness.open();
    harness.tell(0, zone(), fence(square({ id: 'a' })), trackable('cart', ['tag', 'other']));
    harness.tell(1, inHall(1, OUT, OTHER));
    harness.tell(2, inHall(2, IN));
    harness.takeMotions();
    harness.takeFenceEvents();
    const outcome = harness.tell(3, deleted('provider', 'tag'));
    assert.deepEqual(brief(harness.takeFenceEvents()), ['exit a tag 2-3', 'exit a cart 2-3']);
    assert.deepEqual(briefMotions(harness.takeMotions()), ['cart by other of 1']);
    assert.deepEqual(gone(outcome), ['motion moved cart', 'row gone tag', 'row kept cart']);
    const motion = harness.ask(4, { ask: 'trackable_motion', id: 'cart', view: VIEW }) as { texts: string[] };
    assert.equal(JSON.parse(motion.texts[0] as string).location.provider_id, 'other');
    assert.deepEqual(harness.ask(4, { ask: 'fence_trackables', id: 'a', spatial: false }), { ids: [] });
    harness.tell(5, inHall(5, OUT, OTHER));
    assert.deepEqual(harness.takeFenceEvents(), []);
  });

  test('changes nothing for a trackable whose location is from another provider', async () => {
    const harness = await open();
    harness.tell(1, inHall(1, OUT, OTHER));
    harness.tell(2, inHall(2, IN));
    harness.takeFenceEvents();
    assert.deepEqual(gone(harness.tell(3, deleted('provider', 'other'))), ['row gone other']);
    assert.deepEqual(harness.takeFenceEvents(), []);
  });
});

describe("deleting a provider's location", () => {
  test('does what deleting the provider does, but keeps its timing', async () => {
    const harness = await open();
    harness.tell(1, provider('tag', { exit_delay: 2000 }));
    harness.tell(3, { kind: 'forget', id: 'tag' });
    assert.deepEqual(brief(harness.takeFenceEvents()).length, 4);
    harness.tell(4, inHall(4, IN));
    harness.tell(5, inHall(5, OUT));
    harness.step(10);
    assert.deepEqual(brief(harness.takeFenceEvents()).slice(4), [
      'exit a tag 4-7',
      'exit b tag 4-7',
      'exit a cart 4-7',
      'exit b cart 4-7',
    ]);
  });

  test('does nothing without a parent', async () => {
    const harness = await open();
    assert.deepEqual(gone(harness.tell(3, { kind: 'forget', id: 'other' }, { kind: 'forget', id: 'unknown' })), []);
  });
});

describe('deleting a trackable', () => {
  test('exits all fences at that moment, and ends its motion and collisions', async () => {
    const harness = await open();
    const outcome = harness.tell(3, deleted('trackable', 'cart'));
    assert.deepEqual(brief(harness.takeFenceEvents()), ['exit a cart 1-3', 'exit b cart 1-3']);
    assert.deepEqual(gone(outcome), ['motion gone cart', 'row gone cart']);
    assert.deepEqual(harness.ask(4, { ask: 'trackable_motion', id: 'cart', view: VIEW }), { absent: true });
    assert.deepEqual(harness.ask(4, { ask: 'trackable_motions', view: VIEW }), { texts: [] });
    assert.deepEqual(harness.ask(4, { ask: 'fence_providers', id: 'a', spatial: false }), { ids: ['tag'] });
    harness.step(100);
    assert.deepEqual(brief(harness.takeFenceEvents()), ['exit b tag 1-61']);
  });

  test('leaves nothing to a new trackable with the same id', async () => {
    const harness = await open();
    harness.tell(3, deleted('trackable', 'cart'), trackable('cart', ['tag']));
    harness.takeFenceEvents();
    harness.tell(4, inHall(4, IN));
    assert.deepEqual(brief(harness.takeFenceEvents()), ['entry a cart 4', 'entry b cart 4']);
    assert.deepEqual(briefMotions(harness.takeMotions()), ['cart by tag of 4']);
  });
});

describe('deleting a zone', () => {
  test('exits the fences in its plane, which lose their positions', async () => {
    const harness = await open();
    harness.tell(3, deleted('zone', HALL.id));
    assert.deepEqual(brief(harness.takeFenceEvents()), [
      'exit a tag 1-3',
      'exit b tag 1-3',
      'exit a cart 1-3',
      'exit b cart 1-3',
    ]);
    harness.tell(4, zone());
    assert.deepEqual(brief(harness.takeFenceEvents()).length, 4);
  });

  test('waits for the exit delay, as any observation outside does', async () => {
    const harness = await open();
    harness.tell(2, fence(square({ id: 'a', exit_delay: 5000 })), deleted('fence', 'b'));
    harness.tell(3, deleted('zone', HALL.id));
    assert.deepEqual(harness.takeFenceEvents(), []);
    harness.step(8);
    assert.deepEqual(brief(harness.takeFenceEvents()), ['exit a tag 1-8', 'exit a cart 1-8']);
  });
});
