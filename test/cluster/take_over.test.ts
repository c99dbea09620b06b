import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { zstdCompressSync } from 'node:zlib';
import type { Bus } from '../../src/cluster/bus.ts';
import { JournalLane, sealLane } from '../../src/cluster/journal_lane.ts';
import { recordsMessage, sealMessage } from '../../src/cluster/journal_message.ts';
import { journalStreams, lanePlaces } from '../../src/cluster/lane_places.ts';
import { piecesOf } from '../../src/cluster/record_pieces.ts';
import { dropIncarnation, readLanes, stepsOf } from '../../src/cluster/take_over.ts';
import { lend } from '../../src/model/borrowed.ts';
import { schedule } from '../../src/time/clock.ts';
import { type PackedStep, packDone, packStep } from '../../src/wire/lane_record.ts';
import { diceOf } from '../support/dice.ts';
import { textOf, up, utf8 } from './contract.ts';
import { SimulatedCluster } from './simulated_bus.ts';
import { SimulatedClock } from './simulated_clock.ts';
import { natsWorld, testNats } from './test_nats.ts';

const nats = await testNats();
const SEEDS = 40;
const SERVERS = ['n1', 'n2', 'n3'];

/** A record as a lane has it, of "step <order> <text>" or "done <number>". */
function record(text: string): Uint8Array {
  const [kind, number, ...texts] = text.split(' ');
  const step = { order: Number(number), nowMs: 0, batch: lend(utf8(texts.join(' '))), effects: lend(new Uint8Array()) };
  const [piece] = piecesOf(zstdCompressSync(kind === 'done' ? packDone(Number(number)) : packStep(step)));
  return piece as Uint8Array;
}

function stepOf(text: string): PackedStep {
  return { batch: utf8(text), effects: new Uint8Array() };
}

const textsOf = (steps: readonly PackedStep[]): string[] => steps.map(({ batch }) => textOf(batch));

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

/**
 * Two lanes of a hub whose steps have one order, with markers that say what is in the state, and trims, under faults, until
 * another hub seals them.
 */
async function taken(context: TestContext, seed: number) {
  const { clock, cluster } = simulated(context, seed);
  const dice = diceOf(seed + 900);
  const [owner, taker] = [cluster.bus('owner'), cluster.bus('taker')];
  await Promise.all([up(owner), up(taker)]);
  await makeStreams(taker, 'hub', 'i');
  cluster.mishaps.unanswered = dice(2) * 200;
  const later = (ms: number, callback: () => void): (() => void) => cluster.schedule('owner', ms, callback);
  const lanes = [0, 1].map((shard) => new Lane(owner, shard, later));
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
      const seals = [0, 1].map((shard) => ({ places: lanePlaces('hub', 'i', shard), isOff: () => false }));
      sealing = Promise.all(
        seals.map((each) => sealLane({ ...each, bus: taker, schedule: clock.schedule, by: 'taker' })),
      );
    }
    const lane = lanes[dice(2)] as Lane;
    const kind = dice(12);
    if (kind < 9) lane.step(++order);
    else if (kind < 11) lane.done();
    else lane.trim();
    await clock.wait(dice(30));
  }
  await sealing;
  await clock.wait(30_000);
  const left = await readLanes({ bus: taker, name: 'hub', incarnation: 'i', shards: 2 });
  return { lanes, left };
}

/** How many steps there were when the state was begun that a marker speaks of, and how many of them were kept. */
interface Mark {
  readonly upTo: number;
  readonly kept: number;
  readonly put: number;
  isKept: boolean;
}

/** A lane of a hub, and what became of what was appended to it. */
class Lane {
  readonly texts: string[] = [];
  /** Steps that were acknowledged. */
  kept = 0;
  readonly marks: Mark[] = [];
  readonly #shard: number;
  readonly #lane: JournalLane;
  /** The state that is being written. */
  #next: Mark;
  #doneUpTo = -1;

