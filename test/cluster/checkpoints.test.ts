import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Bus, Message } from '../../src/cluster/nats/bus.ts';
import { Checkpoints, type CheckpointsOptions, makeStateStream } from '../../src/cluster/state/checkpoints.ts';
import { RowBuffer } from '../../src/cluster/state/row_buffer.ts';
import { packState, unpackState } from '../../src/cluster/state/state_message.ts';
import type { CollisionRow } from '../../src/core/collision/row.ts';
import type { StoredRow, LastKnownRow } from '../../src/core/item.ts';
import { PackedRows } from '../../src/core/row_bytes.ts';
import { copied } from '../../src/model/borrowed.ts';
import { schedule } from '../../src/time/clock.ts';
import { TaskScheduler } from '../../src/time/task_scheduler.ts';
import { packedRows } from '../../src/wire/store_messages.ts';
import { type Dice, diceOf } from '../support/dice.ts';
import { readAll, up } from './contract.ts';
import { SimulatedCluster } from './simulated_bus.ts';
import { SimulatedClock } from './simulated_clock.ts';
import { natsWorld, testNats } from './test_nats.ts';

const nats = await testNats();
const SEEDS = 40;
const PARTITIONS = [0, 1, 2, 3];
const ALL = Array.from({ length: 256 }, (_, partition) => partition);

function objectRow(id: string, version: string | undefined): LastKnownRow {
  if (version === undefined) return { kind: 'trackable', id, gone: true };
  return {
    ...{ kind: 'trackable', id, receivedMs: 5, eventTimeMs: 4, location: version },
    memberships: [['fence', 3, [1, 2, 3, 4]]] as unknown as (LastKnownRow & { gone?: false })['memberships'],
  };
}

function pairRow(id: string, version: string | undefined): CollisionRow {
  return version === undefined
    ? { kind: 'collision', id, gone: true }
    : { kind: 'collision', id, startMs: 7, bodies: version };
}

async function allRows(checkpoints: Checkpoints): Promise<Map<string, StoredRow>> {
  const found = new Map<string, StoredRow>();
  for await (const rows of checkpoints.rows()) {
    assert.ok(rows.length > 0 && rows.length <= 5000);
    for (const row of rows) {
      assert.ok(!found.has(row.id), `two rows of ${row.id}`);
      found.set(row.id, row);
    }
  }
  return found;
}

function versionOf(row: StoredRow | undefined): string | undefined {
  if (row === undefined) return undefined;
  assert.notEqual(row.gone, true);
  if (row.kind === 'collision') return (row as { bodies: string }).bodies;
  // Nothing of it is lost on the way.
  assert.deepEqual(row, objectRow(row.id, (row as { location: string }).location));
  return (row as { location: string }).location;
}

type Given = Pick<CheckpointsOptions, 'bus' | 'incarnation'> & Partial<CheckpointsOptions>;

async function open(given: Given): Promise<Checkpoints> {
  const options: CheckpointsOptions = {
    ...{ name: 'hub', replicas: 3, storage: 'file', turns: new TaskScheduler(), schedule },
    partitionOf: () => 0,
    notice: () => undefined,
    ...given,
  };
  await makeStateStream(options);
  return new Checkpoints(options);
}

function simulated(context: TestContext, seed = 1) {
  const clock = new SimulatedClock();
  context.after(clock.run());
  const cluster = new SimulatedCluster({ clock, seed });
  const enter = async (incarnation: string, more: Partial<CheckpointsOptions> = {}): Promise<Checkpoints> => {
    const bus = cluster.bus(incarnation);
    await up(bus);
    const later = (ms: number, callback: () => void): (() => void) => cluster.schedule(incarnation, ms, callback);
    return open({ bus, incarnation, schedule: later, ...more });
  };
  return { clock, cluster, enter };
}

/** Versions of an object as its owner has written them; undefined where it did not exist or was deleted. */
interface WrittenObject {
  readonly versions: (string | undefined)[];
  /** No older version may be read any more. */
  acknowledged: number;
}

const OBJECTS = Array.from({ length: 12 }, (_, i) => `object ${i}`);
const PAIRS = Array.from({ length: 4 }, (_, i) => `pair ${i}`);

/** Consecutive owners that write the state, through faults. */
class World {
  readonly clock: SimulatedClock;
  readonly cluster: SimulatedCluster;
  readonly dice: Dice;
  readonly written = new Map(
    [...OBJECTS, ...PAIRS].map((id): [string, WrittenObject] => [id, { versions: [undefined], acknowledged: 0 }]),
  );
  /** Partition of each object. */
  readonly partitions = new Map<string, number>();
  readonly #enter: ReturnType<typeof simulated>['enter'];
  #versions = 0;
  #epoch = 0;
  seen = { acknowledged: 0, lost: 0, overtaken: 0, takeovers: 0 };

  constructor(context: TestContext, seed: number) {
    const { clock, cluster, enter } = simulated(context, seed);
    this.clock = clock;
    this.cluster = cluster;
    this.#enter = enter;
    this.dice = diceOf(seed + 500);
  }

