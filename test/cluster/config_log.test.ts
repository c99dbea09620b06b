import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Packr } from 'msgpackr';
import type { Bus, StreamState } from '../../src/cluster/nats/bus.ts';
import {
  type AppliedRecord,
  type ConfigAppended,
  type ConfigLog,
  type ConfigLogOptions,
  openConfigLog,
} from '../../src/cluster/config/config_log.ts';
import { type ConfigBody, packRecord, unpackRecord } from '../../src/cluster/config/config_record.ts';
import { lend } from '../../src/model/borrowed.ts';
import { schedule } from '../../src/time/clock.ts';
import { type Dice, diceOf } from '../support/dice.ts';
import { readAll, textOf, up, utf8 } from './contract.ts';
import { SimulatedCluster } from './simulated_bus.ts';
import { SimulatedClock } from './simulated_clock.ts';
import { natsWorld, testNats } from './test_nats.ts';

const nats = await testNats();
const SEEDS = 24;
const HUBS = ['a', 'b', 'c'] as const;
const PROTOCOL: ConfigBody = { kind: 'protocol', version: 1 };
const MAP = { epoch: 3, members: ['x', 'y'], owners: Array.from({ length: 256 }, (_, i) => (i % 3) - 1) };

const BODIES: readonly ConfigBody[] = [
  {
    ...{ kind: 'change', by: 'x' },
    changes: [
      ['zone', 'z', '{"id":"z"}', false],
      ['fence', 'f', null, true],
    ],
  },
  { kind: 'ensure', by: 'x', providers: [['p', '{"id":"p"}']] },
  { kind: 'join', incarnation: 'x', name: 'hub 1', protocols: [1], digest: 'd' },
  { kind: 'map', ...MAP, collisionOwner: -1 },
  { kind: 'expel', incarnation: 'y', ...MAP, collisionOwner: 0 },
  { kind: 'leave', incarnation: 'y', ...MAP, collisionOwner: 1 },
  { kind: 'took', by: 'x', of: 'y', partitions: [0, 255] },
  PROTOCOL,
  {
    ...{ kind: 'regroup', by: 'x' },
    changes: [['trackable', 't', '{"id":"t"}', false]],
    objects: [
      ['trackable', 't', 0, 255],
      ['provider', 'p', 7, 255],
    ],
  },
  { kind: 'arrived', by: 'x', sequence: 2 ** 40, partitions: [0, 255] },
];

/** A hub whose state is the ids of all records. */
interface TestHub {
  readonly log: ConfigLog;
  readonly state: string[];
  /** Records passed to `apply`. */
  readonly applied: AppliedRecord[];
  readonly stops: Error[];
  readonly notices: string[];
  /** The id of the last append. */
  lastId: string;
}

type Given = Pick<ConfigLogOptions, 'bus' | 'name' | 'elapsed' | 'schedule'> & Partial<ConfigLogOptions>;

const PART_IDS = 10;

/** A snapshot of a state, in messages of some ids each. */
function partsOf(state: readonly string[]): Uint8Array[] {
  const count = Math.ceil(state.length / PART_IDS);
  return Array.from({ length: count }, (_, i) => utf8(state.slice(i * PART_IDS, (i + 1) * PART_IDS).join(',')));
}

let ids = 0;

async function openHub(given: Given): Promise<TestHub> {
  const hub = { state: [], applied: [], stops: [], notices: [], lastId: '' } as Omit<TestHub, 'log'>;
  const log = await openConfigLog({
    ...{ replicas: 3, storage: 'file', shouldSnapshot: () => false },
    restore: (parts) => void hub.state.splice(0, Infinity, ...parts.flatMap((part) => textOf(part).split(','))),
    apply: (record) => {
      hub.state.push(record.id);
      hub.applied.push(record);
    },
    snapshot: () => partsOf(hub.state),
    stopped: (error) => hub.stops.push(error),
    notice: (text) => hub.notices.push(text),
    newId: () => {
      hub.lastId = `id ${++ids}`;
      return hub.lastId;
    },
    ...given,
  });
  return Object.assign(hub, { log });
}

