import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import type { ExportedState, LastKnownRow, PastStep } from '../../src/core/item.ts';
import type { Fix } from '../../src/core/location/fix.ts';
import type { ProviderState, ShardState, TrackableState } from '../../src/core/state.ts';
import { look } from '../../src/model/borrowed.ts';
import { eventTime, monotonicTime, type ClockStep } from '../../src/model/clock_steps.ts';
import { HALL, square } from '../support/hall.ts';
import {
  deleted,
  fence,
  inHall,
  provider,
  type ShardCommand,
  ShardHarness,
  T0,
  trackable,
  zone,
} from '../support/shard_harness.ts';
import { commandsOf, endOf, entitiesAfter, LATER, type Timed } from './site/commands.ts';
import { saidOf } from './site/play.ts';
import { randomSite } from './site/steps.ts';
import { takeOver } from './site/take_over.ts';

const RUNS = { numRuns: 300, seed: 7 };
const P = { provider_id: 'p' };

/** Numbers of commands per step, repeated as often as needed. */
type Cut = readonly number[];

interface Played {
  readonly harness: ShardHarness;
  /** The steps, and the rows that each has emitted. */
  readonly steps: PastStep[];
  readonly rows: (readonly LastKnownRow[])[];
}

/** Plays commands, grouped into steps. */
async function play(timed: readonly Timed[], cut: Cut): Promise<Played> {
  const harness = await ShardHarness.open();
  const played: Played = { harness, steps: [], rows: [] };
  let number = 0;
  for (let at = 0; at < timed.length; ) {
    const some = timed.slice(at, at + (cut[number++ % cut.length] as number));
    at += some.length;
    const items = some.flatMap(({ second, command }) => harness.items(second, command));
    const { effects, rows } = harness.step(endOf(some), items);
    const locations = items.filter((item) => item.kind === 'location');
    played.steps.push({ locations, effects: Buffer.from(look(effects)) });
    played.rows.push(rows);
  }
  return played;
}

/** A shard that receives the entities, then rows, then steps, like one that replaces a failed worker. */
async function recover(
  entities: readonly Timed['command'][],
  rows: readonly LastKnownRow[],
  steps: readonly PastStep[],
) {
  const harness = await ShardHarness.open();
  const items = [
    ...harness.items(0, ...entities),
    ...harness.items(0, { kind: 'restore', rows, suppressUntilMs: 0, withTimers: true }, { kind: 'replay', steps }),
  ].map((item) => Object.assign(item, { seq: 0, receivedMs: 0 }));
  harness.shard.step({ nowMs: 0, items, flushBudget: 0 });
  return harness;
}

/** Positions and memberships of all objects of a shard. */
function stateOf({ providers, trackables }: ShardState, placeOf: (fix: Fix) => unknown, isWhole = true): unknown {
  const objects = [...providers.values(), ...trackables.values()].filter(({ fix }) => fix !== undefined);
  const ofObject = (object: ProviderState | TrackableState): unknown => ({
    object: `${object.kind} ${object.id}`,
    place: placeOf(object.fix as Fix),
    members: object.members
      .map(({ fence, membership, seenMs }) => ({ fence: fence.id, ...membership, seenMs }))
      .sort((a, b) => (a.fence < b.fence ? -1 : 1)),
    suppressUntilMs: object.suppressUntilMs,
    footprint: object.kind === 'trackable' && object.footprint,
    // Rows do not contain this. It is assumed; at worst a collision is ended that does not exist.
    colliding: isWhole && object.kind === 'trackable' && object.colliding,
  });
  const inOrder = objects.sort((a, b) => (`${a.kind} ${a.id}` < `${b.kind} ${b.id}` ? -1 : 1));
  return inOrder.map(ofObject);
}

function wholeFix({ providerId, source, zone, timing, trackables, isLocal, bytes }: Fix): unknown {
  const around = zone && [zone.id, zone.wgs84_height];
  return { providerId, source, zone: around, timing, trackables, isLocal, bytes: Buffer.from(bytes).toString('hex') };
}

const cuts = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 4 });

