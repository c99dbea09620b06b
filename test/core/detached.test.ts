import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ExportedState, LastKnownRow } from '../../src/core/item.ts';
import { look } from '../../src/model/borrowed.ts';
import type { Fence } from '../../src/model/fence.ts';
import { square } from '../support/hall.ts';
import {
  deleted,
  fence,
  forced,
  type HarnessOptions,
  inHall,
  iso,
  provider,
  ShardHarness,
  T0,
  trackable,
  zone,
} from '../support/shard_harness.ts';
import { brief, briefMotions } from './brief.ts';
import { takeOver } from './site/take_over.ts';

const IN = [5, 5] as const;
const OUT = [50, 5] as const;
const OTHER = { provider_id: 'other' };
const VIEW = { crs: 'local' };
const LEAVE = { detachedStay: false };

async function open(dock: Partial<Fence> = {}, options: HarnessOptions = {}): Promise<ShardHarness> {
  const harness = await ShardHarness.open(options);
  harness.tell(0, zone(), fence(square({ id: 'dock', ...dock })), provider('tag'), provider('other'));
  return harness;
}

/** A cart in the dock, brought there by its tag at second 1. */
async function openWithCart(dock: Partial<Fence> = {}, options: HarnessOptions = {}): Promise<ShardHarness> {
  const harness = await open(dock, options);
  harness.tell(0, trackable('cart', ['tag'], { radius: 1 }));
  harness.tell(1, inHall(1, IN));
  news(harness);
  return harness;
}

/** Motions and fence events of trackables since the previous call. */
function news(harness: ShardHarness): string[] {
  const events = harness.takeFenceEvents().filter(({ trackable_id: id }) => id != null);
  return [...briefMotions(harness.takeMotions()), ...brief(events)];
}

/** Returns the results of all queries about the cart. */
function stateOf(harness: ShardHarness, second: number) {
  const asks = [
    { ask: 'trackable_motion', id: 'cart', view: VIEW },
    { ask: 'trackable_location', id: 'cart', view: VIEW },
    { ask: 'trackable_fences', id: 'cart', spatial: false },
    { ask: 'trackable_fences', id: 'cart', spatial: true },
  ] as const;
  return asks.map((query) => harness.ask(second, query));
}