function simulated(context: TestContext, seed = 1) {
  const clock = new SimulatedClock();
  context.after(clock.run());
  const cluster = new SimulatedCluster({ clock, seed });
  const open = (name: string, more: Partial<ConfigLogOptions> = {}) =>
    openHub({
      ...{ bus: more.bus ?? cluster.bus(name), name: 'hub', elapsed: clock.elapsed },
      schedule: (delayMs, callback) => cluster.schedule(name, delayMs, callback),
      ...more,
    });
  return { clock, cluster, open };
}

/** The records that the stream has. */
async function recordsOf(bus: Bus, name = 'hub'): Promise<{ sequence: number; id: string }[]> {
  const settings = { name: `${name}_CONFIG`, subjects: [`${name}.cfg`], replicas: 3, storage: 'file' } as const;
  const found = await readAll(bus, settings, 1);
  return found.map(({ bytes, sequence }) => ({ sequence, id: unpackRecord(lend(bytes), sequence).id }));
}

async function stateOf(bus: Bus, stream = 'hub_CONFIG'): Promise<StreamState> {
  const [state] = await bus.streams(stream);
  assert.ok(state);
  return state;
}

test('packRecord and unpackRecord carry every kind', () => {
  for (const body of BODIES) {
    assert.deepEqual(unpackRecord(lend(packRecord('1', body)), 7), { sequence: 7, id: '1', body });
  }
});

