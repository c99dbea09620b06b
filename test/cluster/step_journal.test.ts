import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { zstdCompressSync } from 'node:zlib';
import { sealJournal } from '../../src/cluster/journal/hub_journal.ts';
import { journalSubjects, journalStreams } from '../../src/cluster/journal/journal_streams.ts';
import { JournalProbe } from '../../src/cluster/membership/journal_probe.ts';
import { StepJournal } from '../../src/cluster/journal/step_journal.ts';
import { isRange, type JournalRange, NO_MESSAGES } from '../../src/cluster/journal/journal_reader.ts';
import { readReleased, readSteps } from '../../src/cluster/journal/journal_recovery.ts';
import { lend } from '../../src/model/borrowed.ts';
import { packReleased, packStep } from '../../src/wire/journal_record.ts';
import type { ShardReply } from '../../src/wire/messages.ts';
import { textOf, up, utf8 } from './contract.ts';
import { SimulatedCluster } from './simulated_bus.ts';
import { SimulatedClock } from './simulated_clock.ts';

/** Messages that an idle journal may have. */
const FEW = 70;

/** The journal of a hub, as its cluster has it, and another hub that can seal and read it. */
async function world(context: TestContext, { shards = 1, reads = 'latest' as 'latest' | 'any' } = {}) {
  const clock = new SimulatedClock();
  context.after(clock.run());
  const cluster = new SimulatedCluster({ clock, seed: 1 });
  const [bus, other] = [cluster.bus('owner'), cluster.bus('other')];
  await Promise.all([up(bus), up(other)]);
  for (const stream of journalStreams('hub', 'i')) await bus.makeStream({ ...stream, replicas: 3, storage: 'memory' });
  const ended: Error[] = [];
  const state = { isAcquiring: false, write: async (): Promise<void> => undefined };
  const journal = new StepJournal({
    ...{ bus, name: 'hub', incarnation: 'i', shards, reads, elapsed: clock.elapsed },
    schedule: (ms, callback) => cluster.schedule('owner', ms, callback),
    writeState: () => state.write(),
    eventsPendingFrom: () => Infinity,
    isAcquiring: () => state.isAcquiring,
    widen: async () => undefined,
    ended: (error) => ended.push(error),
  });
  const seal = () => {
    const places = journalSubjects('hub', 'i');
    return sealJournal({ bus: other, places, schedule: clock.schedule, by: 'other', isOff: () => false });
  };
  const pulse = new JournalProbe({
    ...{ elapsed: clock.elapsed, schedule: clock.schedule },
    barrier: () => journal.barrier(),
    committed: () => void journal.trimIdle(),
  });
  return {
    ...{ clock, cluster, journal, state, pulse, ended, seal },
    async messages() {
      return (await other.streams('hub_J_')).reduce((sum, { messages }) => sum + messages, 0);
    },
    /** Steps that are found when the journal is sealed now. */
    async left() {
      await seal();
      const { steps } = await readSteps({ bus: other, name: 'hub', incarnation: 'i' });
      return steps.map(({ step }) => textOf(step.batch));
    },
    /** Sizes of the states in a range, by the records because of which they were released; undefined if it is incomplete. */
    async released(range: JournalRange) {
      const released = await readReleased({ bus: other, name: 'hub', incarnation: 'i' }, range);
      return released?.map(({ sequence, step }) => [sequence, step.effects.length]);
    },
    /** Records because of which the state was released whose events each hub had delivered. */
    async delivered() {
      const { delivered } = await readSteps({ bus: other, name: 'hub', incarnation: 'i' });
      return [...delivered].map((record) => record.kind === 'released' && record.sequence);
    },
    /** Requests that the journal names. */
    async requests() {
      const { requests } = await readSteps({ bus: other, name: 'hub', incarnation: 'i' });
      return [...requests];
    },
    /** Those of them that are in the state and remain. */
    async earlier() {
      const { earlier } = await readSteps({ bus: other, name: 'hub', incarnation: 'i' });
      return earlier.map(({ step }) => textOf(step.batch));
    },
  };
}