  /** Lets another hub take over, and checks the rows that it reads. */
  async takeOver(): Promise<{ name: string; checkpoints: Checkpoints }> {
    const { dice } = this;
    if (this.#epoch > 0 && dice(3) === 0) await this.#hesitate();
    const epoch = ++this.#epoch;
    const name = `i${epoch}`;
    const checkpoints = await this.#open(name);
    const before = new Map(Array.from(this.written, ([id, { acknowledged }]) => [id, acknowledged]));
    await checkpoints.claim({ partitions: PARTITIONS, collisions: true, epoch });
    const rows = await allRows(checkpoints);
    for (const [id, written] of this.written) {
      const version = versionOf(rows.get(id));
      const index = written.versions.lastIndexOf(version);
      assert.ok(
        index >= (before.get(id) ?? 0),
        `${id} is "${version}" for ${name}, not ${written.versions.slice(before.get(id))}`,
      );
      this.written.set(id, { versions: [version], acknowledged: 0 });
    }
    this.seen.takeovers++;
    return { name, checkpoints };
  }

  /** A hub is stopped during its claim; when it goes on, another hub has claimed by a later map. */
  async #hesitate(): Promise<void> {
    const epoch = ++this.#epoch;
    const name = `i${epoch}`;
    const checkpoints = await this.#open(name);
    const claiming = checkpoints.claim({ partitions: PARTITIONS, collisions: true, epoch });
    const isOut = claiming.then(
      () => false,
      (error: Error) => error.name === 'CheckpointsLost',
    );
    await this.clock.wait(this.dice(10));
    this.cluster.stop(name);
    this.clock.schedule(1000 + this.dice(3000), () => this.cluster.resume(name));
    void isOut.then((isLost) => {
      if (isLost) this.seen.overtaken++;
    });
  }

  #open(name: string): Promise<Checkpoints> {
    const partitionOf = (_: string, id: string): number => this.partitions.get(id) ?? 0;
    return this.#enter(name, { partitionOf, compactBytes: 1500 });
  }

  /** Writes rows for some time, as the owner. Reads return the latest. */
  async own(checkpoints: Checkpoints, turns: number): Promise<void> {
    const { dice, clock } = this;
    for (let turn = 0; turn < turns; turn++) {
      const kind = dice(10);
      if (kind < 6) this.#note(checkpoints);
      else if (kind < 8) this.#acknowledge(OBJECTS, checkpoints.write());
      else if (kind < 9) this.#collide(checkpoints);
      else this.partitions.set(OBJECTS[dice(OBJECTS.length)] as string, dice(4));
      if (dice(20) === 0) {
        const rows = await allRows(checkpoints);
        for (const [id, { versions }] of this.written) assert.equal(versionOf(rows.get(id)), versions.at(-1), id);
      }
      await clock.wait(dice(30));
    }
  }

  #note(checkpoints: Checkpoints): void {
    const ids = Array.from({ length: this.dice(4) }, () => OBJECTS[this.dice(OBJECTS.length)] as string);
    const rows = ids.map((id) => objectRow(id, this.#next(id)));
    checkpoints.note(this.dice(2) === 0 ? rows : packedRows(rows));
  }

  #collide(checkpoints: Checkpoints): void {
    const id = PAIRS[this.dice(PAIRS.length)] as string;
    const row = pairRow(id, this.#next(id));
    this.#acknowledge([id], checkpoints.noteCollisions([row]));
  }

  #next(id: string): string | undefined {
    const version = this.dice(4) === 0 ? undefined : `${++this.#versions} ${'x'.repeat(this.dice(200))}`;
    this.written.get(id)?.versions.push(version);
    return version;
  }

  #acknowledge(ids: readonly string[], writing: Promise<void>): void {
    const noted = ids.map((id) => ({
      written: this.written.get(id) as WrittenObject,
      count: this.written.get(id)?.versions.length ?? 0,
    }));
    writing.then(
      () => {
        this.seen.acknowledged++;
        for (const { written, count } of noted) written.acknowledged = Math.max(written.acknowledged, count - 1);
      },
      () => undefined,
    );
  }

  /** Injects a fault into the owner; some let it go on after its partitions were taken over. */
  fault(name: string): void {
    const { clock, cluster, dice } = this;
    const kind = dice(6);
    const backMs = 1000 + dice(8000);
    if (kind === 0) cluster.kill(name);
    if (kind === 1) {
      cluster.stop(name);
      clock.schedule(backMs, () => cluster.resume(name));
    }
    if (kind === 2) {
      cluster.isolate(name);
      clock.schedule(backMs, () => cluster.restore(name));
    }
    if (kind === 3) {
      const server = cluster.leaderOf('hub_STATE');
      cluster.kill(server);
      clock.schedule(backMs, () => cluster.resume(server));
    }
  }

  /** A former owner goes on writing, and finds out that it is no longer the owner. */
  async outlive({ name, checkpoints }: { name: string; checkpoints: Checkpoints }): Promise<void> {
    const rows = OBJECTS.map((id) => objectRow(id, `late, of ${name}`));
    checkpoints.note(rows);
    const tried = [checkpoints.write(), checkpoints.noteCollisions([pairRow('pair 0', 'late')])].map((each) =>
      each.catch((error: Error) => error),
    );
    for (const each of tried) {
      const settled = await Promise.race([each, this.clock.wait(40_000).then(() => 'nothing')]);
      // It was killed.
      if (settled === 'nothing') continue;
      assert.equal(
        (settled as Error).name === 'CheckpointsLost' || (settled as Error).name === 'BusError',
        true,
        String(settled),
      );
      if ((settled as Error).name === 'CheckpointsLost') this.seen.lost++;
    }
  }
}

