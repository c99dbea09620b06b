import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { effectsIn } from '../../src/core/effects.ts';
import type { LastKnownRow, PastStep, ChangesSince } from '../../src/core/item.ts';
import { look } from '../../src/model/borrowed.ts';
import { HALL, square } from '../support/hall.ts';
import { fence, inHall, provider, ShardHarness, trackable, zone } from '../support/shard_harness.ts';
import { brief } from './brief.ts';
import { leftovers } from './leftovers.ts';
import { commandsOf, endOf, entitiesAfter, LATER, type Timed } from './site/commands.ts';
import { Hubs } from './site/hubs.ts';
import { play, saidOf } from './site/play.ts';
import { FENCES, PROVIDERS, randomSite, TRACKABLES } from './site/steps.ts';
import { takeOver } from './site/take_over.ts';

const RUNS = { numRuns: 200, seed: 7 };
const ALL_OBJECTS = { providers: PROVIDERS, trackables: TRACKABLES };

/** Removes forced updates: they require that the owner has all sources first. */
function unforced(timed: readonly Timed[]): Timed[] {
  return timed.map(({ second, command }) => {
    return { second, command: command.kind === 'trackable' ? { ...command, force: false } : command };
  });
}

const salts = fc.array(fc.nat(3), { minLength: 1, maxLength: 5 });

test('Objects that migrate between hubs have the same events as in one shard', async () => {
  let moves = 0;
  await fc.assert(
    fc.asyncProperty(randomSite(50), fc.integer({ min: 2, max: 3 }), salts, async (steps, count, owners) => {
      const timed = unforced(commandsOf(steps));
      const expected = saidOf((await play(timed)).outcomes);
      const hubs = await Hubs.open(count);
      for (const [i, each] of timed.entries()) {
        hubs.tell(each);
        const salt = owners[i % owners.length] as number;
        if (i % 5 === 4) hubs.own(each.second, (partition) => (partition + salt) % count);
      }
      hubs.step(endOf(timed) + LATER);
      assert.deepEqual(saidOf(hubs.outcomes), expected);
      moves += hubs.moves;
    }),
    RUNS,
  );
  assert.ok(moves > 500, `only ${moves} moves`);
});

/** A failed hub: its steps, the rows it has stored for earlier steps, and its shard, which continues elsewhere. */
async function died(timed: readonly Timed[], keptAfter: number) {
  const harness = await ShardHarness.open();
  const rows = new Map<string, LastKnownRow>();
  const steps: PastStep[] = [];
  for (const [i, { second, command }] of timed.entries()) {
    harness.rows = i < keptAfter ? 'all' : 'urgent';
    const items = harness.items(second, command);
    const { effects, rows: written } = harness.step(second, items);
    const locations = items.filter((item) => item.kind === 'location');
    if (i >= keptAfter) steps.push({ locations, effects: Buffer.from(look(effects)) });
    else for (const row of written) rows.set(`${row.kind} ${row.id}`, row);
  }
  return { harness, left: { rows: [...rows.values()], steps, second: endOf(timed) } };
}

test('Two successors that take over some objects each continue as one that takes over all', async () => {
  await fc.assert(
    fc.asyncProperty(randomSite(50), fc.nat(), fc.nat(), async (steps, die, kept) => {
      const timed = unforced(commandsOf(steps));
      const before = timed.slice(0, 13 + (die % (timed.length - 12)));
      const { left } = await died(before, kept % before.length);
      const [one, two] = [await Hubs.open(1), await Hubs.open(2)];
      for (const hubs of [one, two]) {
        for (const command of entitiesAfter(before)) hubs.tell({ second: left.second, command });
        hubs.adopt(left);
        for (const each of timed.slice(before.length)) hubs.tell(each);
        hubs.step(endOf(timed) + LATER);
      }
      assert.deepEqual(saidOf(two.outcomes), saidOf(one.outcomes));
    }),
    RUNS,
  );
});