describe('a trackable whose provider is removed', () => {
  const CHANGES = {
    'by an empty list': [trackable('cart', [], { radius: 1 })],
    'because it moves to another trackable': [trackable('cart', [], { radius: 1 }), trackable('lift', ['tag'])],
    'for another provider that has a location': [trackable('cart', ['other'], { radius: 1 })],
  };
  for (const [name, changes] of Object.entries(CHANGES)) {
    test(`${name} keeps its motion, location, fences and collisions, and publishes nothing`, async () => {
      const harness = await openWithCart();
      harness.tell(2, inHall(2, OUT, OTHER));
      const before = stateOf(harness, 2);
      const { motions, rows } = harness.tell(3, ...changes);
      assert.deepEqual([motions, rows, news(harness)], [[], [], []]);
      harness.tell(4, inHall(4, OUT));
      assert.deepEqual(
        news(harness).filter((line) => line.includes('cart')),
        [],
      );
      assert.deepEqual(stateOf(harness, 5), before);
    });
  }

  test('stays where that provider was, even if it has another one with a location', async () => {
    const harness = await open();
    harness.tell(0, trackable('cart', ['tag', 'other']), trackable('box', [], { parent: 'cart' }));
    harness.tell(1, inHall(0.5, OUT, OTHER), inHall(1, IN));
    news(harness);
    harness.tell(3, trackable('cart', ['other']));
    assert.deepEqual(news(harness), []);
    harness.tell(4, inHall(4, OUT, OTHER));
    assert.deepEqual(news(harness), [
      ...['cart by other of 4', 'box by other of 4'],
      ...['exit dock cart 1-4', 'exit dock box 1-4'],
    ]);
  });

  test('continues its fence timeout, with the values at the time of removal', async () => {
    const harness = await open({ timeout: 60_000 });
    harness.tell(0, provider('tag', { fence_timeout: 9000 }), trackable('cart', ['tag'], { fence_timeout: 30_000 }));
    harness.tell(1, inHall(1, IN));
    news(harness);
    harness.tell(3, trackable('cart', [], { fence_timeout: 30_000 }));
    harness.tell(4, provider('tag', { fence_timeout: 2000 }));
    harness.step(9.9);
    assert.deepEqual(news(harness), []);
    harness.step(20);
    assert.deepEqual(news(harness), ['exit dock cart 1-10']);
    const [motion] = stateOf(harness, 21);
    assert.ok('texts' in (motion as object));
  });

  test('moves with the next location of a new provider, or of its parent', async () => {
    const harness = await openWithCart();
    harness.tell(2, trackable('cart', []));
    harness.tell(3, trackable('cart', ['other']), inHall(3, OUT, OTHER));
    assert.deepEqual(news(harness).slice(-2), ['cart by other of 3', 'exit dock cart 1-3']);
    harness.tell(4, trackable('cart', [], { parent: 'lift' }), trackable('lift', ['tag']));
    harness.tell(5, inHall(5, IN));
    assert.deepEqual(news(harness), [
      ...['lift by tag of 5', 'cart by tag of 5'],
      ...['entry dock lift 5', 'entry dock cart 5'],
    ]);
  });

  test('exits all fences if the change is forced', async () => {
    const harness = await openWithCart();
    const { motions, rows } = harness.tell(3, forced(trackable('cart', [], { radius: 1 })));
    assert.deepEqual(news(harness), ['exit dock cart 1-3']);
    assert.deepEqual(
      motions.map(({ kind, id }) => `${kind} ${id}`),
      ['gone cart'],
    );
    assert.deepEqual(rows, [{ kind: 'trackable', id: 'cart', gone: true }]);
    assert.deepEqual(stateOf(harness, 4).slice(0, 2), [{ absent: true }, { absent: true }]);
  });

  test('exits all fences when it is forced later, or deleted', async () => {
    for (const end of [forced(trackable('cart', [], { radius: 1 })), deleted('trackable', 'cart')]) {
      const harness = await openWithCart();
      harness.tell(3, trackable('cart', [], { radius: 1 }));
      const { motions } = harness.tell(4, end);
      assert.deepEqual(news(harness), ['exit dock cart 1-4']);
      assert.deepEqual(
        motions.map(({ kind, id }) => `${kind} ${id}`),
        ['gone cart'],
      );
    }
  });

  test('ignores later changes of that provider, and of the rules of the hub', async () => {
    const harness = await openWithCart();
    harness.tell(2, trackable('cart', [], { radius: 1 }));
    const before = stateOf(harness, 2);
    harness.tell(3, { kind: 'forget', id: 'tag' });
    harness.tell(4, { kind: 'rules', rules: [{ expression: 'floor = 0', priority: 1 }] });
    harness.tell(5, inHall(5, OUT), deleted('provider', 'tag'));
    harness.tell(6, trackable('cart', [], { radius: 1, locating_rules: [{ expression: 'floor = 1', priority: 1 }] }));
    assert.deepEqual(news(harness), []);
    assert.deepEqual(stateOf(harness, 7), before);
  });

  test('moves when changed rules select one of its current providers', async () => {
    const harness = await openWithCart();
    harness.tell(2, inHall(2, OUT, OTHER));
    harness.tell(3, trackable('cart', ['other'], { radius: 1 }));
    harness.tell(4, { kind: 'forget', id: 'tag' }, trackable('cart', ['other'], { radius: 1, name: 'Cart' }));
    assert.deepEqual(news(harness), []);
    harness.tell(5, { kind: 'rules', rules: [{ expression: 'floor = 0', priority: 1 }] });
    // By then, the newly assigned provider is one of the trackable's.
    assert.deepEqual(news(harness), ['cart by other of 2', 'exit dock cart 1-5']);
  });

  test('keeps what it carries with it', async () => {
    const harness = await open();
    harness.tell(0, trackable('cart', ['tag']), trackable('box', [], { parent: 'cart' }));
    harness.tell(1, inHall(1, IN));
    news(harness);
    harness.tell(2, trackable('cart', []), inHall(3, OUT));
    assert.deepEqual(news(harness), []);
    harness.tell(4, deleted('trackable', 'cart'));
    assert.deepEqual(news(harness), ['exit dock cart 1-4', 'exit dock box 1-4']);
  });

  test('stays when its parent, at another position, loses its location', async () => {
    const harness = await open();
    const locating_rules = [{ expression: "provider_id = 'other'", priority: 1 }];
    harness.tell(0, trackable('cart', ['tag']), trackable('box', ['other'], { parent: 'cart', locating_rules }));
    harness.tell(1, inHall(1, IN, OTHER), inHall(1, OUT));
    news(harness);
    harness.tell(2, trackable('box', [], { parent: 'cart', locating_rules }));
    harness.tell(3, { kind: 'forget', id: 'tag' });
    assert.deepEqual(news(harness), []);
  });

  test('observes its fences when they change', async () => {
    const harness = await openWithCart();
    harness.tell(2, trackable('cart', [], { radius: 1 }));
    harness.tell(3, fence(square({ id: 'gate' })), deleted('fence', 'dock'));
    assert.deepEqual(news(harness), ['entry gate cart 3']);
  });
});