const SEEN = { acknowledged: 0, lost: 0, overtaken: 0, takeovers: 0 };

for (let seed = 1; seed <= SEEDS; seed++) {
  test(`Checkpoints give the next owner all stored rows, and none of an earlier owner, with faults of seed ${seed}`, async (context) => {
    const world = new World(context, seed);
    world.cluster.mishaps.unanswered = world.dice(2) * 150;
    let owner = await world.takeOver();
    for (let round = 0; round < 4; round++) {
      await world.own(owner.checkpoints, 20 + world.dice(60));
      const former = owner;
      world.fault(former.name);
      await world.clock.wait(world.dice(3) * 50);
      owner = await world.takeOver();
      const outliving = world.outlive(former);
      await world.own(owner.checkpoints, 20 + world.dice(40));
      await outliving;
    }
    for (const key of ['acknowledged', 'lost', 'overtaken', 'takeovers'] as const) SEEN[key] += world.seen[key];
  });
}

test('The seeds have shown former owners that went on, and claims that came too late', (context) => {
  context.diagnostic(JSON.stringify(SEEN));
  assert.ok(SEEN.acknowledged > 20 * SEEDS && SEEN.lost > 2 * SEEDS && SEEN.overtaken > 10, JSON.stringify(SEEN));
});

/** Everything of the state, by subject. */
async function messagesOf(bus: Bus, name = 'hub') {
  const settings = { name: `${name}_STATE`, subjects: [`${name}.s.*`], replicas: 3, storage: 'file' } as const;
  const found = await readAll(bus, settings, 1);
  return found.map(({ subject, bytes }) => ({ subject, bytes: bytes.length, ...unpackState(bytes) }));
}

test('Checkpoints write a message for each partition with rows, and rows of large parts in several', async (context) => {
  const { cluster, enter } = simulated(context);
  const checkpoints = await enter('a', { partitionOf: (_, id) => Number(id) % 256, compactBytes: 4_000_000 });
  const reader = cluster.bus('reader');
  await checkpoints.claim({ partitions: ALL, collisions: true, epoch: 1 });
  assert.equal((await messagesOf(reader)).length, 257);
  const large = 'x'.repeat(600_000);
  checkpoints.note(['0', '1', '1', '257', '513', '769'].map((id) => objectRow(id, id === '0' ? 'small' : large)));
  await checkpoints.write();
  const rows = (await messagesOf(reader)).filter((message) => message.rows.count > 0);
  assert.deepEqual(rows.map((message) => `${message.subject}: ${message.rows.count}`).sort(), [
    'hub.s.0: 1',
    'hub.s.1: 1',
    'hub.s.1: 1',
    'hub.s.1: 1',
    'hub.s.1: 1',
  ]);
  // Heavy enough for compaction: a few large messages replace the others, and the next read finds the same.
  checkpoints.note(['1', '257', '513'].map((id) => objectRow(id, `${large}!`)));
  await checkpoints.write();
  checkpoints.note(['1', '257', '513'].map((id) => objectRow(id, `${large}?`)));
  await checkpoints.write();
  const found = await allRows(checkpoints);
  assert.deepEqual([...found.keys()].sort(), ['0', '1', '257', '513', '769']);
  assert.equal(versionOf(found.get('257')), `${large}?`);
  const compacted = (await messagesOf(reader)).filter(({ subject }) => subject === 'hub.s.1');
  assert.ok(compacted.length < 8, `${compacted.length} messages`);
});

test('Checkpoints bound the size of a partition that is written often, and drop deleted objects', async (context) => {
  const { cluster, enter } = simulated(context);
  const checkpoints = await enter('a', { compactBytes: 5000 });
  const reader = cluster.bus('reader');
  await checkpoints.claim({ partitions: [0], collisions: true, epoch: 1 });
  for (let round = 0; round < 100; round++) {
    const ids = Array.from({ length: 10 }, (_, i) => `${round % 3} ${i}`);
    checkpoints.note(ids.map((id) => objectRow(id, 'y'.repeat(100))));
    await checkpoints.write();
    checkpoints.note(ids.map((id) => objectRow(id, undefined)));
    await checkpoints.noteCollisions([pairRow(`pair ${round}`, 'z'.repeat(500))]);
    await checkpoints.noteCollisions([pairRow(`pair ${round}`, undefined)]);
  }
  await checkpoints.write();
  assert.equal((await allRows(checkpoints)).size, 0);
  const bytes = (await messagesOf(reader)).reduce((sum, message) => sum + message.bytes, 0);
  assert.ok(bytes < 25_000, `${bytes} bytes`);
});

