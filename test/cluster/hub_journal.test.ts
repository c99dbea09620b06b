import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Bus, StreamSettings } from '../../src/cluster/nats/bus.ts';
import { HubJournal, type JournalClosed, sealJournal } from '../../src/cluster/journal/hub_journal.ts';
import { journalMessage, sealMessage } from '../../src/cluster/journal/journal_message.ts';
import { readJournal } from '../../src/cluster/journal/journal_reader.ts';
import type { JournalSubjects } from '../../src/cluster/journal/journal_streams.ts';
import { diceOf } from '../support/dice.ts';
import { textOf, up, utf8 } from './contract.ts';
import { recordsMessage } from './journal_messages.ts';
import { SimulatedCluster } from './simulated_bus.ts';
import { SimulatedClock } from './simulated_clock.ts';
import { natsWorld, testNats } from './test_nats.ts';

const SERVERS = ['n1', 'n2', 'n3'];
const PLACES = placesOf('hub');

function placesOf(name: string): JournalSubjects {
  return [
    { stream: `${name}_J_A`, subject: `${name}.j.a` },
    { stream: `${name}_J_B`, subject: `${name}.j.b` },
  ];
}

/** The settings of the streams of a journal. */
function streamsOf(places: JournalSubjects, more: Partial<StreamSettings> = {}): StreamSettings[] {
  return places.map(({ stream: name, subject }) => {
    return { name, subjects: [subject], replicas: 3, storage: 'memory', ...more };
  });
}

async function makeStreams(bus: Bus, places: JournalSubjects, more: Partial<StreamSettings> = {}): Promise<void> {
  for (const settings of streamsOf(places, more)) await bus.makeStream(settings);
}

/** A journal, and the outcomes of its records. */
class Watched {
  readonly journal: HubJournal;
  readonly acknowledged: string[] = [];
  readonly ends: JournalClosed[] = [];
  sent = 0;

  constructor(bus: Bus, schedule: (delayMs: number, callback: () => void) => () => void, places: JournalSubjects) {
    this.journal = new HubJournal({ places, bus, schedule, ended: (error) => this.ends.push(error) });
  }

  send(): void {
    const text = `record ${this.sent++}`;
    this.journal.append(utf8(text)).then(
      () => this.acknowledged.push(text),
      () => undefined,
    );
  }
}

/** The records of a journal, from a message on. */
async function recordsFrom(bus: Bus, places: JournalSubjects, number: number): Promise<string[]> {
  const { messages } = await readJournal(bus, places);
  const inOrder = [...messages].filter(([at]) => at >= number).sort(([a], [b]) => a - b);
  return inOrder.flatMap(([, records]) => records.map(textOf));
}

/** A journal, its streams, and another hub that can read and seal it, on simulated time. */
async function journalOn(
  context: TestContext,
  { seed = 1, ...more }: { seed?: number } & Partial<StreamSettings> = {},
) {
  const clock = new SimulatedClock();
  context.after(clock.run());
  const cluster = new SimulatedCluster({ clock, seed });
  const [owner, taker] = [cluster.bus('owner'), cluster.bus('taker')];
  await Promise.all([up(owner), up(taker)]);
  await makeStreams(taker, PLACES, more);
  const watched = new Watched(owner, (ms, callback) => cluster.schedule('owner', ms, callback), PLACES);
  const readFrom = (number: number) => recordsFrom(taker, PLACES, number);
  return { clock, cluster, taker, watched, journal: watched.journal, readFrom };
}

const recordsTo = (count: number): string[] => Array.from({ length: count }, (_, number) => `record ${number}`);

/**
 * A journal under load, lost answers, and elections, that another hub seals while its owner goes on, is stopped or cut off.
 */
async function sealed(context: TestContext, seed: number) {
  const dice = diceOf(seed);
  const { clock, cluster, taker, watched, readFrom } = await journalOn(context, { seed });
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
      sealing = sealJournal({ bus: taker, places: PLACES, schedule: clock.schedule, by: 'taker', isOff: () => false });
    }
    if (dice(4) > 0) watched.send();
    if (dice(10) === 0) watched.journal.barrier().catch(() => undefined);
    await clock.wait(dice(30));
  }
  await sealing;
  // All faults are over: the owner must find out that it is sealed.
  await clock.wait(30_000);
  cluster.mishaps.unanswered = 0;
  watched.send();
  await clock.wait(30_000);
  return { watched, read: await readFrom(0), known };
}

test('Acknowledged records of a journal are read after its seal, in order and once, and no others are acknowledged', async (context) => {
  let committed = 0;
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
    committed += read.length;
  }
  assert.ok(committed > 3000, `only ${committed} records`);
});