test('A shard that replays the effects of all steps has the same state as the original, including all timers', async () => {
  let [members, timers] = [0, 0];
  await fc.assert(
    fc.asyncProperty(randomSite(50), cuts, fc.nat(), async (steps, cut, again) => {
      const timed = commandsOf(steps);
      const { harness, steps: made } = await play(timed, cut);
      // Replaying steps again changes nothing.
      const twice = [...made, ...made.slice(again % made.length)];
      for (const reported of [made, twice]) {
        const recovered = await recover(entitiesAfter(timed), [], reported);
        assert.deepEqual(stateOf(recovered.shard.state, wholeFix), stateOf(harness.shard.state, wholeFix));
        assert.deepEqual(recovered.events, []);
      }
      for (const { members: of } of harness.shard.state.providers.values()) {
        members += of.length;
        timers += of.filter(({ membership: { delayFromMs, toleranceFromMs } }) => {
          return Math.min(delayFromMs, toleranceFromMs) < Infinity;
        }).length;
      }
    }),
    RUNS,
  );
  assert.ok(members > 150 && timers > 80, `only ${members} memberships with ${timers} timers`);
});

test('A shard recovered from earlier rows and later effects continues as if nothing had happened', async () => {
  await fc.assert(
    fc.asyncProperty(randomSite(50), cuts, fc.nat(), fc.nat(), async (steps, cut, die, mark) => {
      const timed = commandsOf(steps);
      const before = timed.slice(0, 13 + (die % (timed.length - 12)));
      const rest = timed.slice(before.length);
      const { harness, steps: made, rows } = await play(before, cut);
      // All changes up to the mark are in rows, some of which are from later steps.
      const marked = mark % made.length;
      const first = await play(before.slice(0, stepEnd(cut, marked, before.length)), cut);
      first.harness.rows = 'all';
      const kept = newest([...first.rows, first.harness.step(0).rows, ...rows.slice(marked)]);
      const recovered = await recover(entitiesAfter(before), kept, made.slice(marked));
      const shortly = ({ eventTimeMs, receivedMs, lon, lat, providerId }: Fix) => [
        eventTimeMs,
        receivedMs,
        lon,
        lat,
        providerId,
      ];
      assert.deepEqual(stateOf(recovered.shard.state, shortly, false), stateOf(harness.shard.state, shortly, false));
      // Rows do not contain this, and the collision stage does not need it.
      for (const { id, colliding } of harness.shard.state.trackables.values()) {
        (recovered.shard.state.trackables.get(id) as TrackableState).colliding = colliding;
      }
      const [observed, expected] = [recovered, harness].map((one) => {
        const said = rest.map(({ second, command }) => one.tell(second, command));
        return saidOf([...said, one.step(endOf(timed) + LATER)]);
      }) as [Said, Said];
      assert.deepEqual(inOrderOf(expected, observed), expected);
    }),
    RUNS,
  );
});

/** Number of commands before a step. */
function stepEnd(cut: Cut, step: number, most: number): number {
  let commands = 0;
  for (let i = 0; i < step; i++) commands += cut[i % cut.length] as number;
  return Math.min(commands, most);
}

type Said = ReturnType<typeof saidOf>;

/**
 * Returns the received events with members in the order of the expected ones: a location from a row has a different
 * order. Only strings that differ are parsed.
 */
function inOrderOf(expected: Said, observed: Said): Said {
  const ordered = (text: string, wanted: string | undefined): string => {
    return wanted !== undefined && text !== wanted && isDeepStrictEqual(partsOf(text), partsOf(wanted)) ? wanted : text;
  };
  return Object.fromEntries(
    Object.entries(observed).map(([object, texts]) => [
      object,
      texts.map((text, index) => ordered(text, expected[object]?.[index])),
    ]),
  );
}

/** Variant and fields of an event, and the event. */
function partsOf(text: string): unknown {
  const at = text.indexOf('{');
  return [text.slice(0, at), JSON.parse(text.slice(at))];
}

function newest(rows: readonly (readonly LastKnownRow[])[]): LastKnownRow[] {
  const last = new Map(rows.flat().map((row) => [`${row.kind} ${row.id}`, row]));
  return [...last.values()].filter((row) => row.gone !== true);
}

const HOUR = 3600;
const AHEAD: readonly ClockStep[] = [{ toMs: T0, byMs: HOUR * 1000 }];
const STOOD_STILL: readonly ClockStep[] = [{ toMs: T0, byMs: -60_000 }];

