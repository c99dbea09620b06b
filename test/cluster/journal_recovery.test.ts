import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import type { Bus } from '../../src/cluster/nats/bus.ts';
import { HubJournal, sealJournal } from '../../src/cluster/journal/hub_journal.ts';
import { sealMessage } from '../../src/cluster/journal/journal_message.ts';
import { journalSubjects, journalStreams } from '../../src/cluster/journal/journal_streams.ts';
import { piecesOf } from '../../src/cluster/journal/record_pieces.ts';
import {
  dropIncarnation,
  readSteps,
  type RecoveredStep,
  statedIn,
} from '../../src/cluster/journal/journal_recovery.ts';
import { EffectWriter } from '../../src/core/effects.ts';
import { CHANGED_SHARD } from '../../src/core/state.ts';
import { copied, lend, look } from '../../src/model/borrowed.ts';
import { schedule } from '../../src/time/clock.ts';
import { UNSET } from '../../src/core/fence/timing.ts';
import { packDone, packReleased, packStep } from '../../src/wire/journal_record.ts';
import { LocationPacker, newRecordBuffer } from '../../src/wire/location_record.ts';
import { locationsIn, packBatch } from '../../src/wire/messages.ts';
import { diceOf } from '../support/dice.ts';
import { accepted } from '../wire/accepted_locations.ts';
import { Front, takenBy } from '../wire/hub_to_hub.ts';
import { textOf, up, utf8 } from './contract.ts';
import { recordsMessage } from './journal_messages.ts';
import { SimulatedCluster } from './simulated_bus.ts';
import { SimulatedClock } from './simulated_clock.ts';
import { natsWorld, testNats } from './test_nats.ts';

const nats = await testNats();
const SEEDS = 40;
const SERVERS = ['n1', 'n2', 'n3'];

/** A journal record of "step <text>" or "done <number>", at that record of the configuration log. `nowMs`: time of a step. */
function record(text: string, config = 0, nowMs = 0): Uint8Array {
  const [kind, ...rest] = text.split(' ');
  const step = { nowMs, config, clockSteps: [], batch: lend(utf8(rest.join(' '))), effects: lend(new Uint8Array()) };
  const [piece] = piecesOf(
    zstdCompressSync(kind === 'done' ? packDone({ upTo: Number(rest[0]), config, requests: [] }) : packStep(step)),
  );
  return Buffer.concat(piece ?? []);
}

const textsOf = (steps: readonly RecoveredStep[]): string[] => steps.map(({ step }) => textOf(step.batch));

async function makeStreams(bus: Bus, name: string, incarnation: string, replicas = 3): Promise<void> {
  for (const stream of journalStreams(name, incarnation)) {
    await bus.makeStream({ ...stream, replicas, storage: 'memory' });
  }
}

function simulated(context: TestContext, seed = 1) {
  const clock = new SimulatedClock();
  context.after(clock.run());
  return { clock, cluster: new SimulatedCluster({ clock, seed }) };
}

/** The journal of a hub with markers of the state, and trims, under faults, until another hub seals it. */
async function taken(context: TestContext, seed: number) {
  const { clock, cluster } = simulated(context, seed);
  const dice = diceOf(seed + 900);
  const [owner, taker] = [cluster.bus('owner'), cluster.bus('taker')];
  await Promise.all([up(owner), up(taker)]);
  await makeStreams(taker, 'hub', 'i');
  cluster.mishaps.unanswered = dice(2) * 200;
  const later = (ms: number, callback: () => void): (() => void) => cluster.schedule('owner', ms, callback);
  const journal = new WrittenJournal(owner, later);
  const [killAt, sealAt] = [dice(80), 40 + dice(80)];
  let order = 0;
  let sealing: Promise<unknown> | undefined;
  for (let turn = 0; turn < 140; turn++) {
    if (turn === killAt && dice(3) > 0) {
      const server = SERVERS[dice(3)] as string;
      cluster.kill(server);
      clock.schedule(1000 + dice(8000), () => cluster.resume(server));
    }
    if (turn === sealAt) {
      const places = journalSubjects('hub', 'i');
      sealing = sealJournal({ places, bus: taker, schedule: clock.schedule, by: 'taker', isOff: () => false });
    }
    const kind = dice(12);
    if (kind < 9) journal.step(++order);
    else if (kind < 11) journal.done();
    else journal.trim();
    await clock.wait(dice(30));
  }
  await sealing;
  await clock.wait(30_000);
  const { steps: left } = await readSteps({ bus: taker, name: 'hub', incarnation: 'i' });
  return { journal, left };
}