describe('a trackable whose provider was removed', () => {
  const timing = { fence_timeout: 9000 };

  /** Rows of a cart that is timed by the tag that was removed from it. */
  async function rowsOfDetached(): Promise<readonly LastKnownRow[]> {
    const harness = await open({ timeout: 60_000 });
    harness.tell(0, provider('tag', timing), trackable('cart', ['tag'], { radius: 1 }));
    const { rows } = harness.tell(1, inHall(1, IN));
    harness.rows = 'all';
    const later = harness.tell(2, trackable('cart', [], { radius: 1 })).rows;
    return [...new Map([...rows, ...later].map((row) => [`${row.kind} ${row.id}`, row])).values()];
  }

  test('is at its last position after a restart, and exits at the same time, wherever that provider is', async () => {
    const rows = await rowsOfDetached();
    for (const isHere of [true, false]) {
      const next = await ShardHarness.open();
      next.tell(5, zone(), fence(square({ id: 'dock', timeout: 60_000 })));
      if (isHere) next.tell(5, provider('tag', { fence_timeout: 3000 }));
      next.tell(5, trackable('cart', [], { radius: 1 }));
      const own = rows.filter(({ kind }) => isHere || kind === 'trackable');
      const { motions } = next.tell(5, { kind: 'restore', rows: own, suppressUntilMs: T0 + 7000 });
      assert.deepEqual(
        motions.map(({ kind, id }) => `${kind} ${id}`),
        ['stands cart'],
      );
      assert.deepEqual(news(next), []);
      next.step(9.9);
      assert.deepEqual(news(next), []);
      next.step(11);
      assert.deepEqual(news(next), ['exit dock cart 1-10']);
      assert.ok('texts' in (stateOf(next, 12)[0] as object));
    }
  });

  test('is at its last position in a worker that replaces a failed one', async () => {
    const dead = await open({ timeout: 60_000 });
    dead.tell(0, provider('tag', timing), trackable('cart', ['tag'], { radius: 1 }));
    const { rows } = dead.tell(1, inHall(1, IN));
    const { effects } = dead.tell(2, trackable('cart', [], { radius: 1 }));
    const next = await open({ timeout: 60_000 });
    next.tell(4, provider('tag', timing), trackable('cart', [], { radius: 1 }));
    next.tell(4, { kind: 'restore', rows, suppressUntilMs: 0, withTimers: true });
    next.tell(4, { kind: 'replay', steps: [{ locations: [], effects: Buffer.from(look(effects)) }] });
    next.tell(5, inHall(5, OUT));
    assert.deepEqual(news(next), []);
    assert.deepEqual(stateOf(next, 6), stateOf(dead, 6));
    next.step(20);
    assert.deepEqual(news(next), ['exit dock cart 1-10']);
  });

  test('migrates to another shard with its position and timers', async () => {
    const [from, to] = [await open({ timeout: 60_000 }), await open({ timeout: 60_000 })];
    from.tell(0, provider('tag', timing), trackable('cart', ['tag'], { radius: 1 }));
    from.tell(1, inHall(1, IN));
    const before = stateOf(from, 1);
    const { answers } = from.tell(2, { kind: 'exportState', id: 7, providers: [], trackables: ['cart'] });
    to.tell(2, { kind: 'importState', state: structuredClone(answers[0]?.[1] as ExportedState) });
    const { motions } = to.tell(2, trackable('cart', [], { radius: 1 }));
    from.tell(3, inHall(3, OUT));
    assert.deepEqual([motions, news(to)], [[], []]);
    assert.deepEqual(stateOf(to, 3), before);
    to.step(20);
    assert.deepEqual(news(to), ['exit dock cart 1-10']);
  });

  test('migrates to another hub with its position and timers', async () => {
    const [from, to] = [await open({ timeout: 60_000 }), await open({ timeout: 60_000 })];
    for (const hub of [from, to]) hub.tell(0, provider('tag', timing), trackable('cart', ['tag'], { radius: 1 }));
    from.tell(1, inHall(1, IN));
    const before = stateOf(from, 1);
    for (const hub of [from, to]) hub.tell(2, trackable('cart', [], { radius: 1 }));
    const objects = { providers: [], trackables: ['cart'] };
    const { released } = from.tell(2, { kind: 'release', id: 1, sequence: 1, config: 0, ...objects });
    const effects = Buffer.from(look((released[0] as (typeof released)[0]).effects));
    to.tell(2, takeOver({ objects, steps: [{ locations: [], effects }] }));
    assert.deepEqual(news(to), []);
    assert.deepEqual(stateOf(to, 3), before);
    to.step(20);
    assert.deepEqual(news(to), ['exit dock cart 1-10']);
  });
});