function step(name: number | string): ShardReply {
  const text = `step ${name}`;
  const record = packStep({
    nowMs: 0,
    config: 0,
    clockSteps: [],
    batch: lend(utf8(text)),
    effects: lend(new Uint8Array()),
  });
  return { record: lend(zstdCompressSync(record)) } as unknown as ShardReply;
}

/** A step that releases an object. */
function releasing(name: string, { sequence = 1, effects = new Uint8Array() } = {}): ShardReply {
  const record = packReleased({ nowMs: 0, config: 0, clockSteps: [], sequence, effects: lend(effects) });
  return { ...step(name), released: [{ id: 1, record: lend(zstdCompressSync(record)) }] };
}

test('Objects that departed with a step are only recovered with that step, for any time of the seal', async (context) => {
  const found = new Set<number>();
  for (let afterMs = 0; afterMs < 30; afterMs += 0.5) {
    const { clock, journal, left } = await world(context);
    journal.keep(0, releasing('a'))?.catch(() => undefined);
    await clock.wait(afterMs);
    found.add((await left()).length);
  }
  assert.deepEqual([...found], [0, 2]);
});

test('A departed object without a location is released once its step is stored', async (context) => {
  const { journal, left } = await world(context);
  // The step itself has changed nothing.
  const { record: _, ...reply } = releasing('a');
  const kept = journal.keep(0, reply);
  assert.ok(kept !== undefined);
  await kept;
  assert.deepEqual(await left(), ['']);
});

test('A liveness probe of an idle journal leaves few messages, and steps that come later are found', async (context) => {
  const { clock, journal, pulse, messages, left } = await world(context);
  pulse.start();
  await clock.wait(300_000);
  assert.ok(journal.appends.count > 280, `${journal.appends.count} appends`);
  assert.ok((await messages()) < FEW, `${await messages()} messages`);
  await journal.keep(0, step(1));
  await clock.wait(300_000);
  pulse.stop();
  assert.deepEqual(await left(), ['step 1']);
});

test('A liveness probe after steps that are in the state leaves few messages, and none of the steps', async (context) => {
  const { clock, journal, pulse, messages, left } = await world(context);
  pulse.start();
  await journal.keep(0, step(1));
  await clock.wait(3000);
  const begunAt = journal.roundBegun();
  await clock.wait(10_000);
  await journal.roundOver(0, begunAt);
  await clock.wait(300_000);
  assert.ok((await messages()) < FEW, `${await messages()} messages`);
  await journal.keep(0, step(2));
  await clock.wait(300_000);
  pulse.stop();
  assert.deepEqual(await left(), ['step 2']);
});

test('A round completes up to its start, even if another one has started since', async (context) => {
  const { journal, left } = await world(context);
  await journal.keep(0, step(1));
  const first = journal.roundBegun();
  await journal.keep(0, step(2));
  journal.roundBegun();
  await journal.keep(0, step(3));
  await journal.roundOver(0, first);
  assert.deepEqual(await left(), ['step 2', 'step 3']);
});

test('Steps are retained when partitions are about to arrive, also if that is announced while the state is written', async (context) => {
  const { journal, state, left } = await world(context);
  await journal.keep(0, step(1));
  const first = journal.roundBegun();
  state.write = async () => {
    state.isAcquiring = true;
  };
  await journal.roundOver(0, first);
  assert.deepEqual(await left(), ['step 1']);
});

test('Departed objects are retained until they have arrived and the state is written', async (context) => {
  const { journal, state, left } = await world(context);
  journal.hold(7);
  await journal.keep(0, releasing('a'));
  const later = async (name: string): Promise<void> => {
    await journal.keep(0, step(name));
    await journal.roundOver(0, journal.roundBegun());
  };
  await later('b');
  // A successor releases more because of the same record.
  journal.hold(7);
  await later('c');
  state.write = async () => journal.markArrived(7);
  await later('d');
  state.write = async () => undefined;
  await journal.keep(0, step('e'));
  assert.deepEqual(await left(), ['', ...['a', 'b', 'c', 'd', 'e'].map((name) => `step ${name}`)]);
});