/** Number of steps when the state of a marker was begun, and whether the marker was stored. */
interface Mark {
  readonly upTo: number;
  readonly committed: number;
  readonly put: number;
  isCommitted: boolean;
}

/** The journal of a hub, and the outcomes of its appends. */
class WrittenJournal {
  readonly texts: string[] = [];
  /** Steps that were acknowledged. */
  committed = 0;
  readonly marks: Mark[] = [];
  readonly #journal: HubJournal;
  /** The state that is being written. */
  #next: Mark;
  #doneUpTo = -1;

  constructor(bus: Bus, later: (ms: number, callback: () => void) => () => void) {
    this.#journal = new HubJournal({
      ...{ bus, places: journalSubjects('hub', 'i'), schedule: later },
      ended: () => undefined,
    });
    this.#next = this.#mark();
  }

  step(order: number): void {
    this.texts.push(`${order}`);
    this.#journal.append(record(`step ${order}`)).then(
      () => this.committed++,
      () => undefined,
    );
  }

  /** The state that was begun at the last marker is written. */
  done(): void {
    const mark = this.#next;
    this.#next = this.#mark();
    this.marks.push(mark);
    this.#journal.append(record(`done ${mark.upTo}`)).then(
      () => {
        mark.isCommitted = true;
        this.#doneUpTo = mark.upTo;
      },
      () => undefined,
    );
  }

  trim(): void {
    this.#journal.trim(this.#doneUpTo + 1).catch(() => undefined);
  }

  #mark(): Mark {
    return {
      upTo: this.#journal.nextNumber - 1,
      committed: this.committed,
      put: this.texts.length,
      isCommitted: false,
    };
  }
}

test('readSteps returns the steps without a stored done marker, from sealed journals that were trimmed and switched', async (context) => {
  const seen = { steps: 0, done: 0 };
  for (let seed = 1; seed <= SEEDS; seed++) {
    const { journal, left } = await taken(context, seed);
    const { texts, committed, marks } = journal;
    const found = textsOf(left);
    const why = `seed ${seed}, ${found}`;
    // One run of steps, at whose end nothing is missing.
    const from = found.length === 0 ? undefined : texts.indexOf(found[0] as string);
    if (from !== undefined) assert.deepEqual(found, texts.slice(from, from + found.length), why);
    const end = from === undefined ? undefined : from + found.length;
    assert.ok((end ?? texts.length) >= committed, why);
    // It begins at one of the markers that may be the last stored one.
    const last = marks.findLastIndex(({ isCommitted }) => isCommitted);
    const possible = [...(last < 0 ? [{ committed: 0, put: 0 }] : []), ...marks.slice(Math.max(last, 0))];
    const begin = from ?? texts.length;
    if (from === undefined)
      assert.ok(
        possible.some((mark) => committed <= mark.put),
        why,
      );
    else
      assert.ok(
        possible.some((mark) => mark.committed <= begin && begin <= mark.put),
        why,
      );
    seen.steps += found.length;
    if (last >= 0) seen.done++;
  }
  context.diagnostic(JSON.stringify(seen));
  assert.ok(seen.steps > 10 * SEEDS && seen.done > SEEDS / 2, JSON.stringify(seen));
});

/** A journal that holds these messages, in A or in B, and is sealed in those. */
async function journalWith(
  context: TestContext,
  messages: readonly [place: 0 | 1, bytes: Uint8Array][],
  { sealed = [0, 1], seed = 1 } = {},
) {
  const { cluster } = simulated(context, seed);
  const bus = cluster.bus('taker');
  await up(bus);
  await makeStreams(bus, 'hub', 'i');
  const places = journalSubjects('hub', 'i');
  const seals = sealed.map((place): [0 | 1, Uint8Array] => [place as 0 | 1, sealMessage('taker')]);
  for (const [place, bytes] of [...messages, ...seals]) await bus.append({ ...places[place], bytes, timeoutMs: 1000 });
  return async () => {
    const { steps } = await readSteps({ bus, name: 'hub', incarnation: 'i' });
    return textsOf(steps);
  };
}

const message = (number: number, ...records: string[]): Uint8Array =>
  recordsMessage(
    number,
    records.map((text) => record(text)),
  );