  constructor(bus: Bus, shard: number, later: (ms: number, callback: () => void) => () => void) {
    this.#shard = shard;
    this.#lane = new JournalLane({
      ...{ bus, places: lanePlaces('hub', 'i', shard), schedule: later },
      ended: () => undefined,
    });
    this.#next = this.#mark();
  }

  step(order: number): void {
    const text = `${this.#shard}: ${order}`;
    this.texts.push(text);
    this.#lane.append(record(`step ${order} ${text}`)).then(
      () => this.kept++,
      () => undefined,
    );
  }

  /** The state is written that was begun at the last marker. */
  done(): void {
    const mark = this.#next;
    this.#next = this.#mark();
    this.marks.push(mark);
    this.#lane.append(record(`done ${mark.upTo}`)).then(
      () => {
        mark.isKept = true;
        this.#doneUpTo = mark.upTo;
      },
      () => undefined,
    );
  }

  trim(): void {
    this.#lane.trim(this.#doneUpTo + 1).catch(() => undefined);
  }

  #mark(): Mark {
    return { upTo: this.#lane.nextNumber - 1, kept: this.kept, put: this.texts.length, isKept: false };
  }
}

test('readLanes gives what no marker that was kept says to be in the state, of sealed lanes that were trimmed and switched', async (context) => {
  const seen = { steps: 0, done: 0 };
  for (let seed = 1; seed <= SEEDS; seed++) {
    const { lanes, left } = await taken(context, seed);
    for (const [index, { texts, kept, marks }] of lanes.entries()) {
      const found = textsOf((left[index] ?? []).map(({ step }) => step));
      const why = `seed ${seed}, lane ${index}, ${found}`;
      // One run of steps, at whose end nothing is missing.
      const from = found.length === 0 ? undefined : texts.indexOf(found[0] as string);
      if (from !== undefined) assert.deepEqual(found, texts.slice(from, from + found.length), why);
      const end = from === undefined ? undefined : from + found.length;
      assert.ok((end ?? texts.length) >= kept, why);
      // It begins where one of those markers says that may be the last one that was kept.
      const last = marks.findLastIndex(({ isKept }) => isKept);
      const possible = [...(last < 0 ? [{ kept: 0, put: 0 }] : []), ...marks.slice(Math.max(last, 0))];
      const begin = from ?? texts.length;
      if (from === undefined)
        assert.ok(
          possible.some((mark) => kept <= mark.put),
          why,
        );
      else
        assert.ok(
          possible.some((mark) => mark.kept <= begin && begin <= mark.put),
          why,
        );
      seen.steps += found.length;
      if (last >= 0) seen.done++;
    }
    const orders = textsOf(stepsOf([left])).map((text) => Number(text.split(' ')[1]));
    assert.deepEqual(
      orders,
      orders.toSorted((a, b) => a - b),
      'steps of both lanes have one order',
    );
    assert.equal(orders.length, left.flat().length);
  }
  context.diagnostic(JSON.stringify(seen));
  assert.ok(seen.steps > 10 * SEEDS && seen.done > SEEDS, JSON.stringify(seen));
});

/** A lane that holds these messages, in A or in B, and is sealed in those. */
async function lane(
  context: TestContext,
  messages: readonly [place: 0 | 1, bytes: Uint8Array][],
  { sealed = [0, 1], seed = 1 } = {},
) {
  const { cluster } = simulated(context, seed);
  const bus = cluster.bus('taker');
  await up(bus);
  await makeStreams(bus, 'hub', 'i');
  const places = lanePlaces('hub', 'i', 0);
  const seals = sealed.map((place): [0 | 1, Uint8Array] => [place as 0 | 1, sealMessage('taker')]);
  for (const [place, bytes] of [...messages, ...seals]) await bus.append({ ...places[place], bytes, timeoutMs: 1000 });
  return async () => {
    const [steps = []] = await readLanes({ bus, name: 'hub', incarnation: 'i', shards: 1 });
    return textsOf(steps.map(({ step }) => step));
  };
}