test('Checkpoints write nothing for an object that came and went between two rounds', async (context) => {
  const { cluster, enter } = simulated(context);
  const checkpoints = await enter('a');
  await checkpoints.claim({ partitions: [0], collisions: false, epoch: 1 });
  checkpoints.note([objectRow('a', '1'), objectRow('a', undefined)]);
  await checkpoints.write();
  assert.equal((await messagesOf(cluster.bus('reader'))).length, 1);
});

test('Rows of a partition that is not claimed wait until it is, and newer ones replace them', async (context) => {
  const { cluster, enter } = simulated(context);
  const checkpoints = await enter('a', { partitionOf: () => 7 });
  await checkpoints.claim({ partitions: [0], collisions: false, epoch: 1 });
  checkpoints.note([objectRow('a', '1'), objectRow('b', '1')]);
  await checkpoints.write();
  checkpoints.note([objectRow('b', '2')]);
  await checkpoints.write();
  assert.deepEqual([versionOf((await allRows(checkpoints)).get('b'))], ['2']);
  await checkpoints.claim({ partitions: [7], collisions: false, epoch: 2 });
  await checkpoints.write();
  const other = await enter('b', { partitionOf: () => 7 });
  await other.claim({ partitions: [7], collisions: false, epoch: 3 });
  const found = await allRows(other);
  assert.deepEqual(
    ['a', 'b'].map((id) => versionOf(found.get(id))),
    ['1', '2'],
  );
  assert.equal((await messagesOf(cluster.bus('reader'))).filter(({ subject }) => subject === 'hub.s.0').length, 1);
});

/** Versions of objects in some partitions. */
async function versionsIn(checkpoints: Checkpoints, partitions: readonly number[]): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  for await (const rows of checkpoints.rowsIn(partitions)) for (const row of rows) found[row.id] = versionOf(row);
  return found;
}

test('A hub no longer writes to partitions that it has handed over, and continues with the others', async (context) => {
  const { enter } = simulated(context);
  const partitions = new Map([
    ['stays', 0],
    ['goes', 1],
    ['misplaced', 1],
  ]);
  const partitionOf = (_: unknown, id: string): number => partitions.get(id) as number;
  let isGone = false;
  const a = await enter('a', { partitionOf, isOwn: (_, id) => !isGone || partitions.get(id) !== 1 });
  await a.claim({ partitions: [0, 1], collisions: false, epoch: 1 });
  a.note(['stays', 'goes', 'misplaced'].map((id) => objectRow(id, '1')));
  await a.write();
  // Its links have changed, and it was not written since.
  partitions.set('misplaced', 0);
  assert.deepEqual(await a.misplacedIn([1]), [['trackable', 'misplaced']]);
  a.note([objectRow('misplaced', '2')]);
  await a.write();
  assert.deepEqual(await a.misplacedIn([1]), []);
  isGone = true;
  await a.release([1]);
  const b = await enter('b', { partitionOf });
  await b.claim({ partitions: [1], collisions: false, epoch: 2 });
  b.note([objectRow('goes', '2')]);
  await b.write();
  a.note([objectRow('goes', 'late'), objectRow('stays', '2')]);
  await a.write();
  assert.equal(a.failure, undefined);
  assert.deepEqual(await versionsIn(b, [1]), { goes: '2' });
  assert.deepEqual(await versionsIn(b, [0, 1]), { stays: '2', goes: '2', misplaced: '2' });
});

test('A hub that gets 1/32 of 1,024 partitions does not read the others', async (context) => {
  const { cluster, enter } = simulated(context);
  const partitionOf = (_: unknown, id: string): number => Number(id);
  const all = Array.from({ length: 1024 }, (_, partition) => partition);
  const a = await enter('a', { partitionOf });
  await a.claim({ partitions: all, collisions: false, epoch: 1 });
  const bus = cluster.bus('bus of b');
  const read = context.mock.method(bus, 'read');
  const b = await enter('b', { bus, partitionOf });
  const own = all.filter((partition) => partition % 32 === 0);
  await b.claim({ partitions: own, collisions: false, epoch: 2 });
  b.note([objectRow('32', '1')]);
  await b.write();
  const selected = read.mock.calls.map(({ arguments: [, { subjects }] }) => subjects.toSorted());
  assert.deepEqual(selected, [own.map((partition) => `hub.s.${partition}`).toSorted()]);
});

test('Deleted objects are erased before their partition is handed over, although that was not written yet', async (context) => {
  const { enter } = simulated(context);
  const a = await enter('a', { partitionOf: () => 1 });
  await a.claim({ partitions: [1], collisions: false, epoch: 1 });
  for (const id of ['gone', 'back', 'stays']) a.note([objectRow(id, '1')]);
  await a.write();
  a.note([objectRow('gone', undefined), objectRow('back', undefined), objectRow('never', undefined)]);
  a.note([objectRow('back', '2')]);
  await a.release([1]);
  const b = await enter('b', { partitionOf: () => 1 });
  await b.claim({ partitions: [1], collisions: false, epoch: 2 });
  await a.write();
  assert.equal(a.failure, undefined);
  // Remaining objects are handed over by the shards.
  assert.deepEqual(await versionsIn(b, [1]), { back: '1', stays: '1' });
});