test('readSteps starts after the largest done number, from either stream, wherever the journal begins', async (context) => {
  const read = await journalWith(context, [
    [0, message(3, 'step c')],
    [1, message(4, 'step d', 'done 2')],
    [0, message(5, 'done 3')],
    [1, message(5, 'done 3')],
    [1, message(6, 'done 1', 'step e')],
    [0, message(7)],
  ]);
  assert.deepEqual(await read(), ['d', 'e']);
});

test('readSteps returns the configuration sequence of the last step, even if the state contains that step', async (context) => {
  const records = (...made: readonly (readonly [text: string, config: number])[]) => {
    return made.map(([text, config]) => record(text, config));
  };
  const cases = [
    { made: [], config: 0 },
    { made: records(['step a', 4], ['step b', 7]), config: 7 },
    { made: records(['step a', 4], ['done -1', 4], ['step b', 4]), config: 4 },
    { made: records(['done -1', 9]), config: 9 },
  ];
  for (const { made, config } of cases) {
    const { cluster } = simulated(context);
    const bus = cluster.bus('taker');
    await up(bus);
    await makeStreams(bus, 'hub', 'i');
    const places = journalSubjects('hub', 'i');
    for (const bytes of [recordsMessage(0, made), sealMessage('taker')])
      await bus.append({ ...places[0], bytes, timeoutMs: 1000 });
    await bus.append({ ...places[1], bytes: sealMessage('taker'), timeoutMs: 1000 });
    assert.equal((await readSteps({ bus, name: 'hub', incarnation: 'i' })).config, config);
  }
});

/** Effects of providers that are here, without a location, or elsewhere. */
function effectsOf(places: Readonly<Record<string, 'here' | 'elsewhere'>>) {
  const writer = new EffectWriter(newRecordBuffer);
  for (const [id, place] of Object.entries(places)) {
    const changes = place === 'elsewhere' ? CHANGED_SHARD : 0;
    const object = { kind: 'provider', id, fix: undefined, members: [], suppressUntilMs: 0, changes };
    writer.write(object as never, { withMembers: true, isLocated: false, hasZone: () => false, shared: -1 });
  }
  return lend(copied(writer.take()));
}

const common = { nowMs: 0, config: 1, clockSteps: [], batch: lend(new Uint8Array()) };
const stated = (places: Parameters<typeof effectsOf>[0]) => packStep({ ...common, effects: effectsOf(places) });
/** A step that locates a provider, as locations are journaled: its effect refers to the location. */
function located(providerId: string): Uint8Array {
  const front = new Front();
  const [location] = fc.sample(accepted, { numRuns: 1, seed: 1 });
  front.shards.location({ ...location!, provider_id: providerId }, at);
  const { lane } = takenBy(front.sent(), new LocationPacker(), { eventTime: (ms) => ms });
  const batch = lend(copied(packBatch({ nowMs: 0, flushBudget: 0, items: lane })));
  const [{ seq = 0 } = {}] = locationsIn({ batch: look(batch) });
  const fix = { seq, copyDerived() {}, isLocal: false, zone: undefined, timing: UNSET, trackables: [] };
  const object = { kind: 'provider', id: providerId, fix, members: [], suppressUntilMs: 0, changes: 0 };
  const writer = new EffectWriter(newRecordBuffer);
  writer.write(object as never, { withMembers: true, isLocated: true, hasZone: () => false, shared: -1 });
  return packStep({ ...common, batch, effects: lend(copied(writer.take())) });
}

const at = { receivedMs: 1, generatedMs: 1 };
const stateOf = (ids: readonly string[]) => effectsOf(Object.fromEntries(ids.map((id) => [id, 'here' as const])));
const released = (sequence: number, ...ids: readonly string[]) => {
  return packReleased({ ...common, sequence, effects: stateOf(ids) });
};
for (const [what, records, expected] of [
  [
    'released objects, with the step of the release',
    [stated({ p: 'here', q: 'here' }), released(5, 'p'), stated({ p: 'elsewhere', q: 'here' })],
    { departed: [['provider p', 5]], steps: 3 },
  ],
  [
    'nothing that has come back',
    [released(5, 'p'), stated({ p: 'elsewhere' }), stated({ p: 'here' })],
    { departed: [], steps: 3 },
  ],
  [
    'nothing that is located again after it was deleted',
    [released(5, 'p', 'q'), stated({ p: 'elsewhere' }), located('p')],
    { departed: [['provider q', 5]], steps: 3 },
  ],
] as const) {
  test(`readSteps reports that a hub has released ${what}`, async (context) => {
    const { cluster } = simulated(context);
    const bus = cluster.bus('taker');
    await up(bus);
    await makeStreams(bus, 'hub', 'i');
    const places = journalSubjects('hub', 'i');
    const pieces = records.map((bytes) => Buffer.concat(piecesOf(zstdCompressSync(bytes))[0] ?? []));
    await bus.append({ ...places[0], bytes: recordsMessage(0, pieces), timeoutMs: 1000 });
    for (const place of places) await bus.append({ ...place, bytes: sealMessage('taker'), timeoutMs: 1000 });
    const left = await readSteps({ bus, name: 'hub', incarnation: 'i' });
    assert.deepEqual({ departed: [...left.departed], steps: left.steps.length }, expected);
  });
}

