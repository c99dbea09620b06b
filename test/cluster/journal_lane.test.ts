import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Bus } from '../../src/cluster/bus.ts';
import {
  type JournalEnded,
  JournalLane,
  type JournalPlaces,
  readLane,
  sealLane,
} from '../../src/cluster/journal_lane.ts';
import { journalMessage, recordsMessage, sealMessage } from '../../src/cluster/journal_message.ts';
import { diceOf } from '../support/dice.ts';
import { textOf, up, utf8 } from './contract.ts';
import { SimulatedCluster } from './simulated_bus.ts';
import { SimulatedClock } from './simulated_clock.ts';
import { natsWorld, testNats } from './test_nats.ts';

const SERVERS = ['n1', 'n2', 'n3'];
const PLACES = placesOf('hub');

function placesOf(name: string): JournalPlaces {
  return [
    { stream: `${name}_J_A`, subject: `${name}.j.a.0` },
    { stream: `${name}_J_B`, subject: `${name}.j.b.0` },
  ];
}

async function makeStreams(bus: Bus, places: JournalPlaces, replicas: number): Promise<void> {
  for (const { stream: name, subject } of places) {
    await bus.makeStream({ name, subjects: [subject], replicas, storage: 'memory' });
  }
}

/** A lane and what has become of its records. */
class Watched {
  readonly lane: JournalLane;
  readonly acknowledged: string[] = [];
  readonly ends: JournalEnded[] = [];
  sent = 0;

  constructor(bus: Bus, schedule: (delayMs: number, callback: () => void) => () => void, places: JournalPlaces) {
    this.lane = new JournalLane({ places, bus, schedule, ended: (error) => this.ends.push(error) });
  }

  send(): void {
    const text = `record ${this.sent++}`;
    this.lane.append(utf8(text)).then(
      () => this.acknowledged.push(text),
      () => undefined,
    );
  }
}

/** What is left of a lane, in the order of its messages. */
async function recordsOf(bus: Bus, places = PLACES): Promise<string[]> {
  const { messages } = await readLane(bus, places);
  return [...messages].sort(([a], [b]) => a - b).flatMap(([, records]) => records.map(textOf));
}

const recordsTo = (count: number): string[] => Array.from({ length: count }, (_, number) => `record ${number}`);

/**
 * A lane under load, lost answers, and elections, that another hub seals while its owner goes on, is stopped or cut off.
 */
async function sealed(context: TestContext, seed: number) {
  const dice = diceOf(seed);
  const clock = new SimulatedClock();
  context.after(clock.run());
  const cluster = new SimulatedCluster({ clock, seed });
  const [owner, taker] = [cluster.bus('owner'), cluster.bus('taker')];
  await Promise.all([up(owner), up(taker)]);
  await makeStreams(taker, PLACES, 3);
  const watched = new Watched(owner, (ms, callback) => cluster.schedule('owner', ms, callback), PLACES);
  cluster.mishaps.unanswered = dice(2) * 200;
  const faults = [
    () => {
      const server = SERVERS[dice(3)] as string;
      cluster.kill(server);
      clock.schedule(1000 + dice(10_000), () => cluster.resume(server));
    },
    () => {
      cluster.isolate('owner');
      clock.schedule(dice(4000), () => cluster.restore('owner'));
    },
    () => {
      cluster.stop('owner');
      clock.schedule(dice(4000), () => cluster.resume('owner'));
    },
    () => undefined,
  ];
  const fault = faults[dice(faults.length)] as () => void;
  const [faultAt, sealAt] = [dice(100), 20 + dice(100)];
  let sealing: Promise<void> | undefined;
  let known = 0;
  for (let turn = 0; turn < 160; turn++) {
    if (turn === faultAt) fault();
    if (turn === sealAt) {
      known = watched.acknowledged.length;
      sealing = sealLane({ bus: taker, places: PLACES, schedule: clock.schedule, by: 'taker', isOff: () => false });
    }
    if (dice(4) > 0) watched.send();
    if (dice(10) === 0) watched.lane.barrier().catch(() => undefined);
    await clock.wait(dice(30));
  }
  await sealing;
  // Whatever stood in the way is over: the owner must learn that it is out.
  await clock.wait(30_000);
  cluster.mishaps.unanswered = 0;
  watched.send();
  await clock.wait(30_000);
  const read = await recordsOf(taker);
  return { watched, read, known };
}

test('What a lane has acknowledged is read after its seal, in order and once, and nothing is acknowledged after it', async (context) => {
  let kept = 0;
  for (let seed = 1; seed <= 150; seed++) {
    const { watched, read, known } = await sealed(context, seed);
    const why = `seed ${seed}`;
    assert.deepEqual(read, recordsTo(read.length), why);
    assert.ok(watched.acknowledged.length >= known, why);
    assert.deepEqual(watched.acknowledged, recordsTo(watched.acknowledged.length), why);
    assert.ok(watched.acknowledged.length <= read.length, `${why}: ${watched.acknowledged.length} of ${read.length}`);
    assert.deepEqual(
      watched.ends.map(({ isSealed }) => isSealed),
      [true],
      why,
    );
    kept += read.length;
  }
  assert.ok(kept > 3000, `only ${kept} records`);
});