test('A journal continues in its other stream when the leader of the first one is killed', async (context) => {
  const { clock, cluster, journal, readFrom } = await journalOn(context, { seed: 5 });
  const [a, b] = PLACES.map(({ stream }) => cluster.leaderOf(stream));
  assert.notEqual(a, b);
  // A hub without a connection finds that out first.
  assert.notEqual(a, [...cluster.members].find(({ name }) => name === 'owner')?.server);
  let longestMs = 0;
  for (let turn = 0; turn < 200; turn++) {
    if (turn === 50) cluster.kill(a as string);
    const fromMs = clock.nowMs;
    await journal.append(utf8(`record ${turn}`));
    longestMs = Math.max(longestMs, clock.nowMs - fromMs);
  }
  assert.ok(longestMs < 2000, `${longestMs} ms`);
  assert.deepEqual(await readFrom(0), recordsTo(200));
});

test('Records that arrive during an append are sent together, and a barrier needs an append that began after it', async (context) => {
  const { watched, journal } = await journalOn(context);
  for (let i = 0; i < 100; i++) watched.send();
  await journal.barrier();
  assert.deepEqual(watched.acknowledged, recordsTo(100));
  assert.equal(journal.nextNumber, 2, 'the first record alone, then the others with the barrier');
  await journal.barrier();
  assert.equal(journal.nextNumber, 3);
  assert.equal(journal.heldBytes, 0);
});

test('A trimmed journal can be read from there on, and continues', async (context) => {
  const { journal, readFrom } = await journalOn(context);
  for (const record of recordsTo(10)) await journal.append(utf8(record));
  await journal.trim(7);
  for (const record of recordsTo(12).slice(10)) await journal.append(utf8(record));
  assert.deepEqual(await readFrom(7), recordsTo(12).slice(7));
  await journal.trim(1000);
  await journal.append(utf8('record 12'));
  assert.deepEqual(await readFrom(12), ['record 12']);
});

test('A sealed journal is not trimmed any more, since others may be reading it', async (context) => {
  const { clock, taker, journal, readFrom } = await journalOn(context);
  for (const record of recordsTo(10)) await journal.append(utf8(record));
  await sealJournal({ bus: taker, places: PLACES, schedule: clock.schedule, by: 'taker', isOff: () => false });
  await assert.rejects(journal.append(utf8('late')), { name: 'JournalEnded', isSealed: true });
  await journal.trim(8);
  assert.deepEqual(await readFrom(0), recordsTo(10));
});

test('A journal whose stream is full reports that, and continues after trimming', async (context) => {
  const { clock, watched, journal, readFrom } = await journalOn(context, { bytesMax: 1000 });
  const committed = async () => {
    for (; !journal.isFull; await clock.wait(50)) watched.send();
    return watched.acknowledged.length;
  };
  const count = await committed();
  await clock.wait(10_000);
  assert.equal(watched.acknowledged.length, count);
  await journal.trim(count);
  await clock.wait(1000);
  assert.equal(journal.isFull, false);
  assert.equal(journal.heldBytes, 0);
  assert.deepEqual(watched.acknowledged, recordsTo(watched.sent));
  assert.deepEqual(await readFrom(count), recordsTo(watched.sent).slice(count));
  assert.deepEqual(watched.ends, []);
});

test('A journal waits while its bus is busy', async (context) => {
  const { clock, cluster, watched, readFrom } = await journalOn(context);
  cluster.mishaps.busy = 1000;
  for (let i = 0; i < 5; i++) watched.send();
  await clock.wait(10_000);
  assert.deepEqual([watched.acknowledged, watched.ends], [[], []]);
  cluster.mishaps.busy = 0;
  await clock.wait(1000);
  assert.deepEqual(watched.acknowledged, recordsTo(5));
  assert.deepEqual(await readFrom(0), recordsTo(5));
});

test('A journal retries after a rejected append while the reason is unknown', async (context) => {
  const { clock, cluster, watched, readFrom } = await journalOn(context);
  cluster.mishaps.unanswered = 1000;
  for (let i = 0; i < 5; i++) watched.send();
  // Long enough for both streams to keep the first message.
  await clock.wait(5000);
  Object.assign(cluster.mishaps, { unanswered: 0, unread: 1000 });
  await clock.wait(60_000);
  assert.deepEqual([watched.acknowledged, watched.ends], [[], []]);
  cluster.mishaps.unread = 0;
  await clock.wait(10_000);
  assert.deepEqual(watched.acknowledged, recordsTo(5));
  assert.deepEqual(await readFrom(0), recordsTo(5));
});

for (const [what, bytes, message] of [
  ['a message that it did not send', recordsMessage(7, []), /has message 7, which this journal did not send/],
  ['a message that is not of a journal', utf8('hello'), /A message of a journal has 5 bytes/],
] as const) {
  test(`A journal closes when it finds ${what}`, async (context) => {
    const { taker, watched, journal } = await journalOn(context);
    await journal.append(utf8('record 0'));
    await taker.append({ ...PLACES[0], bytes, timeoutMs: 1000 });
    const failed = { name: 'JournalEnded', isSealed: false, message };
    await assert.rejects(journal.append(utf8('record 1')), failed);
    assert.deepEqual(
      watched.ends.map(({ cause }) => (cause as Error).name),
      ['JournalFormatError'],
    );
    await assert.rejects(journal.barrier(), failed);
  });
}