test('Objects that a removed hub had released are deleted from their old partitions only', async (context) => {
  const { enter } = simulated(context);
  const partitions = new Map([
    ['left', 0],
    ['moved', 0],
    ['stays', 0],
    ['foreign', 1],
  ]);
  const partitionOf = (_: string, id: string): number => partitions.get(id) ?? 0;
  const dead = await enter('dead', { partitionOf });
  await dead.claim({ partitions: [0, 1], collisions: false, epoch: 1 });
  for (const id of partitions.keys()) dead.note([objectRow(id, '1')]);
  await dead.write();
  // Each has released the same objects, and another hub owns one of them.
  partitions.set('left', 2).set('moved', 2).set('foreign', 2);
  const successor = await enter('heir', { partitionOf });
  await successor.claim({ partitions: [2], collisions: false, epoch: 2 });
  successor.note([objectRow('moved', '2')]);
  await successor.write();
  await successor.claim({ partitions: [0], collisions: false, epoch: 2 });
  const objects = ['left', 'moved', 'foreign'].map((id) => ['trackable', id] as const);
  const letGo = [{ partitions: [0, 1], objects }];
  const found: string[] = [];
  for await (const rows of successor.rowsIn([0, 1], letGo)) found.push(...rows.map(({ id }) => id));
  assert.deepEqual(found, ['stays']);
  await successor.deleteReleased(letGo);
  const left = { moved: '2', stays: '1', foreign: '1' };
  assert.deepEqual(await versionsIn(successor, [0, 1, 2]), left);
  // The successor of the other partition has yet to do the same.
  const other = await enter('other', { partitionOf });
  await other.claim({ partitions: [1], collisions: false, epoch: 2 });
  await other.deleteReleased(letGo);
  assert.deepEqual(await versionsIn(other, [0, 1, 2]), { moved: '2', stays: '1' });
});

test('A tombstone does not erase rows of the next owner', async (context) => {
  const { enter } = simulated(context);
  let partition = 0;
  const a = await enter('a', { partitionOf: () => partition, isOwn: () => partition === 0 });
  await a.claim({ partitions: [0], collisions: false, epoch: 1 });
  a.note([objectRow('it', '1')]);
  await a.write();
  partition = 1;
  const b = await enter('b', { partitionOf: () => partition });
  await b.claim({ partitions: [1], collisions: false, epoch: 2 });
  b.note([objectRow('it', '2')]);
  await b.write();
  // It waits to be written when the other hub is removed and its partition comes to this one.
  a.note([{ kind: 'trackable', id: 'it', gone: true }]);
  await a.claim({ partitions: [1], collisions: false, epoch: 3 });
  await a.write();
  assert.deepEqual(await versionsIn(a, [0, 1]), { it: '2' });
});

test('The rows of a removed hub remain until all successors have them, and are erased then', async (context) => {
  const { cluster, enter } = simulated(context);
  const partitions = new Map([
    ['one', 0],
    ['other', 1],
  ]);
  const partitionOf = (_: unknown, id: string): number => partitions.get(id) as number;
  const dead = await enter('dead', { partitionOf: () => 0 });
  await dead.claim({ partitions: [0, 1], collisions: false, epoch: 1 });
  dead.note([objectRow('one', '1'), objectRow('other', '1')]);
  await dead.write();
  let isSettled = false;
  const successor = (own: number): Partial<CheckpointsOptions> => ({
    ...{ partitionOf, compactBytes: 100, isSettled: () => isSettled },
    isOwn: (_, id) => partitions.get(id) === own,
  });
  const [a, b] = [await enter('a', successor(0)), await enter('b', successor(1))];
  await Promise.all([
    a.claim({ partitions: [0], collisions: false, epoch: 2 }),
    b.claim({ partitions: [1], collisions: false, epoch: 2 }),
  ]);
  for (let round = 0; round < 5; round++) {
    a.note([objectRow('one', `${'z'.repeat(100)}${round}`)]);
    await a.write();
    await a.tidy();
  }
  assert.equal((await versionsIn(b, [0, 1]))['other'], '1');
  b.note([objectRow('other', '2')]);
  await b.write();
  isSettled = true;
  await a.tidy();
  const c = await enter('c', { partitionOf });
  assert.deepEqual(Object.keys(await versionsIn(c, [0])), ['one']);
  assert.equal((await versionsIn(c, [0, 1]))['other'], '2');
  // Compacted messages do not contain it either.
  a.note([objectRow('one', 'last')]);
  await a.write();
  await a.tidy();
  const found = (await messagesOf(cluster.bus('reader'))).filter(({ subject }) => subject === 'hub.s.0');
  assert.ok(found.length < 5, `${found.length} messages`);
});