test('Steps state the objects that they have, or have had without a location, not those that are elsewhere', () => {
  const steps = [{ p: 'here', q: 'elsewhere' }, { r: 'elsewhere' }] as const;
  const stated = statedIn(steps.map((places) => ({ batch: new Uint8Array(), effects: look(effectsOf(places)) })));
  assert.deepEqual([...stated.provider], ['p']);
});

test('readSteps reads nothing after a seal', async (context) => {
  for (let seed = 1; seed < 10; seed++) {
    const messages: [0 | 1, Uint8Array][] = [
      [0, message(0, 'step a')],
      [0, sealMessage('first')],
      [0, message(1, 'step b', 'done 0')],
    ];
    assert.deepEqual(await (await journalWith(context, messages, { seed }))(), ['a']);
  }
});

test('readSteps reads a journal without messages', async (context) => {
  assert.deepEqual(await (await journalWith(context, []))(), []);
});

for (const [what, messages] of [
  ['at the beginning', [[0, message(2, 'step a', 'done 0')]]],
  [
    'between two',
    [
      [0, message(0, 'step a')],
      [1, message(2, 'step b')],
    ],
  ],
] as const) {
  test(`readSteps rejects a journal in which a message is missing ${what}`, async (context) => {
    const read = await journalWith(
      context,
      messages.map(([place, bytes]) => [place, bytes]),
    );
    await assert.rejects(read(), {
      name: 'JournalFormatError',
      message: 'Message 1 of journal "hub.j.i.a" is missing',
    });
  });
}

test('readSteps rejects a journal that is not sealed in both streams', async (context) => {
  const read = await journalWith(context, [[0, message(0, 'step a')]], { sealed: [0] });
  await assert.rejects(read(), { name: 'JournalFormatError', message: /"hub\.j\.i\.a": it is not sealed$/ });
});

test('dropIncarnation deletes both streams, and accepts that they are deleted already', async (context) => {
  const { cluster } = simulated(context);
  const bus = cluster.bus('taker');
  await makeStreams(bus, 'hub', 'i');
  await makeStreams(bus, 'hub', 'other');
  await dropIncarnation(bus, 'hub', 'i');
  await dropIncarnation(bus, 'hub', 'i');
  assert.deepEqual(
    (await bus.streams('hub_J_')).map(({ name }) => name),
    ['hub_J_other_A', 'hub_J_other_B'],
  );
});

test('A journal that was trimmed is taken over on a real server', { skip: nats.skip }, async (context) => {
  const world = await natsWorld(context, nats);
  const [owner, taker] = [world.bus('owner'), world.bus('taker')];
  await Promise.all([up(owner), up(taker)]);
  await makeStreams(taker, world.name, 'i', 1);
  const places = journalSubjects(world.name, 'i');
  const own = new HubJournal({ places, bus: owner, schedule, ended: () => undefined });
  for (let order = 0; order < 100; order++) await own.append(record(`step ${order}`));
  await own.append(record('done 79'));
  await own.trim(80);
  await sealJournal({ bus: taker, places, schedule, by: 'taker', isOff: () => false });
  await assert.rejects(own.append(record('step 100')), { name: 'JournalEnded' });
  const { steps: left } = await readSteps({ bus: taker, name: world.name, incarnation: 'i' });
  assert.deepEqual(
    textsOf(left),
    Array.from({ length: 20 }, (_, i) => `${80 + i}`),
  );
  await dropIncarnation(taker, world.name, 'i');
  assert.deepEqual(await taker.streams(`${world.name}_J_`), []);
});