test('Departed objects are released when they have arrived and the state was written since', async (context) => {
  const { clock, journal, pulse, left } = await world(context);
  journal.hold(7);
  await journal.keep(0, releasing('a'));
  journal.markArrived(7);
  await journal.roundOver(0, journal.roundBegun());
  await journal.keep(0, step('b'));
  await journal.roundOver(0, journal.roundBegun());
  pulse.start();
  await clock.wait(200_000);
  pulse.stop();
  assert.deepEqual(await left(), []);
});

/** Releases 3 MB because of record 7 between other steps, while a server is killed after that time. */
async function releasedAround(context: TestContext, killAfterMs: number) {
  const { clock, cluster, journal, ...rest } = await world(context);
  const sizes: Promise<unknown>[] = [];
  const keep = (reply: ShardReply) => void sizes.push(journal.keep(0, reply) as Promise<unknown>);
  keep(releasing('a', { sequence: 6, effects: randomBytes(10) }));
  journal.hold(7);
  keep(releasing('b', { sequence: 7, effects: randomBytes(3_000_000) }));
  await clock.wait(killAfterMs);
  cluster.kill('n1');
  await Promise.all(sizes);
  const range = journal.heldRange(7);
  await journal.keep(0, releasing('c', { sequence: 8, effects: randomBytes(10) }));
  return { clock, journal, ...rest, range };
}

test('Released state is read by its position, whichever streams its record is in, while the journal goes on', async (context) => {
  let inBoth = 0;
  for (let killAfterMs = 0; killAfterMs < 30; killAfterMs += 3) {
    const { range, released } = await releasedAround(context, killAfterMs);
    const read = await released(range);
    assert.deepEqual(
      read?.filter(([sequence]) => sequence === 7),
      [[7, 3_000_000]],
      `${killAfterMs} ms`,
    );
    assert.ok(!read?.some(([sequence]) => sequence === 8));
    if (range.sequences.every((sequence) => sequence > 0)) inBoth++;
  }
  assert.ok(inBoth > 0);
});

test('Released state that a server does not have yet is incomplete, and an empty range is not', async (context) => {
  const { range, released } = await releasedAround(context, 0);
  assert.equal(await released({ ...range, before: range.before + 10 }), undefined);
  assert.deepEqual(await released(NO_MESSAGES), []);
});

test('A position in a journal that another hub has sent is checked', () => {
  const range = { from: 0, before: 2, sequences: [1, 0] };
  assert.ok(isRange(range));
  const malformed = [
    undefined,
    null,
    'x',
    { ...range, from: -1 },
    { ...range, before: 'x' },
    { ...range, sequences: [1] },
  ];
  for (const value of malformed) assert.ok(!isRange(value), JSON.stringify(value));
});

test('Events count as delivered only for what was released before that was recorded', async (context) => {
  const { journal, left, delivered } = await world(context);
  await journal.keep(0, releasing('a', { sequence: 7 }));
  await journal.keep(0, releasing('b', { sequence: 8 }));
  await journal.noteDelivered(7);
  await journal.keep(0, releasing('c', { sequence: 7 }));
  await left();
  assert.deepEqual(await delivered(), [7]);
});

test('Trimming leaves released state in the journal until it has arrived', async (context) => {
  const { clock, journal, range, released } = await releasedAround(context, 0);
  const trim = async (): Promise<void> => {
    for (let round = 0; round < 3; round++) {
      await journal.keep(0, step('later'));
      await journal.roundOver(0, journal.roundBegun());
      await clock.wait(5000);
    }
  };
  await trim();
  assert.deepEqual((await released(range))?.at(-1), [7, 3_000_000]);
  journal.markArrived(7);
  await trim();
  assert.equal(await released(range), undefined);
});

test('Steps are retained until each shard has written all changes since', async (context) => {
  const { journal, left } = await world(context, { shards: 3 });
  await journal.keep(0, step('a of 0'));
  const first = journal.roundBegun();
  await journal.keep(1, step('b of 1'));
  await journal.keep(0, step('c of 0'));
  const second = journal.roundBegun();
  await journal.roundOver(0, first);
  await journal.roundOver(0, second);
  // The third shard has changed nothing, and has no flushes.
  await journal.roundOver(1, second);
  await journal.keep(0, step('d of 0'));
  const third = journal.roundBegun();
  await journal.keep(0, step('e of 0'));
  await journal.roundOver(0, third);
  assert.deepEqual(await left(), ['step e of 0']);
});