/** Fences and zones, or rules, that a change replaces. */
function sinceOf(before: readonly Timed[], { command }: Timed): ChangesSince | undefined {
  const known = entitiesAfter(before).find((each) => {
    return each.kind === command.kind && 'id' in each && 'id' in command && each.id === command.id;
  });
  const nothing = { zones: [], fences: [], rules: false };
  if (command.kind === 'rules') return { ...nothing, rules: true };
  if (command.kind === 'fence' && known?.kind !== 'zone') {
    return { ...nothing, fences: [[command.id, known?.kind === 'fence' ? known.entity : undefined]] };
  }
  if (command.kind !== 'zone') return undefined;
  return { ...nothing, zones: [[command.id, known?.kind === 'zone' ? known.entity : undefined]] };
}

test('Adopted objects observe changes made in the meantime as resident objects do', async () => {
  let changes = 0;
  await fc.assert(
    fc.asyncProperty(randomSite(60), fc.nat(), fc.nat(), async (steps, which, kept) => {
      const timed = commandsOf(steps);
      const all = [...timed.keys()].filter((i) => i > 12 && sinceOf([], timed[i] as Timed) !== undefined);
      if (all.length === 0) return;
      const at = all[which % all.length] as number;
      const [before, change, after] = [timed.slice(0, at), timed[at] as Timed, timed.slice(at + 1)];
      const since = sinceOf(before, change);
      // Rows do not contain the full position, so only a few are used.
      const { harness, left } = await died(before, kept % 3 === 0 ? kept % before.length : 0);
      const taker = await ShardHarness.open();
      taker.tell(change.second, ...entitiesAfter([...before, change]));
      const { rows, steps: past } = left;
      const reported = harness.outcomes.length;
      harness.tell(change.second, change.command);
      const first = taker.outcomes.length;
      taker.tell(change.second, takeOver({ rows, steps: past, objects: ALL_OBJECTS, ...(since && { since }) }));
      for (const one of [harness, taker]) {
        for (const { second, command } of after) one.tell(second, command);
        one.step(endOf(timed) + LATER);
      }
      const [expected, observed] = [harness.outcomes.slice(reported), taker.outcomes.slice(first)].map(fenceEvents);
      assert.deepEqual(observed, expected);
      if (past.length === before.length) {
        assert.deepEqual(saidOf(taker.outcomes.slice(first)), saidOf(harness.outcomes.slice(reported)));
      }
      changes++;
    }),
    { ...RUNS, numRuns: 400 },
  );
  assert.ok(changes > 250, `only ${changes} changes`);
});

/** Fence events by object. */
function fenceEvents(outcomes: ShardHarness['outcomes']): unknown {
  return Object.fromEntries(Object.entries(saidOf(outcomes)).filter(([of]) => of.startsWith('3 ')));
}

const P = { provider_id: 'p' };
const ENTITIES = [
  zone(),
  fence(square({ id: 'f', timeout: 30_000, exit_delay: 4000 })),
  provider('p'),
  trackable('t', ['p']),
];
const BOTH = { providers: ['p'], trackables: ['t'] };

test('A shard retains only the entities of released objects, and publishes nothing for them', async () => {
  const harness = await ShardHarness.open();
  harness.tell(1, ...ENTITIES);
  const empty = leftovers(harness.shard.state);
  harness.rows = 'all';
  // They enter, and are released in the same step, so their rows are due.
  const items = harness.items(2, inHall(2, [5, 5], P), inHall(2, [5, 5], { provider_id: 'stranger' }));
  const release = {
    kind: 'release' as const,
    id: 4,
    sequence: 9,
    config: 8,
    ...BOTH,
    providers: ['p', 'stranger', 'unknown'],
  };
  const { rows, released } = harness.step(2, [...items, ...harness.items(2, release)]);
  assert.deepEqual([rows, released.map(({ id, sequence }) => [id, sequence])], [[], [[4, 9]]]);
  assert.equal(harness.takeFenceEvents().length, 3);
  // No command moves the released objects.
  assert.deepEqual(
    leftovers(harness.shard.state),
    empty.filter((what) => what !== 'assigned: 1'),
  );
  const later = harness.step(100);
  assert.deepEqual([later.rows, harness.takeFenceEvents(), later.motions], [[], [], []]);
  const again = harness.tell(101, { ...release, id: 5 });
  const places = [...effectsIn(Buffer.from(look(again.released[0]?.effects as never)))].map(({ id, place }) => [
    id,
    place.at,
  ]);
  assert.deepEqual(places, [
    ['p', 'nowhere'],
    ['stranger', 'nowhere'],
    ['unknown', 'nowhere'],
    ['t', 'nowhere'],
  ]);
  const { rows: none, motions } = harness.tell(102, { kind: 'trackable', id: 't', entity: undefined });
  assert.deepEqual([none, motions], [[], []]);
});