test('Checkpoints of a former owner are lost, and so is a claim by an older map', async (context) => {
  const { enter } = simulated(context);
  const [a, b] = [await enter('a'), await enter('b')];
  const claim = { partitions: [0], collisions: true };
  await a.claim({ ...claim, epoch: 1 });
  await b.claim({ ...claim, epoch: 2 });
  a.note([objectRow('o', 'late')]);
  const lost = { name: 'CheckpointsLost', message: 'The state in "hub.s.0" was claimed by "b" in epoch 2' };
  await assert.rejects(a.write(), lost);
  assert.equal(a.failure?.name, 'CheckpointsLost');
  await assert.rejects(a.write(), lost);
  await assert.rejects(a.noteCollisions([pairRow('p', '1')]), lost);
  await assert.rejects(allRows(a), lost);
  const c = await enter('c');
  await assert.rejects(c.claim({ ...claim, epoch: 1 }), {
    name: 'CheckpointsLost',
    message: /was claimed by "b" in epoch 2, this hub owns it by 1$/,
  });
  assert.equal((await allRows(b)).size, 0);
});

test('A former owner that only reads finds out that it is no longer the owner', async (context) => {
  const { enter } = simulated(context);
  const [a, b] = [await enter('a'), await enter('b')];
  const claim = { partitions: [0], collisions: true };
  await a.claim({ ...claim, epoch: 1 });
  await b.claim({ ...claim, epoch: 2 });
  await assert.rejects(allRows(a), { name: 'CheckpointsLost', message: /was claimed by "b" in epoch 2$/ });
});

/** State of an owner that has failed after writing an object to its new partition, before deleting it in the old one. */
async function leaveBetween(bus: Bus, { isHeavy }: { isHeavy: boolean }): Promise<void> {
  const write = (subject: string, number: number, rows: readonly StoredRow[]) =>
    bus.append({
      ...{ stream: 'hub_STATE', subject, timeoutMs: 1000 },
      bytes: packState({ by: 'dead', epoch: 1, number }, placesOf(rows)),
    });
  await write('hub.s.0', 1, [objectRow('moved', '1'), objectRow('other', 'x'.repeat(400))]);
  if (isHeavy) await write('hub.s.0', 2, [objectRow('other', 'y'.repeat(400))]);
  await write('hub.s.1', 1, [objectRow('moved', '2')]);
}

for (const isRead of [true, false]) {
  const how = isRead ? 'when it was read' : 'when it is first written';
  test(`An object that lies in two partitions is erased in the older one, ${how}`, async (context) => {
    const { cluster, enter } = simulated(context);
    const a = await enter('a', { partitionOf: () => 1, compactBytes: 300 });
    await leaveBetween(cluster.bus('dead'), { isHeavy: false });
    await a.claim({ partitions: [0, 1], collisions: false, epoch: 2 });
    if (isRead) assert.equal(versionOf((await allRows(a)).get('moved')), '2');
    a.note([objectRow('moved', undefined)]);
    // Until the message that says so is compacted away.
    for (let round = 0; round < 10; round++) {
      a.note([objectRow('often', 'z'.repeat(100))]);
      await a.write();
    }
    const b = await enter('b', { partitionOf: () => 1 });
    await b.claim({ partitions: [0, 1], collisions: false, epoch: 3 });
    assert.deepEqual([...(await allRows(b)).keys()], ['other', 'often']);
  });
}

test('An object that returns with the partition of a removed hub remains there when strays are erased', async (context) => {
  const { enter } = simulated(context);
  const partitions = new Map([
    ['returns', 0],
    ['other', 0],
  ]);
  const partitionOf = (_: unknown, id: string): number => partitions.get(id) as number;
  let isSettled = true;
  const a = await enter('a', { partitionOf, isSettled: () => isSettled });
  await a.claim({ partitions: [0], collisions: false, epoch: 1 });
  a.note([objectRow('returns', '1')]);
  await a.write();
  partitions.set('returns', 1);
  isSettled = false;
  const dead = await enter('dead', { partitionOf });
  await dead.claim({ partitions: [1], collisions: false, epoch: 1 });
  dead.note([objectRow('returns', '2')]);
  await dead.write();
  await a.claim({ partitions: [1], collisions: false, epoch: 2 });
  a.note([objectRow('returns', '3')]);
  await a.write();
  isSettled = true;
  a.note([objectRow('other', '1')]);
  await a.write();
  assert.equal(versionOf((await allRows(a)).get('returns')), '3');
});

test('A compaction leaves out objects that lie elsewhere', async (context) => {
  const { cluster, enter } = simulated(context);
  const a = await enter('a', { partitionOf: () => 1, compactBytes: 100 });
  await leaveBetween(cluster.bus('dead'), { isHeavy: true });
  await a.claim({ partitions: [0, 1], collisions: false, epoch: 2 });
  await allRows(a);
  // No row is pending, but the first partition needs compaction.
  await a.write();
  assert.equal(versionOf((await allRows(a)).get('moved')), '2');
  const messages = (await messagesOf(cluster.bus('reader'))).filter(({ subject }) => subject === 'hub.s.0');
  assert.deepEqual(
    messages.map(({ by, rows }) => [by, ...Array.from(rows, ({ id }) => id)]),
    [['a', 'other']],
  );
});