describe('a hub that does not keep detached trackables', () => {
  test('leaves a trackable without a position when its only provider is removed, until the next location of a new one', async () => {
    const harness = await openWithCart({}, LEAVE);
    harness.tell(1, inHall(1, OUT, OTHER));
    const { rows, motions } = harness.tell(2, trackable('cart', ['other']));
    assert.deepEqual(news(harness), ['exit dock cart 1-2']);
    assert.deepEqual(rows, [{ kind: 'trackable', id: 'cart', gone: true }]);
    assert.deepEqual(
      motions.map(({ kind, id }) => `${kind} ${id}`),
      ['gone cart'],
    );
    assert.deepEqual(harness.ask(2, { ask: 'trackable_motion', id: 'cart', view: VIEW }), { absent: true });
    assert.deepEqual(harness.ask(2, { ask: 'trackable_motions', view: VIEW }), { texts: [] });
    harness.tell(3, inHall(3, OUT));
    assert.deepEqual(news(harness), []);
    harness.tell(4, inHall(4, IN, OTHER));
    assert.deepEqual(news(harness), ['cart by other of 4', 'entry dock cart 4']);
  });

  test('moves a trackable to its other providers when the provider of its location is removed', async () => {
    const harness = await open({}, LEAVE);
    harness.tell(0, trackable('cart', ['tag', 'other'], { radius: 1 }), trackable('box', [], { parent: 'cart' }));
    harness.tell(1, inHall(0.5, OUT, OTHER), inHall(1, IN));
    news(harness);
    const { motions } = harness.tell(3, trackable('cart', ['other'], { radius: 1 }));
    assert.deepEqual(harness.observed.motions[0]?.location.trackables, ['cart']);
    assert.deepEqual(news(harness), [
      ...['cart by other of 0.5', 'box by other of 0.5'],
      ...['exit dock cart 1-3', 'exit dock box 1-3'],
    ]);
    assert.deepEqual(
      motions.map((motion) => motion.kind === 'moved' && [motion.id, motion.eventTimeMs]),
      [
        ['cart', Date.parse(iso(3))],
        ['box', Date.parse(iso(3))],
      ],
    );
  });

  test('lets a trackable whose provider was removed just before a shutdown exit at the end of the hold', async () => {
    const before = await open({}, LEAVE);
    const { rows } = before.tell(30, trackable('cart', ['tag']), inHall(30, IN));
    const next = await open({}, LEAVE);
    next.tell(100, trackable('cart', []));
    next.tell(100, { kind: 'restore', rows, suppressUntilMs: T0 + 102_000 });
    assert.deepEqual(next.ask(101, { ask: 'trackable_motion', id: 'cart', view: VIEW }), { absent: true });
    assert.deepEqual(next.takeFenceEvents(), []);
    const outcome = next.step(102);
    assert.deepEqual(brief(next.takeFenceEvents()), ['exit dock cart 30-100']);
    assert.deepEqual(outcome.rows, [{ kind: 'trackable', id: 'cart', gone: true }]);
    next.step(200);
    assert.deepEqual(next.takeFenceEvents(), []);
  });
});