for (const { what, from, to } of [
  { what: 'whose clock was set back', from: AHEAD, to: [] },
  { what: 'that stood still', from: STOOD_STILL, to: [] },
  { what: 'to one whose clock was set back', from: [], to: AHEAD },
  { what: 'whose clock was set back, to one without a clock step', from: AHEAD, to: STOOD_STILL },
]) {
  test(`Steps migrate from a hub ${what}, with all times as wall-clock times`, async () => {
    const f = square({ id: 'f', timeout: 10_000, exit_tolerance: 4, tolerance_timeout: 6000, exit_delay: 5000 });
    const entities = [
      zone(),
      fence(f),
      fence({ ...f, id: 'g', entry_delay: 4000 }),
      provider('p'),
      trackable('t', ['p']),
    ];
    /** Actions at a hub at these wall-clock seconds. */
    const made = async (clockSteps: readonly ClockStep[]) => {
      const harness = await ShardHarness.open();
      harness.clockSteps = clockSteps;
      const steps: PastStep[] = [];
      const running = (second: number): number => (monotonicTime(T0 + second * 1000, clockSteps) - T0) / 1000;
      const at = (second: number, ...commands: ShardCommand[]): void => {
        const items = harness.items(running(second), ...commands);
        const effects = Buffer.from(look(harness.step(running(second), items).effects));
        steps.push({ locations: items.filter((item) => item.kind === 'location'), effects, clockSteps });
      };
      const located = (second: number, x: number, provider_id: string): ShardCommand => {
        const location = inHall(second, [x, 5], { provider_id });
        return { ...location, generatedMs: eventTime(location.generatedMs, clockSteps) };
      };
      at(100, ...entities);
      at(101, located(101, 5, 'p'), located(101, 4, 'q'));
      at(103, located(102, 12, 'p'));
      at(104, provider('p', { exit_tolerance: 5 }));
      return { harness, steps };
    };
    const [owner, expected] = [await made(from), await made(to)];
    const taker = await ShardHarness.open();
    const after = [...entities.slice(0, 3), provider('p', { exit_tolerance: 5 }), provider('q'), ...entities.slice(4)];
    const items = [
      ...taker.items(0, ...after),
      ...taker.items(0, takeOver({ steps: owner.steps, objects: { providers: ['p', 'q'], trackables: ['t'] } })),
    ].map((item) => Object.assign(item, { seq: 0, receivedMs: 0 }));
    taker.shard.step({ nowMs: 0, items, flushBudget: 0, clockSteps: to });
    const times = ({ providerId, eventTimeMs, receivedMs, generatedMs, lon }: Fix) => {
      return [providerId, eventTimeMs, receivedMs, generatedMs, lon];
    };
    const withoutHold = (state: ShardState): unknown => {
      for (const object of [...state.providers.values(), ...state.trackables.values()]) object.suppressUntilMs = 0;
      return stateOf(state, times);
    };
    assert.deepEqual(withoutHold(taker.shard.state), withoutHold(expected.harness.shard.state));
    const inside = ['p', 'q'].map((id) => taker.shard.state.providers.get(id)?.members.length);
    assert.deepEqual(inside, [1, 2]);
  });
}

test('A shard that takes over an object without a position emits a tombstone for its row only', async () => {
  const before = await ShardHarness.open();
  const steps: PastStep[] = [];
  const entities = [zone(), provider('p'), provider('q')];
  const tell = (second: number, ...commands: readonly ShardCommand[]): void => {
    const items = before.items(second, ...commands);
    const effects = Buffer.from(look(before.step(second, items).effects));
    steps.push({ locations: items.filter((item) => item.kind === 'location'), effects });
  };
  tell(1, ...entities);
  tell(2, inHall(2, [5, 5], P), inHall(2, [5, 5], { provider_id: 'q' }));
  tell(3, { kind: 'forget', id: 'p' }, { kind: 'forget', id: 'q' });
  tell(4, inHall(4, [5, 5], { provider_id: 'q' }));
  const taker = await ShardHarness.open();
  const { rows } = taker.tell(0, ...entities, takeOver({ steps, objects: { providers: ['p', 'q'], trackables: [] } }));
  assert.deepEqual(
    rows.filter(({ gone }) => gone === true),
    [{ kind: 'provider', id: 'p', gone: true }],
  );
});