test('A shard publishes nothing for an object that it does not own, whatever changes in its entity', async () => {
  const harness = await ShardHarness.open();
  const places = (outcome: { readonly effects: Parameters<typeof look>[0] }): readonly string[] => {
    return [...effectsIn(Buffer.from(look(outcome.effects)))].map(({ id, place }) => `${id ?? 'p'} ${place.at}`);
  };
  // Objects that were never here, and objects that have been released: another hub owns them.
  assert.deepEqual(places(harness.tell(1, ...ENTITIES)), []);
  assert.deepEqual(places(harness.tell(2, inHall(2, [5, 5], P))), ['p location', 't shared']);
  const left = harness.tell(3, { kind: 'release', id: 4, sequence: 9, config: 8, ...BOTH });
  assert.deepEqual(places(left), ['p elsewhere', 't elsewhere']);
  assert.deepEqual(places(harness.tell(4, trackable('t', []), provider('p', { name: 'other' }))), []);
  assert.deepEqual(places(harness.tell(5, trackable('t', ['p']))), []);
  // An object that is here and loses its position.
  assert.deepEqual(places(harness.tell(6, inHall(6, [5, 5], P))), ['p location', 't shared']);
  assert.deepEqual(places(harness.tell(7, { kind: 'forget', id: 'p' })), ['p nowhere', 't nowhere']);
});

test('An adopted object is completely in the effects of the step, and its row is requested', async () => {
  const [from, to, next] = [await ShardHarness.open(), await ShardHarness.open(), await ShardHarness.open()];
  for (const each of [from, to, next]) each.tell(1, ...ENTITIES);
  from.tell(2, inHall(2, [5, 5], P));
  from.tell(3, inHall(3, [50, 5], P));
  const { released } = from.tell(4, { kind: 'release', id: 1, sequence: 1, config: 0, ...BOTH });
  to.rows = 'all';
  const steps = released.map(({ effects }) => ({ locations: [], effects: Buffer.from(look(effects)) }));
  const arrived = to.tell(4, takeOver({ steps, objects: BOTH }));
  assert.deepEqual(arrived.rows.map(({ id }) => id).sort(), ['p', 't']);
  assert.deepEqual(arrived.answers, [[1, { ids: [] }]]);
  next.tell(4, takeOver({ steps: [{ locations: [], effects: Buffer.from(look(arrived.effects)) }], objects: BOTH }));
  for (const each of [to, next]) {
    each.step(20);
    assert.deepEqual(brief(each.takeFenceEvents()), ['exit f p 2-7', 'exit f t 2-7']);
  }
});