/** A bus of which every second reader misses everything after the first message. */
function forgetful(bus: Bus): Bus {
  let readers = 0;
  const read: Bus['read'] = (...given) => {
    const reader = bus.read(...given);
    if (readers++ % 2 > 0) return reader;
    let isFirst = true;
    const first = (message: Message, take: (message: Message) => void): void => {
      if (isFirst) take(message);
      isFirst = false;
    };
    return { next: (take) => reader.next((message) => first(message, take)), end: () => reader.end() };
  };
  return new Proxy(bus, {
    get(target, name) {
      if (name === 'read') return read;
      const found = Reflect.get(target, name, target);
      return typeof found === 'function' ? found.bind(target) : found;
    },
  });
}

test('Checkpoints reread subjects that they could not read completely, and do not compact them', async (context) => {
  const { cluster, enter } = simulated(context);
  const bus = forgetful(cluster.bus('forgetful'));
  const a = await enter('a', { bus, compactBytes: 300, partitionOf: (_, id) => Number(id) % 3 });
  await a.claim({ partitions: [0, 1, 2], collisions: false, epoch: 1 });
  const ids = Array.from({ length: 9 }, (_, i) => `${i}`);
  for (let round = 0; round < 12; round++) {
    const some = ids.slice(round % 3, 3 + (round % 7));
    a.note((round === 0 ? ids : some).map((id) => objectRow(id, `${round}`)));
    await a.write();
    assert.equal((await allRows(a)).size, 9);
  }
});

test('Rows buffered at the start of a round replace rows that wait for their partition', async (context) => {
  const { enter } = simulated(context);
  const a = await enter('a', { partitionOf: () => 7 });
  await a.claim({ partitions: [0], collisions: false, epoch: 1 });
  await allRows(a);
  a.note([objectRow('o', '0'), objectRow('p', '0')]);
  let isWriting = true;
  const writing = a.write().then(() => {
    isWriting = false;
  });
  let version = 0;
  while (isWriting) {
    a.note([objectRow('o', `${++version}`)]);
    await new Promise(setImmediate);
  }
  await writing;
  const found = await allRows(a);
  assert.deepEqual([versionOf(found.get('o')), versionOf(found.get('p'))], [`${version}`, '0']);
});

test('Checkpoints wait while the stream is full, warn once, and continue', async (context) => {
  const { clock, cluster, enter } = simulated(context);
  const notices: string[] = [];
  const checkpoints = await enter('a', { bytesMax: 2000, notice: (text) => notices.push(text) });
  await checkpoints.claim({ partitions: [0], collisions: true, epoch: 1 });
  checkpoints.note([objectRow('a', 'x'.repeat(3000))]);
  const writing = checkpoints.write();
  const colliding = checkpoints.noteCollisions([pairRow('p', 'x'.repeat(3000))]);
  const waits = async (): Promise<string> => {
    // In steps: between two of them the other work goes on.
    for (let step = 0; step < 50; step++) await clock.wait(100);
    return 'waits';
  };
  assert.equal(await Promise.race([writing, colliding, waits()]), 'waits');
  assert.deepEqual(notices, ['Cannot write to stream "hub_STATE": it is full; retrying']);
  const settings = { name: 'hub_STATE', subjects: ['hub.s.*'], replicas: 3, storage: 'file' } as const;
  await cluster.bus('operator').alterStream(settings);
  await Promise.all([writing, colliding]);
  assert.equal((await allRows(checkpoints)).size, 2);
});

test('Closed checkpoints reject waiting and new calls', async (context) => {
  const { cluster, enter } = simulated(context);
  const checkpoints = await enter('a');
  await checkpoints.claim({ partitions: [0], collisions: true, epoch: 1 });
  cluster.isolate('a');
  checkpoints.note([objectRow('a', '1')]);
  const waiting = [checkpoints.write(), checkpoints.write(), checkpoints.noteCollisions([pairRow('p', '1')])];
  checkpoints.close();
  for (const each of await Promise.allSettled(waiting)) assert.match(String(Object(each).reason), /are closed/);
  await assert.rejects(checkpoints.write(), /are closed/);
  await assert.rejects(checkpoints.claim({ partitions: [1], collisions: false, epoch: 1 }), /are closed/);
});

test('Checkpoints reject invalid partitions, pairs that are not claimed, and pairs among objects', async (context) => {
  const { enter } = simulated(context);
  const checkpoints = await enter('a');
  for (const partition of [-1, 4096, 0.5]) {
    await assert.rejects(checkpoints.claim({ partitions: [partition], collisions: false, epoch: 1 }), {
      name: 'RangeError',
      message: `Cannot claim partition ${partition}: partitions are 0 to 4095`,
    });
  }
  await assert.rejects(checkpoints.noteCollisions([pairRow('p', '1')]), /they are not claimed/);
  await checkpoints.claim({ partitions: [0], collisions: false, epoch: 1 });
  checkpoints.note(packedRows([pairRow('p', '1')]));
  await assert.rejects(checkpoints.write(), /Cannot write the row of collision "p"/);
});