const MISFITS: readonly [what: string, value: unknown, message: RegExp][] = [
  [
    'a later version',
    [2, 'protocol', 'i', 2],
    /record 1: the cluster uses version 2 of its protocol, but this hub supports 1$/,
  ],
  ['an unknown kind', [1, 'constructor', 'i'], /record 1: kind must be one of change, .*, but is "constructor"$/],
  ['no list', { kind: 'map' }, /record 1: it must be a list, but is {"kind":"map"}$/],
  ['too few fields', [1, 'ensure', 'i', 'x'], /record 1 \(ensure\): number of fields must be 2, but is 1$/],
  ['too many fields', [1, 'protocol', 'i', 1, 2], /record 1 \(protocol\): number of fields must be 1, but is 2$/],
  ['no id', [1, 'protocol', 5, 1], /record 1 \(protocol\): id must be a string, but is 5$/],
  ['a field of another type', [1, 'protocol', 'i', -1], /\(protocol\): version must be a whole number, but is -1$/],
  ['a wrong row', [1, 'change', 'i', 'x', [['zone', 'z', 1, true]]], /changes must be a list.*but is \[\["zone","z",1/],
  ['a short map', [1, 'map', 'i', 1, ['x'], [0, 0], 0], /owners must be a list of 256, .*but is \[0,0\]$/],
];

for (const [what, value, message] of MISFITS) {
  test(`ConfigLog stops at a record with ${what}, and names it`, async (context) => {
    const { clock, cluster, open } = simulated(context);
    const bus = cluster.bus('a');
    const hub = await open('a', { bus });
    const bytes = new Packr({ useRecords: false }).pack(value);
    await bus.append({ stream: 'hub_CONFIG', subject: 'hub.cfg', bytes, timeoutMs: 1000 });
    await clock.wait(1000);
    assert.deepEqual([hub.stops.length, hub.applied.length, hub.log.applied], [1, 0, 0]);
    assert.match(hub.stops[0]?.message ?? '', message);
    await assert.rejects(hub.log.append(PROTOCOL), { code: 'HUB_UNAVAILABLE', message });
    await assert.rejects(hub.log.reached(1, 1000), { code: 'HUB_UNAVAILABLE', message });
    let isReported = false;
    await assert.rejects(open('b', { stopped: () => (isReported = true) }), { message });
    assert.equal(isReported, false, 'a hub that opens gets it twice');
  });
}

test('ConfigLog appends nothing that could not be read', async (context) => {
  const { cluster, open } = simulated(context);
  const bus = cluster.bus('a');
  const { log } = await open('a', { bus });
  await assert.rejects(log.append({ kind: 'protocol', version: 1.5 }), /version must be a whole number, but is 1.5$/);
  const text = 'x'.repeat(8_000_000);
  await assert.rejects(
    log.append({ kind: 'ensure', by: text, providers: [] }),
    /a message may have at most 8000000 bytes/,
  );
  await assert.rejects(log.append(PROTOCOL, 5), /Cannot append after record 5: the last one is 0$/);
  assert.deepEqual(await log.append(PROTOCOL, 0), { at: 'committed', sequence: 1 });
  assert.equal((await recordsOf(bus)).length, 1);
});

test('ConfigLog stops at a record that cannot be applied, and rejects waiting appends', async (context) => {
  const { cluster, open } = simulated(context);
  const bus = cluster.bus('a');
  const apply = ({ sequence }: AppliedRecord): void => {
    if (sequence === 2) throw new Error('no room for record 2');
  };
  const hub = await open('a', { bus, apply });
  const appended = [1, 2, 3].map(() => hub.log.append(PROTOCOL));
  const reached = assert.rejects(hub.log.reached(3, 5000), /no room/);
  const settled = await Promise.allSettled(appended);
  assert.deepEqual(
    settled.map(({ status }) => status),
    ['fulfilled', 'rejected', 'rejected'],
  );
  assert.deepEqual(
    hub.stops.map(({ message }) => message),
    ['no room for record 2'],
  );
  await reached;
  assert.equal(hub.log.applied, 1);
});

/** Outcome of one append. */
interface Tried {
  readonly hub: string;
  readonly id: string;
  readonly expected: number | undefined;
  readonly outcome: ConfigAppended | Error;
  readonly tookMs: number;
}

/** Appends a few at a time until the end, and returns their outcomes. */
async function load(
  clock: SimulatedClock,
  { name, hub, dice, isOver }: { name: string; hub: TestHub; dice: Dice; isOver: () => boolean },
): Promise<readonly Tried[]> {
  const tried: Tried[] = [];
  const one = async (): Promise<void> => {
    const expected = dice(3) === 0 ? undefined : hub.log.applied;
    const startMs = clock.nowMs;
    const appending = hub.log.append(BODIES[dice(BODIES.length)] ?? PROTOCOL, expected);
    const id = hub.lastId;
    const outcome = await appending.catch((error: Error) => error);
    if ('at' in outcome && outcome.at === 'committed')
      assert.ok(hub.log.applied >= outcome.sequence, 'kept, not applied');
    tried.push({ hub: name, id, expected, outcome, tookMs: clock.nowMs - startMs });
  };
  while (!isOver()) {
    await Promise.all(Array.from({ length: 1 + dice(3) }, one));
    await clock.wait(dice(1000));
  }
  return tried;
}

/** Injects one fault after another, and ends all of them. */
async function trouble(cluster: SimulatedCluster, dice: Dice): Promise<void> {
  const servers = ['n1', 'n2', 'n3'] as const;
  for (let i = 0; i < 8; i++) {
    const server = servers[dice(3)] ?? 'n1';
    const hub = HUBS[dice(3)] ?? 'a';
    const kind = dice(6);
    if (kind === 0) cluster.kill(server);
    if (kind === 1) cluster.kill(cluster.leaderOf('hub_CONFIG'));
    if (kind === 2) cluster.isolate(hub);
    if (kind === 3) cluster.deafen(hub);
    if (kind === 4) cluster.cut(hub, server);
    if (kind === 5) cluster.cut('n1', server);
    await cluster.clock.wait(dice(16_000));
    for (const each of servers) {
      cluster.resume(each);
      cluster.restore(each);
    }
    for (const each of HUBS) cluster.restore(each);
    await cluster.clock.wait(dice(1500));
  }
}

/** Stops a hub for a while, repeatedly. */
async function standStill(cluster: SimulatedCluster, dice: Dice): Promise<void> {
  for (let i = 0; i < 6; i++) {
    const hub = HUBS[dice(3)] ?? 'a';
    cluster.stop(hub);
    await cluster.clock.wait(dice(4000));
    cluster.resume(hub);
    await cluster.clock.wait(dice(4000));
  }
}

const SEEN = { committed: 0, overtaken: 0, inDoubt: 0, notCommitted: 0, keptLate: 0 };

for (let seed = 1; seed <= SEEDS; seed++) {
  test(`ConfigLog applies the same order on all hubs, and reports stored appends, with faults of seed ${seed}`, async (context) => {
    const { clock, cluster, open } = simulated(context, seed);
    const dice = diceOf(seed + 1000);
    const reader = cluster.bus('reader');
    const hubs = await Promise.all(HUBS.map((name) => open(name)));
    cluster.mishaps.unanswered = 150;
    let isOver = false;
    const loads = hubs.map((hub, index) => load(clock, { name: HUBS[index] ?? '', hub, dice, isOver: () => isOver }));
    await trouble(cluster, dice);
    const isStopping = seed % 2 === 0;
    if (isStopping) await standStill(cluster, dice);
    cluster.mishaps.unanswered = 0;
    isOver = true;
    const tried = (await Promise.all(loads)).flat();
    // The faults are over: all hubs can append, and reach the same state.
    const last = await Promise.all(hubs.map(({ log }) => log.append(PROTOCOL)));
    const end = Math.max(...last.map((appended) => (appended.at === 'committed' ? appended.sequence : NaN)));
    await Promise.all(hubs.map(({ log }) => log.reached(end, 10_000)));

    const records = await recordsOf(reader);
    const texts = records.map(({ id }) => id);
    assert.equal(new Set(texts).size, texts.length, 'a record was appended twice');
    for (const { state, applied, stops } of hubs) {
      assert.deepEqual(state, texts);
      assert.deepEqual(
        applied.map(({ sequence }) => sequence),
        texts.map((_, index) => index + 1),
      );
      assert.deepEqual(stops, []);
    }
    checkOutcomes(tried, texts);
    for (const [index, { applied }] of hubs.entries()) {
      const own = applied.filter(({ isOwn }) => isOwn).map(({ id }) => id);
      const kept = tried.filter(
        ({ hub, outcome }) => hub === HUBS[index] && 'at' in outcome && outcome.at === 'committed',
      );
      assert.deepEqual(
        new Set(own.slice(0, -1)),
        new Set(kept.map(({ id }) => id)),
        'isOwn matches the appends that were acknowledged',
      );
    }
    const longestMs = Math.max(...tried.map(({ tookMs }) => tookMs));
    assert.ok(isStopping || longestMs <= 12_001, `an append took ${longestMs} ms`);
    assert.deepEqual((await open('late')).state, texts);
  });
}

/** Compares the reported outcomes of appends with the log. */
function checkOutcomes(tried: readonly Tried[], texts: readonly string[]): void {
  for (const { id, expected, outcome } of tried) {
    const found = texts.indexOf(id) + 1;
    if (outcome instanceof Error) {
      const isInDoubt = /^Cannot say whether/.test(outcome.message);
      assert.ok(isInDoubt || found === 0, `${outcome.message}, but it is record ${found}`);
      SEEN[isInDoubt ? 'inDoubt' : 'notCommitted']++;
      if (found > 0) SEEN.keptLate++;
    } else if (outcome.at === 'overtaken') {
      assert.equal(found, 0, 'overtaken, but kept');
      assert.ok(expected !== undefined, 'overtaken without an expectation');
      SEEN.overtaken++;
    } else {
      assert.equal(found, outcome.sequence);
      if (expected !== undefined) assert.equal(outcome.sequence, expected + 1);
      SEEN.committed++;
    }
  }
}

test('The seeds have shown every outcome of an append', (context) => {
  context.diagnostic(JSON.stringify(SEEN));
  assert.ok(SEEN.committed > 100 * SEEDS && SEEN.overtaken > 10 * SEEDS, JSON.stringify(SEEN));
  assert.ok(SEEN.inDoubt > 0 && SEEN.keptLate > 0, JSON.stringify(SEEN));
});

test('ConfigLog learns stored appends from the log when all answers are lost', async (context) => {
  const { clock, cluster, open } = simulated(context);
  const [a, b] = await Promise.all([open('a'), open('b')]);
  cluster.mishaps.unanswered = 1000;
  const startMs = clock.nowMs;
  for (let i = 0; i < 20; i++) {
    const { applied } = a.log;
    assert.deepEqual(await a.log.append(PROTOCOL, applied), { at: 'committed', sequence: applied + 1 });
    const both: readonly ConfigAppended[] = await Promise.all([a.log.append(PROTOCOL), b.log.append(PROTOCOL)]);
    for (const { at } of both) assert.equal(at, 'committed');
    await Promise.all([a, b].map(({ log }) => log.reached(applied + 3, 1000)));
  }
  assert.ok(clock.nowMs - startMs < 20 * 500, `${clock.nowMs - startMs} ms`);
  assert.deepEqual(a.state, b.state);
  assert.equal(a.state.length, 60);
});

test('ConfigLog rejects an append in time while NATS is unreachable, and applies it later if it was stored', async (context) => {
  const { clock, cluster, open } = simulated(context);
  const [a, b] = await Promise.all([open('a'), open('b')]);
  cluster.deafen('a');
  const startMs = clock.nowMs;
  const appends = [a.log.append(PROTOCOL, 0), a.log.append(PROTOCOL), a.log.reached(1, 3000)];
  const [first, second, reached] = await Promise.allSettled(appends);
  assert.match(messageOf(first), /^Cannot say whether the configuration was changed/);
  assert.match(messageOf(second), /^Cannot change the configuration: the changes before it/);
  assert.match(
    messageOf(reached),
    /^Cannot wait for configuration record 1 any longer: after 3,000 ms the last one is 0$/,
  );
  assert.ok(clock.nowMs - startMs <= 12_001, `${clock.nowMs - startMs} ms`);
  cluster.restore('a');
  await Promise.all([a, b].map(({ log }) => log.reached(1, 10_000)));
  assert.deepEqual(
    a.applied.map(({ isOwn }) => isOwn),
    [false],
  );
  assert.deepEqual(await a.log.append(PROTOCOL, 0), { at: 'overtaken' });
  assert.deepEqual(await a.log.append(PROTOCOL, 1), { at: 'committed', sequence: 2 });
});

function messageOf(settled: PromiseSettledResult<unknown> | undefined): string {
  assert.equal(settled?.status, 'rejected');
  assert.equal(settled.reason.code, 'HUB_UNAVAILABLE');
  return settled.reason.message;
}

test('ConfigLog rejects an append while the stream is full, and continues when there is space', async (context) => {
  const { cluster, open } = simulated(context);
  const bus = cluster.bus('a');
  const { log } = await open('a', { bus });
  const settings = { name: 'hub_CONFIG', subjects: ['hub.cfg'], replicas: 3, storage: 'file' } as const;
  await bus.alterStream({ ...settings, bytesMax: 10 });
  await assert.rejects(log.append(PROTOCOL, 0), {
    code: 'HUB_UNAVAILABLE',
    message: 'Cannot change the configuration: its stream is full',
  });
  await bus.alterStream(settings);
  assert.deepEqual(await log.append(PROTOCOL, 0), { at: 'committed', sequence: 1 });
});

test('ConfigLog waits while the queue is full, and rejects at the deadline', async (context) => {
  const { clock, cluster, open } = simulated(context);
  const { log, applied } = await open('a', { appendMs: 1000 });
  cluster.mishaps.busy = 1000;
  const body = { kind: 'protocol', version: 1 } as const;
  const refused = log.append(body);
  await assert.rejects(refused, { code: 'HUB_UNAVAILABLE', message: /^Cannot change the configuration: .*too much/ });
  const kept = log.append(body);
  await clock.wait(100);
  cluster.mishaps.busy = 0;
  assert.deepEqual(await kept, { at: 'committed', sequence: 1 });
  assert.equal(applied.length, 1);
});

test('ConfigLog does not abandon an append that may still be stored', async (context) => {
  const { clock, cluster, open } = simulated(context);
  const bus = cluster.bus('a');
  let tries = 0;
  // The first attempt is stored late, after the servers have reported that they are full.
  const append: Bus['append'] = async (given) => {
    if (++tries > 1) return { at: 'full' };
    clock.schedule(500, () => void bus.append(given));
    return { at: 'unknown' };
  };
  const { log } = await open('a', { bus: withAppend(bus, append) });
  assert.deepEqual(await log.append(PROTOCOL, 0), { at: 'committed', sequence: 1 });
  assert.ok(tries > 1);
});

test('ConfigLog repeats a refused append if no other record arrives', async (context) => {
  const { clock, cluster, open } = simulated(context);
  const bus = cluster.bus('a');
  let tries = 0;
  const { log } = await open('a', {
    bus: withAppend(bus, async (given) => (++tries > 2 ? bus.append(given) : { at: 'refused' })),
  });
  const startMs = clock.nowMs;
  assert.deepEqual(await log.append(PROTOCOL, 0), { at: 'committed', sequence: 1 });
  assert.ok(clock.nowMs - startMs < 1000, `${clock.nowMs - startMs} ms`);
});

/** A bus that appends in another way. */
function withAppend(bus: Bus, append: Bus['append']): Bus {
  return new Proxy(bus, {
    get(target, key: keyof Bus) {
      if (key === 'append') return append;
      const value = target[key];
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

test('ConfigLog rejects appends beyond its bounds, and all pending ones when it is closed', async (context) => {
  const { open } = simulated(context);
  const { log, state } = await open('a');
  const appends = Array.from({ length: 1001 }, () => log.append(PROTOCOL));
  const settled = Promise.allSettled(appends);
  await assert.rejects(appends[1000] as Promise<unknown>, /1,000 changes of [\d,]+ bytes are waiting already$/);
  await appends[0];
  log.close();
  const [first, ...others] = await settled;
  assert.equal(first?.status, 'fulfilled');
  for (const each of others.slice(0, -1)) assert.match(messageOf(each), /the configuration log is closed$/);
  await assert.rejects(log.append(PROTOCOL), /the configuration log is closed$/);
  assert.equal(state.length, log.applied);
});

/** Appends that many records, one after another. */
async function appendMany(hub: TestHub, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    assert.equal((await hub.log.append(PROTOCOL)).at, 'committed');
  }
}

for (const seed of [1, 2, 3, 4, 5, 6]) {
  test(`ConfigLog opens from the newest snapshot and later records, with faults of seed ${seed}`, async (context) => {
    const { clock, cluster, open } = simulated(context, seed);
    const bus = cluster.bus('a');
    const more = { snapshotEvery: 20, shouldSnapshot: () => true };
    // Both hubs try to write snapshots.
    const [a, b] = await Promise.all([open('a', { bus, ...more }), open('b', more)]);
    cluster.mishaps.unanswered = 300;
    const late: TestHub[] = [];
    for (const name of ['c', 'd', 'e', 'f']) {
      await appendMany(a, 23);
      // While it opens, the log grows, and newer snapshots replace the one that it reads.
      const [hub] = await Promise.all([open(name), appendMany(a, 23)]);
      late.push(hub);
    }
    cluster.kill(cluster.leaderOf('hub_SNAP'));
    await Promise.all([appendMany(a, 20), appendMany(b, 20)]);
    for (const server of ['n1', 'n2', 'n3']) cluster.resume(server);
    cluster.mishaps.unanswered = 0;
    await clock.wait(60_000);
    await appendMany(a, 20);
    await clock.wait(1000);
    late.push(await open('g'));
    for (const { log } of [b, ...late]) await log.reached(a.log.applied, 5000);
    for (const { state } of [b, ...late]) assert.deepEqual(state, a.state);
    assert.ok((late.at(-1)?.applied.length ?? Infinity) < 20, 'records were applied that the snapshot has');
    const { firstSequence, lastSequence } = await stateOf(bus);
    // Trimmed to the snapshot before the last, which may be older than usual if one was not written.
    assert.equal(firstSequence % 20, 1);
    assert.ok(lastSequence - firstSequence >= 20 && lastSequence - firstSequence < 80, `${firstSequence}`);
    const { messages } = await stateOf(bus, 'hub_SNAP');
    assert.equal(messages, (lastSequence - (lastSequence % 20)) / PART_IDS + 1);
  });
}

test('ConfigLog recognises its snapshot when the answer was lost, and trims the log', async (context) => {
  const { clock, cluster, open } = simulated(context);
  const bus = cluster.bus('a');
  const hub = await open('a', { bus, snapshotEvery: 5, shouldSnapshot: () => true });
  cluster.mishaps.unanswered = 1000;
  for (let i = 0; i < 2; i++) {
    await appendMany(hub, 5);
    await clock.wait(10_000);
  }
  assert.deepEqual(hub.notices, []);
  assert.equal((await stateOf(bus)).firstSequence, 6);
});

test('ConfigLog reports that no snapshot was written, and retries', async (context) => {
  const { clock, open } = simulated(context);
  let isFailing = true;
  const hub: TestHub = await open('a', {
    snapshotEvery: 5,
    shouldSnapshot: () => true,
    snapshot: () => {
      if (isFailing) throw new Error('no memory');
      return partsOf(hub.state);
    },
  });
  await appendMany(hub, 7);
  assert.deepEqual(hub.notices, ['Cannot write a snapshot of configuration record 5: no memory']);
  isFailing = false;
  await clock.wait(10_000);
  await appendMany(hub, 1);
  await clock.wait(1000);
  const late = await open('b');
  assert.deepEqual([late.state, late.applied.length], [hub.state, 0]);
});

test('ConfigLog does not open if records are missing', async (context) => {
  const { cluster, open } = simulated(context);
  const bus = cluster.bus('a');
  const hub = await open('a', { bus });
  await appendMany(hub, 5);
  await bus.purge('hub_CONFIG', 'hub.cfg', 3);
  await assert.rejects(open('b'), /record 1 must be next, found 3,/);
  await bus.deleteStream('hub_CONFIG');
  const snapshots = { stream: 'hub_SNAP', subject: 'hub.snap', expects: { lastOfSubject: 0 }, timeoutMs: 1000 };
  const end = new Packr({ useRecords: false }).pack([1, 'snapshot', 9, 0]);
  await bus.replace({ ...snapshots, messages: [end] });
  await assert.rejects(open('b'), /its snapshot includes record 9, but the log ends at 0$/);
});

test('ConfigLog does the same on a NATS server', { skip: nats.skip }, async (context) => {
  const world = await natsWorld(context, nats);
  const open = (bus: Bus): Promise<TestHub> =>
    openHub({
      ...{ bus, name: world.name, replicas: 1, elapsed: () => performance.now(), schedule },
      ...{ snapshotEvery: 20, shouldSnapshot: () => true },
    });
  const buses = [world.bus('a'), world.bus('b'), world.bus('c')] as const;
  await Promise.all(buses.map(up));
  const [a, b] = await Promise.all([open(buses[0]), open(buses[1])]);
  const append = async ({ log }: TestHub): Promise<number> => {
    for (let overtaken = 0; ; overtaken++) {
      const appended = await log.append(BODIES[log.applied % BODIES.length] ?? PROTOCOL, log.applied);
      if (appended.at === 'committed') return overtaken;
    }
  };
  let overtaken = 0;
  for (let i = 0; i < 50; i++) {
    const found = await Promise.all([append(a), append(b)]);
    overtaken += found[0] + found[1];
  }
  assert.ok(overtaken > 0);
  world.cut('a');
  const cut = a.log.append(PROTOCOL);
  await b.log.append(PROTOCOL);
  world.restore('a');
  assert.equal((await cut).at, 'committed');
  // Snapshots are written in the meantime, and the log is trimmed up to the second newest.
  let first = 0;
  for (let i = 0; first <= 40 && i < 500; i++) {
    await b.log.append(PROTOCOL);
    first = (await stateOf(buses[1], `${world.name}_CONFIG`)).firstSequence;
  }
  assert.ok(first > 40 && first % 20 === 1, `${first}`);
  const c = await open(buses[2]);
  const { sequence } = keptOf(await c.log.append(PROTOCOL));
  await Promise.all([a, b].map(({ log }) => log.reached(sequence, 5000)));
  assert.deepEqual(b.state, a.state);
  assert.deepEqual(c.state, a.state);
  assert.equal(a.state.length, sequence);
  assert.ok(c.applied.length < sequence - 40, 'records were applied that the snapshot has');
});

function keptOf(appended: ConfigAppended) {
  assert.equal(appended.at, 'committed');
  return appended;
}