test('A journal ends when it is given a record that would be too large to read back', async (context) => {
  const { watched, journal } = await journalOn(context);
  const message = /has 4000001 bytes, more than 4000000/;
  await assert.rejects(journal.append(new Uint8Array(4_000_001)), { name: 'JournalEnded', isSealed: false, message });
  assert.equal(watched.ends.length, 1);
});

test('A full stream is sealed once it may grow, unless the seal is no longer wanted', async (context) => {
  const { clock, taker, watched, journal } = await journalOn(context, { bytesMax: 1000 });
  for (; !journal.isFull; await clock.wait(50)) watched.send();
  let isOff = false;
  let hasEnded = false;
  const seal = async () => {
    hasEnded = false;
    await sealJournal({ bus: taker, places: PLACES, schedule: clock.schedule, by: 'taker', isOff: () => isOff });
    hasEnded = true;
  };
  const given = seal();
  await clock.wait(10_000);
  assert.equal(hasEnded, false);
  isOff = true;
  await given;
  assert.equal(watched.ends.length, 0);
  isOff = false;
  const sealing = seal();
  for (const settings of streamsOf(PLACES, { bytesMax: 2000 })) await taker.alterStream(settings);
  await sealing;
  watched.send();
  await clock.wait(1000);
  assert.deepEqual(
    watched.ends.map(({ name, isSealed }) => [name, isSealed]),
    [['JournalEnded', true]],
  );
});

test('A closed journal rejects waiting and later calls', async (context) => {
  const clock = new SimulatedClock();
  context.after(clock.run());
  const cluster = new SimulatedCluster({ clock, seed: 1 });
  const watched = new Watched(cluster.bus('owner'), (ms, callback) => cluster.schedule('owner', ms, callback), PLACES);
  const waiting = [watched.journal.append(utf8('a')), watched.journal.append(utf8('b')), watched.journal.barrier()];
  watched.journal.close();
  for (const each of waiting) await assert.rejects(each, /Journal "hub\.j\.a" is closed/);
  await assert.rejects(watched.journal.append(utf8('c')), /is closed/);
  await assert.rejects(watched.journal.barrier(), /is closed/);
});

for (const [what, bytes, message] of [
  ['short', new Uint8Array(3), /has 3 bytes/],
  ['of another version', recordsMessage(0, []).fill(9, 0, 1), /has version 9, not 1/],
  ['of another kind', recordsMessage(0, []).fill(7, 1, 2), /has kind 7/],
  ['cut off', recordsMessage(4, [utf8('abc')]).subarray(0, -1), /Message 4 of a journal ends within a record/],
  ['too long', Uint8Array.of(...recordsMessage(4, []), 1), /Message 4 of a journal is longer than its records/],
] as const) {
  test(`A message of a journal that is ${what} is rejected`, () => {
    assert.throws(() => journalMessage(bytes), { name: 'JournalFormatError', message });
  });
}

test('A finished journal stores its records, takes no others, and does not end when its own hub seals it', async (context) => {
  const { cluster, watched, journal, readFrom } = await journalOn(context);
  watched.send();
  const barrier = journal.barrier();
  watched.send();
  const finished = journal.finish();
  const refused = { name: 'JournalEnded', message: 'Journal "hub.j.a" is finished', isSealed: false };
  await assert.rejects(journal.append(utf8('late')), refused);
  await assert.rejects(journal.barrier(), refused);
  await Promise.all([finished, barrier]);
  assert.deepEqual(watched.acknowledged, recordsTo(2));
  const schedule = (ms: number, callback: () => void) => cluster.schedule('owner', ms, callback);
  await sealJournal({ bus: cluster.bus('owner'), places: PLACES, schedule, by: 'owner', isOff: () => false });
  await assert.rejects(journal.barrier(), refused);
  assert.deepEqual([await readFrom(0), watched.ends], [recordsTo(2), []]);
  await journal.finish();
  journal.close();
  await assert.rejects(journal.finish(), { message: 'Journal "hub.j.a" is closed' });
});

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

test('A journal is sealed on a real server while its owner appends', { skip: nats.skip }, async (context) => {
  const world = await natsWorld(context, nats);
  const [owner, taker] = [world.bus('owner'), world.bus('taker')];
  await Promise.all([up(owner), up(taker)]);
  const places = placesOf(world.name);
  await makeStreams(taker, places, { replicas: 1 });
  const { promise, resolve } = Promise.withResolvers<JournalClosed>();
  const schedule = (ms: number, callback: () => void): (() => void) => {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  };
  const journal = new HubJournal({ places, bus: owner, schedule, ended: resolve });
  const acknowledged: string[] = [];
  const append = async (): Promise<void> => {
    for (let i = 0; ; i++) {
      await journal.append(utf8(`record ${i}`));
      acknowledged.push(`record ${i}`);
      if (acknowledged.length === 200)
        void sealJournal({ bus: taker, places, schedule, by: 'taker', isOff: () => false });
    }
  };
  await assert.rejects(append(), /was sealed by "taker"/);
  assert.equal((await promise).isSealed, true);
  const read = await recordsFrom(taker, places, 0);
  assert.ok(acknowledged.length >= 200);
  assert.deepEqual(read.slice(0, acknowledged.length), acknowledged);
});