test('Resident objects are unaffected by adopted ones', async () => {
  const [from, to] = [await ShardHarness.open(), await ShardHarness.open()];
  for (const each of [from, to]) each.tell(1, ...ENTITIES, provider('own'));
  from.tell(2, inHall(2, [5, 5], P), inHall(2, [6, 6], { provider_id: 'own' }));
  to.tell(3, inHall(3, [5, 5], { provider_id: 'own' }));
  to.tell(4, inHall(4, [50, 5], { provider_id: 'own' }));
  const everything = { providers: ['p', 'own'], trackables: ['t'] };
  const { released } = from.tell(5, { kind: 'release', id: 1, sequence: 1, config: 0, ...everything });
  const steps = released.map(({ effects }) => ({ locations: [], effects: Buffer.from(look(effects)) }));
  to.takeFenceEvents();
  to.tell(6, takeOver({ steps, objects: BOTH, heldUntilMs: Number.MAX_SAFE_INTEGER }));
  to.step(60);
  assert.deepEqual(brief(to.takeFenceEvents()), ['exit f own 3-8']);
});

test("An exit that is overdue by a fence's new times at adoption precedes entries into other fences", async () => {
  const [f, g] = FENCES as unknown as readonly [string, string];
  const elsewhere = { type: 'Point' as const, coordinates: [90, 90] };
  const before = [square({ id: f, timeout: 90_000 }), square({ id: g, region: elsewhere, radius: 1 })];
  const now = [square({ id: f, timeout: 1000 }), square({ id: g })];
  const [from, to, alone] = [await ShardHarness.open(), await ShardHarness.open(), await ShardHarness.open()];
  for (const each of [from, alone]) {
    each.tell(1, zone(), ...before.map(fence), provider('p'));
    each.tell(2, inHall(2, [5, 5], P));
    each.takeFenceEvents();
  }
  const { released } = from.tell(8, { kind: 'release', id: 1, sequence: 1, config: 0, ...BOTH });
  const steps = released.map(({ effects }) => ({ locations: [], effects: Buffer.from(look(effects)) }));
  to.tell(8, zone(), ...now.map(fence), provider('p'));
  const since: ChangesSince = { zones: [], fences: before.map((each) => [each.id, each]), rules: false };
  to.tell(8, takeOver({ steps, objects: BOTH, since }));
  alone.tell(8, ...now.map(fence));
  const expected = brief(alone.takeFenceEvents());
  assert.deepEqual(expected, [`exit ${f} p 2-8`, `entry ${g} p 8`]);
  assert.deepEqual(brief(to.takeFenceEvents()), expected);
});

test('At adoption, memberships in deleted fences end without events, and others follow the zone to its new position', async () => {
  const fences = FENCES.slice(0, 2).map((id) => square({ id, timeout: 90_000 }));
  const [from, to] = [await ShardHarness.open(), await ShardHarness.open()];
  from.tell(1, zone({ ...HALL, foreign_id: 'old' }), ...fences.map(fence), provider('p'));
  from.tell(2, inHall(2, [5, 5], { ...P, source: 'old' }));
  const { released } = from.tell(3, { kind: 'release', id: 1, sequence: 1, config: 0, ...BOTH });
  const steps = released.map(({ effects }) => ({ locations: [], effects: Buffer.from(look(effects)) }));
  // The zone has been renamed and moved, with one of the fences.
  const rows = (HALL.ground_control_points as number[][]).map(([a = 0, b = 0], i) =>
    i % 2 === 0 ? [a + 1, b] : [a, b],
  );
  to.tell(
    4,
    zone({ ...HALL, foreign_id: 'new', ground_control_points: rows }),
    fence(fences[0] as never),
    provider('p'),
  );
  const since: ChangesSince = {
    zones: [[HALL.id, { ...HALL, foreign_id: 'old' }]],
    fences: [[FENCES[1], fences[1]]],
    rules: false,
  };
  to.tell(4, takeOver({ steps, objects: BOTH, since }));
  assert.deepEqual(to.takeFenceEvents(), []);
  const inside = to.ask(5, { ask: 'provider_fences', id: 'p', spatial: false });
  assert.deepEqual(inside, { ids: [FENCES[0]] });
  const { texts } = to.ask(5, { ask: 'provider_location', id: 'p', view: { crs: 'EPSG:4326' } }) as { texts: string[] };
  assert.ok(JSON.parse(texts[0] as string).position.coordinates[0] > 9.5);
});