test('An object that was in transit between shards when its hub failed is taken over at its old position', async () => {
  const before = await ShardHarness.open();
  const entities = [zone(), fence(square({ id: 'f' })), provider('p')];
  before.tell(1, ...entities);
  const items = before.items(2, inHall(2, [5, 5], P));
  const steps: PastStep[] = [
    {
      locations: items.filter((item) => item.kind === 'location'),
      effects: Buffer.from(look(before.step(2, items).effects)),
    },
  ];
  const left = before.tell(3, { kind: 'exportState', id: 9, providers: ['p'], trackables: [] });
  steps.push({ locations: [], effects: Buffer.from(look(left.effects)) });
  for (const [reported, inside] of [
    [takeOver({ steps, objects: { providers: ['p'], trackables: [] } }), ['f']],
    [{ kind: 'replay', steps }, undefined],
  ] as const) {
    const after = await ShardHarness.open();
    after.tell(0, ...entities, reported);
    const { fix, members } = after.shard.state.providers.get('p') ?? {};
    assert.deepEqual(fix && members?.map(({ fence: { id } }) => id), inside);
  }
});

const TAG = { providers: ['p'], trackables: ['t'] };
const AT_HALL = [zone(), fence(square({ id: 'f' })), provider('p'), trackable('t', ['p'])];

/** Steps in which objects change and leave for another shard, which never reports their arrival. */
for (const [what, change, expected] of [
  ['enter a fence', () => [inHall(2, [5, 5], P)], ['p in f', 't in f']],
  ['lose their position', () => [{ kind: 'forget', id: 'p' }], []],
  [
    'arrive from another hub',
    async () => {
      const other = await ShardHarness.open();
      other.tell(1, ...AT_HALL);
      other.tell(1.5, inHall(1.5, [5, 5], P));
      const { released } = other.tell(2, { kind: 'release', id: 1, sequence: 1, config: 0, ...TAG });
      const steps = released.map(({ effects }) => ({ locations: [], effects: Buffer.from(look(effects)) }));
      return [takeOver({ steps, objects: TAG })];
    },
    ['p in f', 't in f'],
  ],
] as const) {
  test(`Objects that ${what} in the step that moves them to another shard are taken over as they left`, async () => {
    const before = await ShardHarness.open();
    before.tell(1, ...AT_HALL);
    const steps: PastStep[] = [];
    for (const commands of [[inHall(1, [50, 5], P)], [...(await change()), { kind: 'exportState', id: 9, ...TAG }]]) {
      const items = before.items(2, ...(commands as readonly ShardCommand[]));
      const { effects } = before.step(2, items);
      const locations = items.filter((item) => item.kind === 'location');
      steps.push({ locations, effects: Buffer.from(look(effects)) });
    }
    const after = await ShardHarness.open();
    after.tell(0, ...AT_HALL, takeOver({ steps, objects: TAG }));
    const { providers, trackables } = after.shard.state;
    const here = [...providers.values(), ...trackables.values()].filter(({ fix }) => fix !== undefined);
    assert.deepEqual(
      here.map(({ id, members }) => `${id} in ${members.map(({ fence: { id: of } }) => of)}`),
      expected,
    );
  });
}

test('A shard that never had an object has no effect of it, although it moves it to another shard', async () => {
  const harness = await ShardHarness.open();
  harness.tell(1, ...AT_HALL);
  assert.equal(look(harness.tell(2, { kind: 'exportState', id: 9, ...TAG }).effects).length, 0);
});

test('A step that changes nothing has no effects', async () => {
  const harness = await ShardHarness.open();
  harness.tell(0, { kind: 'read', id: 1, query: { ask: 'provider_locations', view: { crs: 'EPSG:4326' } } });
  assert.equal(look(harness.step(1).effects).length, 0);
});