const message = (number: number, ...records: string[]): Uint8Array => recordsMessage(number, records.map(record));

test('readLanes begins behind the largest number that is done, wherever the lane begins and whichever stream says so', async (context) => {
  const read = await lane(context, [
    [0, message(3, 'step 3 c')],
    [1, message(4, 'step 4 d', 'done 2')],
    [0, message(5, 'done 3')],
    [1, message(5, 'done 3')],
    [1, message(6, 'done 1', 'step 5 e')],
    [0, message(7)],
  ]);
  assert.deepEqual(await read(), ['d', 'e']);
});

test('readLanes reads nothing behind a seal', async (context) => {
  for (let seed = 1; seed < 10; seed++) {
    const messages: [0 | 1, Uint8Array][] = [
      [0, message(0, 'step 1 a')],
      [0, sealMessage('first')],
      [0, message(1, 'step 2 b', 'done 0')],
    ];
    assert.deepEqual(await (await lane(context, messages, { seed }))(), ['a']);
  }
});

test('readLanes reads a lane without messages', async (context) => {
  assert.deepEqual(await (await lane(context, []))(), []);
});

for (const [what, messages] of [
  ['at the beginning', [[0, message(2, 'step 1 a', 'done 0')]]],
  [
    'between two',
    [
      [0, message(0, 'step 1 a')],
      [1, message(2, 'step 2 b')],
    ],
  ],
] as const) {
  test(`readLanes refuses a lane in which a message is missing ${what}`, async (context) => {
    const read = await lane(
      context,
      messages.map(([place, bytes]) => [place, bytes]),
    );
    await assert.rejects(read(), { name: 'JournalFormatError', message: 'Message 1 of lane "hub.j.i.a.0" is missing' });
  });
}

test('readLanes refuses a lane that is not sealed in both streams', async (context) => {
  const read = await lane(context, [[0, message(0, 'step 1 a')]], { sealed: [0] });
  await assert.rejects(read(), { name: 'JournalFormatError', message: /"hub\.j\.i\.a\.0": it is not sealed$/ });
});

test('stepsOf keeps the order of incarnations, of steps, and of lanes where steps are equal', () => {
  const steps = (...orders: number[]) =>
    orders.map((order, i) => ({ order, nowMs: 0, step: stepOf(`${order}${'abc'[i]}`) }));
  const first = [steps(0, 2, 4), steps(1, 4, 5), [], steps(4, 4)];
  assert.deepEqual(textsOf(stepsOf([first, [], [steps(3)]])), ['0a', '1a', '2b', '4c', '4b', '4a', '4b', '5c', '3a']);
  assert.deepEqual(stepsOf([]), []);
});

test('dropIncarnation deletes both streams, and does not mind when they are gone', async (context) => {
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

test('A lane that was trimmed is taken over on a real server', { skip: nats.skip }, async (context) => {
  const world = await natsWorld(context, nats);
  const [owner, taker] = [world.bus('owner'), world.bus('taker')];
  await Promise.all([up(owner), up(taker)]);
  await makeStreams(taker, world.name, 'i', 1);
  const places = lanePlaces(world.name, 'i', 0);
  const own = new JournalLane({ places, bus: owner, schedule, ended: () => undefined });
  for (let order = 0; order < 100; order++) await own.append(record(`step ${order} ${order}`));
  await own.append(record('done 79'));
  await own.trim(80);
  await sealLane({ bus: taker, places, schedule, by: 'taker', isOff: () => false });
  await assert.rejects(own.append(record('step 100 100')), { name: 'JournalEnded' });
  const left = await readLanes({ bus: taker, name: world.name, incarnation: 'i', shards: 1 });
  assert.deepEqual(
    textsOf(stepsOf([left])),
    Array.from({ length: 20 }, (_, i) => `${80 + i}`),
  );
  await dropIncarnation(taker, world.name, 'i');
  assert.deepEqual(await taker.streams(`${world.name}_J_`), []);
});