test('A lane goes on in its other stream when the server that leads the first one is killed', async (context) => {
  const clock = new SimulatedClock();
  context.after(clock.run());
  const cluster = new SimulatedCluster({ clock, seed: 3 });
  const bus = cluster.bus('owner');
  await up(bus);
  await makeStreams(bus, PLACES, 3);
  const watched = new Watched(bus, (ms, callback) => cluster.schedule('owner', ms, callback), PLACES);
  const [a, b] = PLACES.map(({ stream }) => cluster.leaderOf(stream));
  assert.notEqual(a, b);
  let longestMs = 0;
  for (let turn = 0; turn < 200; turn++) {
    if (turn === 50) cluster.kill(a as string);
    const fromMs = clock.nowMs;
    await watched.lane.append(utf8(`record ${turn}`));
    longestMs = Math.max(longestMs, clock.nowMs - fromMs);
  }
  assert.ok(longestMs < 2000, `${longestMs} ms`);
  assert.deepEqual(await recordsOf(bus), recordsTo(200));
});

test('Records that come while an append is in flight go together, and a barrier needs an append that began after it', async (context) => {
  const clock = new SimulatedClock();
  context.after(clock.run());
  const cluster = new SimulatedCluster({ clock, seed: 1 });
  const bus = cluster.bus('owner');
  await up(bus);
  await makeStreams(bus, PLACES, 3);
  const watched = new Watched(bus, (ms, callback) => cluster.schedule('owner', ms, callback), PLACES);
  for (let i = 0; i < 100; i++) watched.send();
  await watched.lane.barrier();
  assert.deepEqual(watched.acknowledged, recordsTo(100));
  assert.equal(watched.lane.nextNumber, 2, 'the first record alone, then the others with the barrier');
  await watched.lane.barrier();
  assert.equal(watched.lane.nextNumber, 3);
  assert.equal(watched.lane.heldBytes, 0);
});

test('A lane that is trimmed is read from there on, and goes on', async (context) => {
  const clock = new SimulatedClock();
  context.after(clock.run());
  const cluster = new SimulatedCluster({ clock, seed: 1 });
  const bus = cluster.bus('owner');
  await up(bus);
  await makeStreams(bus, PLACES, 3);
  const watched = new Watched(bus, (ms, callback) => cluster.schedule('owner', ms, callback), PLACES);
  for (let i = 0; i < 10; i++) await watched.lane.append(utf8(`record ${i}`));
  await watched.lane.trim(7);
  for (let i = 10; i < 12; i++) await watched.lane.append(utf8(`record ${i}`));
  assert.deepEqual(await recordsOf(bus), recordsTo(12).slice(7));
  await watched.lane.trim(1000);
  assert.deepEqual(await recordsOf(bus), ['record 11']);
  await watched.lane.append(utf8('record 12'));
  assert.deepEqual(await recordsOf(bus), ['record 11', 'record 12']);
});

test('A closed lane rejects what waits and what comes', async (context) => {
  const clock = new SimulatedClock();
  context.after(clock.run());
  const cluster = new SimulatedCluster({ clock, seed: 1 });
  const watched = new Watched(cluster.bus('owner'), (ms, callback) => cluster.schedule('owner', ms, callback), PLACES);
  const waiting = [watched.lane.append(utf8('a')), watched.lane.append(utf8('b')), watched.lane.barrier()];
  watched.lane.close();
  for (const each of waiting) await assert.rejects(each, /Lane "hub\.j\.a\.0" is closed/);
  await assert.rejects(watched.lane.append(utf8('c')), /is closed/);
  await assert.rejects(watched.lane.barrier(), /is closed/);
});

for (const [what, bytes, message] of [
  ['short', new Uint8Array(3), /has 3 bytes/],
  ['of another version', recordsMessage(0, []).fill(9, 0, 1), /has version 9, not 1/],
  ['of another kind', recordsMessage(0, []).fill(7, 1, 2), /has kind 7/],
  ['cut off', recordsMessage(4, [utf8('abc')]).subarray(0, -1), /Message 4 of a journal ends within a record/],
  ['too long', Uint8Array.of(...recordsMessage(4, []), 1), /Message 4 of a journal is longer than its records/],
] as const) {
  test(`A message of a journal that is ${what} is refused`, () => {
    assert.throws(() => journalMessage(bytes), { name: 'JournalFormatError', message });
  });
}

test('A message of a journal is read as it was written', () => {
  const { kind, ...rest } = journalMessage(recordsMessage(2 ** 40, [utf8(''), utf8('ß')])) as {
    kind: string;
    number: number;
    records: Uint8Array[];
  };
  assert.deepEqual([kind, rest.number, rest.records.map(textOf)], ['records', 2 ** 40, ['', 'ß']]);
  assert.deepEqual(journalMessage(sealMessage('hub two')), { kind: 'seal', by: 'hub two' });
});

const nats = await testNats();

test('A lane is sealed on a real server while its owner appends', { skip: nats.skip }, async (context) => {
  const world = await natsWorld(context, nats);
  const [owner, taker] = [world.bus('owner'), world.bus('taker')];
  await Promise.all([up(owner), up(taker)]);
  const places = placesOf(world.name);
  await makeStreams(taker, places, 1);
  const { promise, resolve } = Promise.withResolvers<JournalEnded>();
  const schedule = (ms: number, callback: () => void): (() => void) => {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  };
  const lane = new JournalLane({ places, bus: owner, schedule, ended: resolve });
  const acknowledged: string[] = [];
  const append = async (): Promise<void> => {
    for (let i = 0; ; i++) {
      await lane.append(utf8(`record ${i}`));
      acknowledged.push(`record ${i}`);
      if (acknowledged.length === 200) void sealLane({ bus: taker, places, schedule, by: 'taker', isOff: () => false });
    }
  };
  await assert.rejects(append(), /was sealed by "taker"/);
  assert.equal((await promise).isSealed, true);
  const read = await recordsOf(taker, places);
  assert.ok(acknowledged.length >= 200);
  assert.deepEqual(read.slice(0, acknowledged.length), acknowledged);
});