const CASES: readonly {
  readonly what: string;
  /** One step per entry, at its second. */
  readonly reported: readonly (readonly [second: number, ...commands: ShardCommand[]])[];
}[] = [
  {
    what: 'a renamed zone',
    reported: [
      [1, zone({ ...HALL, foreign_id: 'one', wgs84_height: 7 })],
      [2, inHall(2, [5, 5], { ...P, source: 'one' })],
      [3, zone({ ...HALL, foreign_id: 'two', wgs84_height: 7 })],
    ],
  },
  {
    what: 'a deleted zone',
    reported: [
      [1, zone({ ...HALL, wgs84_height: 7 })],
      [2, inHall(2, [5, 5], P)],
      [3, deleted('zone', HALL.id)],
    ],
  },
  {
    what: 'fences that have seen an object at different times',
    reported: [
      [1, zone(), fence(square({ id: 'f', timeout: 10_000 })), fence(square({ id: 'g', timeout: 10_000 }))],
      [2, trackable('t', ['p']), inHall(2, [5, 5], P)],
      [
        8,
        fence({ ...square({ id: 'g', timeout: 10_000 }), region: { type: 'Point', coordinates: [5, 5] }, radius: 3 }),
      ],
      [9, trackable('t', ['p'], { calculate_collisions: false })],
    ],
  },
  {
    what: 'an object put down at a provider whose timeout changes',
    reported: [
      [1, zone(), provider('p'), trackable('cart', ['p']), trackable('box', [], { parent: 'cart' })],
      [2, inHall(2, [5, 5], P)],
      [3, trackable('box', [])],
      [4, provider('p', { fence_timeout: 5000 })],
    ],
  },
];

for (const { what, reported } of CASES) {
  test(`A shard that replays effects restores ${what}`, async () => {
    const harness = await ShardHarness.open();
    const timed: Timed[] = [];
    const steps = reported.map(([second, ...commands]): PastStep => {
      timed.push(...commands.map((command) => ({ second, command })));
      const items = harness.items(second, ...commands);
      const effects = Buffer.from(look(harness.step(second, items).effects));
      return { locations: items.filter((item) => item.kind === 'location'), effects };
    });
    const recovered = await recover(entitiesAfter(timed), [], steps);
    assert.deepEqual(stateOf(recovered.shard.state, wholeFix), stateOf(harness.shard.state, wholeFix));
  });
}

test('A shard that replays effects knows until when deadlines from before a restart are held', async () => {
  const before = await ShardHarness.open();
  const entities = [zone(), fence(square({ id: 'f', timeout: 5000 })), provider('p')];
  before.rows = 'all';
  before.tell(1, ...entities);
  const { rows } = before.tell(2, inHall(2, [5, 5], P));
  const after = await ShardHarness.open();
  after.tell(3, ...entities);
  after.tell(3, { kind: 'restore', rows, suppressUntilMs: T0 + 60_000, withTimers: false });
  const changed = provider('p', { fence_timeout: 8000 });
  const { effects } = after.tell(4, changed);
  const recovered = await recover([...entities.slice(0, -1), changed], rows, [
    { locations: [], effects: Buffer.from(look(effects)) },
  ]);
  assert.equal(after.shard.state.providers.get('p')?.suppressUntilMs, T0 + 60_000);
  assert.deepEqual(stateOf(recovered.shard.state, wholeFix), stateOf(after.shard.state, wholeFix));
});

test('A shard that replays effects restores an object from another shard into memory that a location has just freed', async () => {
  const [from, to] = [await ShardHarness.open(), await ShardHarness.open()];
  from.tell(1, zone());
  from.tell(2, inHall(2, [5, 5], { provider_id: 'moving' }));
  const { answers } = from.tell(3, { kind: 'exportState', id: 9, providers: ['moving'], trackables: [] });
  const steps: PastStep[] = [];
  const tell = (second: number, ...commands: readonly ShardCommand[]): void => {
    const items = to.items(second, ...commands);
    const effects = Buffer.from(look(to.step(second, items).effects));
    steps.push({ locations: items.filter((item) => item.kind === 'location'), effects });
  };
  tell(1, zone());
  tell(2, inHall(2, [5, 5], { provider_id: 'stayer' }), inHall(2.1, [6, 6], { provider_id: 'stayer' }));
  tell(3, { kind: 'importState', state: answers[0]?.[1] as ExportedState });
  const recovered = await recover([zone()], [], steps);
  assert.deepEqual(stateOf(recovered.shard.state, wholeFix), stateOf(to.shard.state, wholeFix));
  assert.equal(recovered.shard.state.providers.size, 2);
});