test('Buffered rows are bounded by the number of objects', () => {
  const noted = new RowBuffer(10_000);
  for (let round = 0; round < 1000; round++) {
    noted.add(packedRows(Array.from({ length: 20 }, (_, i) => objectRow(`${i}`, `${round}`))));
    assert.ok(noted.size < 20_000, `${noted.size} bytes`);
  }
  const chunks = Array.from(noted.chunks(), (bytes) => ({
    bytes,
    rows: new PackedRows({ bytes, view: new DataView(bytes.buffer) }, { size: bytes.length, count: 0 }),
  }));
  const last = new Map(chunks.flatMap(({ rows }) => Array.from(rows, (row) => [row.id, versionOf(row)])));
  assert.deepEqual([...new Set(last.values()), last.size], ['999', 20]);
});

test('Checkpoints emit many rows in parts, both stored and pending ones', async (context) => {
  const { enter } = simulated(context);
  const checkpoints = await enter('a');
  await checkpoints.claim({ partitions: [0], collisions: false, epoch: 1 });
  const ids = Array.from({ length: 12_000 }, (_, i) => `${i}`);
  for (let round = 0; round < 5; round++) checkpoints.note(ids.map((id) => objectRow(id, `${round}`)));
  const found = await allRows(checkpoints);
  assert.equal(found.size, 12_000);
  assert.ok([...found.values()].every((row) => versionOf(row) === '4'));
  await checkpoints.write();
  assert.deepEqual(await allRows(checkpoints), found);
});

const HEAD = { by: 'hub', epoch: 3, number: 2 };

for (const [what, bytes, message] of [
  ['short', new Uint8Array(3), /has 3 bytes/],
  ['of another version', packState(HEAD, []).fill(9, 0, 1), /has version 9, not 1/],
  ['cut off', packState(HEAD, placesOf([pairRow('p', 'abc')])).subarray(0, -1), /Message 2 of "hub".* within a row/],
  ['cut off within a head', packState(HEAD, placesOf([pairRow('p', 'a')])).subarray(0, 40), /ends within a row/],
  ['too long', Uint8Array.of(...packState(HEAD, []), 1), /Message 2 of "hub" in the state is longer than its rows/],
] as const) {
  test(`A message of the state that is ${what} is rejected`, () => {
    assert.throws(() => unpackState(bytes), { name: 'StateFormatError', message });
  });
}

function placesOf(rows: readonly StoredRow[]) {
  const packed = packedRows(rows);
  const bytes = Buffer.from(copied(packed.bytes));
  const buffer = { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length) };
  return Array.from(new PackedRows(buffer, { size: packed.size, count: packed.count }).offsets(), (at) => ({
    buffer,
    at,
  }));
}

test('A message of the state is read as it was written', () => {
  const rows = [pairRow('ß', 'abc'), objectRow('o', '1'), objectRow('gone', undefined)];
  const message = unpackState(packState({ by: 'hub ü', epoch: 2 ** 40, number: 7 }, placesOf(rows)));
  assert.deepEqual({ ...message, rows: [...message.rows] }, { by: 'hub ü', epoch: 2 ** 40, number: 7, rows });
});

test('Checkpoints are taken over on a real server', { skip: nats.skip }, async (context) => {
  const world = await natsWorld(context, nats);
  const partitions = ALL.slice(0, 64);
  const partitionOf = (_: string, id: string): number => Number(id) % 64;
  const enter = async (incarnation: string): Promise<Checkpoints> => {
    const bus = world.bus(incarnation);
    await up(bus);
    return open({ bus, incarnation, name: world.name, replicas: 1, partitionOf, compactBytes: 4000 });
  };
  const [a, b] = [await enter('a'), await enter('b')];
  await a.claim({ partitions, collisions: true, epoch: 1 });
  const ids = Array.from({ length: 2000 }, (_, i) => `${i}`);
  for (let round = 0; round < 4; round++) {
    a.note(ids.map((id) => objectRow(id, Number(id) === round ? undefined : `${round} ${'x'.repeat(200)}`)));
    await a.write();
    await a.noteCollisions([pairRow(`${round % 3}`, `${round}`)]);
  }
  a.note(ids.map((id) => objectRow(id, 'not written')));
  await b.claim({ partitions, collisions: true, epoch: 2 });
  await assert.rejects(a.write(), { name: 'CheckpointsLost' });
  let pairs = 0;
  let objects = 0;
  for await (const rows of b.rows()) {
    for (const row of rows) {
      if (row.kind === 'collision') pairs++;
      else if (versionOf(row)?.startsWith('3 ')) objects++;
    }
  }
  assert.deepEqual([pairs, objects], [3, 1999]);
  const bus = world.bus('reader');
  await up(bus);
  // Each partition would have 5 messages, had none been compacted.
  const { length } = await messagesOf(bus, world.name);
  assert.ok(length < 4 * 64, `${length} messages`);
});