test('Unneeded messages remain for three seconds, and are distinguished from needed ones', async (context) => {
  const { clock, journal, left, earlier } = await world(context);
  for (const name of ['a', 'b', 'c']) {
    await journal.keep(0, step(name));
    await journal.roundOver(0, journal.roundBegun());
    await clock.wait(name === 'a' ? 3100 : 1000);
  }
  await journal.keep(0, step('d'));
  assert.deepEqual(await left(), ['step d']);
  assert.deepEqual(await earlier(), ['step b', 'step c']);
});

test('Steps with part of a request are retained until all of it is journaled, and then the journal names it', async (context) => {
  for (const isWhole of [false, true]) {
    const { clock, journal, left, requests } = await world(context);
    const request = { ingress: 'front', number: 7 };
    await journal.keep(0, step('before'));
    journal.requests.begin(request);
    await journal.keep(0, step('part'));
    if (isWhole) journal.requests.journaled(request);
    journal.requests.begin({ ingress: 'another', number: 1 });
    journal.requests.forget('another');
    for (let i = 0; i < 3; i++) {
      await journal.roundOver(0, journal.roundBegun());
      await clock.wait(3100);
      await journal.keep(0, step(`later ${i}`));
    }
    assert.deepEqual(
      await left(),
      isWhole ? ['step later 2'] : ['part', 'later 0', 'later 1', 'later 2'].map((name) => `step ${name}`),
    );
    assert.deepEqual(await requests(), isWhole ? [['front', 7]] : []);
  }
});

test('Steps that one shard has written are retained for another', async (context) => {
  const { journal, left } = await world(context, { shards: 2 });
  await journal.keep(1, step('a of 1'));
  await journal.keep(0, step('b of 0'));
  const begunAt = journal.roundBegun();
  await journal.roundOver(0, begunAt);
  await journal.keep(0, step('c of 0'));
  assert.deepEqual(await left(), ['step a of 1', 'step b of 0', 'step c of 0']);
});

for (const [reads, isCommitted] of [
  ['latest', true],
  ['any', false],
] as const) {
  test(`Answers ${isCommitted ? '' : 'do not '}wait for the journal where reads are to be ${reads}, events always do`, async (context) => {
    const { clock, cluster, journal } = await world(context, { reads });
    const reply = (events: readonly unknown[]): ShardReply => {
      return { events, outcome: { answers: [{}], zoneMoves: [] } } as unknown as ShardReply;
    };
    const published: string[] = [];
    cluster.isolate('owner');
    void journal.keep(0, reply([{}]))?.then(() => published.push('event'));
    const answered = journal.keep(0, reply([]));
    assert.equal(answered !== undefined, isCommitted);
    await clock.wait(5000);
    assert.deepEqual(published, []);
    cluster.restore('owner');
    await answered;
    await clock.wait(5000);
    assert.deepEqual(published, ['event']);
  });
}

test('A liveness probe is late two seconds after the last append, until the next one is stored', async (context) => {
  const { clock, cluster, pulse } = await world(context);
  assert.equal(pulse.lateMs, undefined);
  pulse.start();
  await clock.wait(10_000);
  assert.equal(pulse.lateMs, undefined);
  cluster.isolate('owner');
  await clock.wait(900);
  assert.equal(pulse.lateMs, undefined);
  await clock.wait(2200);
  assert.ok((pulse.lateMs ?? 0) > 2000, `${pulse.lateMs} ms`);
  cluster.restore('owner');
  await clock.wait(3000);
  assert.equal(pulse.lateMs, undefined);
  pulse.stop();
});

test('A hub that owns nothing learns by its pulse that others have sealed its journal', async (context) => {
  const { clock, pulse, ended, seal } = await world(context);
  pulse.start();
  await clock.wait(5000);
  await seal();
  await clock.wait(2000);
  assert.match(ended[0]?.message ?? '', /was sealed by "other"/);
});
