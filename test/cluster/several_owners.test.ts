import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { recordIdIn, recordSize } from '../../src/core/location/record.ts';
import type { HubError } from '../../src/errors.ts';
import { PARTITIONS, partitionOf } from '../../src/shards/affinity.ts';
import { type CountedRun, recordsIn } from '../../src/wire/received_run.ts';
import { diceOf } from '../support/dice.ts';
import { locationOf, type ServingRecord, T0, TestHub, takenOf } from './owner_server_world.ts';
import { SimulatedCluster } from './simulated_bus.ts';
import { SimulatedClock } from './simulated_clock.ts';

const HOLD_MS = 6000;
const TIMES = { generatedMs: T0, receivedMs: T0 };
const VIEW = { crs: 'EPSG:4326' } as const;

/** Hubs that own every n-th partition each. */
async function owners(context: TestContext, more: Partial<ConstructorParameters<typeof TestHub>[0]> = {}) {
  const clock = new SimulatedClock();
  context.after(clock.run());
  const cluster = new SimulatedCluster({ clock, seed: 1 });
  const [a, b, c] = ['a', 'b', 'c'].map((hub) => new TestHub({ cluster, hub, ...more })) as [TestHub, TestHub, TestHub];
  const all = [a, b, c];
  await Promise.all(all.map(({ door }) => door.ready));
  const applyAll = (sequence: number, record: ServingRecord): void => {
    for (const hub of all) hub.applyServing(sequence, record);
  };
  applyAll(1, { owners: ['a', 'b', 'c'] });
  return { clock, cluster, a, b, c, all, applyAll };
}

/** A provider in the partitions of the owner at an index. */
function providerOf(place: number, of = 3, from = 0): string {
  for (let number = from; ; number++) if (partitionOf(`p${number}`) % of === place) return `p${number}`;
}

const [OF_A, OF_B, OF_C] = [0, 1, 2].map((place) => providerOf(place)) as [string, string, string];
const [A, B] = [OF_A, OF_B].map(partitionOf) as [number, number];
const textsOf = ({ taken }: TestHub): string[] => taken.map(({ text }) => text);

/** Sends a location, and returns its outcome. */
function put(hub: TestHub, provider: string, text: string): { end: 'done' | 'failed' | undefined } {
  const sent: { end: 'done' | 'failed' | undefined } = { end: undefined };
  hub.send(provider, text).then(
    () => Object.assign(sent, { end: 'done' }),
    () => Object.assign(sent, { end: 'failed' }),
  );
  return sent;
}

/** Records the locations that arrive at a hub as repeated ones. */
function repeatedAt(hub: TestHub): string[] {
  const texts: string[] = [];
  hub.unrecorded = async ({ runs }) => {
    texts.push(...runs.flatMap(takenOf).map(({ text }) => text));
    return runs;
  };
  return texts;
}

test('Locations go to the hubs that serve their providers, in parallel', async (context) => {
  const { clock, a, b, c } = await owners(context, { stepMs: () => 100 });
  for (const [text, provider] of [OF_A, OF_B, OF_C, OF_B, OF_A].entries()) {
    b.shards.location(locationOf(provider, `${text}`), TIMES);
  }
  const fromMs = clock.nowMs;
  await b.shards.committed();
  assert.ok(clock.nowMs - fromMs < 150, `${clock.nowMs - fromMs} ms`);
  assert.deepEqual([a, b, c].map(textsOf), [['0', '4'], ['1', '3'], ['2']]);
  assert.equal(b.router.gauges.forwarded, 5);
});

test('Unserved locations wait, and no others, until a hub serves them', async (context) => {
  const { clock, a, b, c, applyAll } = await owners(context);
  applyAll(2, { owners: ['a', 'a', 'c'], open: [B], migrating: [`provider ${OF_C}`] });
  const ends = [OF_A, OF_B, OF_C].map((provider) => put(c, provider, provider));
  await clock.wait(3000);
  assert.deepEqual(ends, [{ end: 'done' }, { end: undefined }, { end: undefined }]);
  applyAll(3, { owners: ['a', 'a', 'c'] });
  await clock.wait(100);
  assert.deepEqual([a, b, c].map(textsOf), [[OF_A, OF_B], [], [OF_C]]);
  assert.deepEqual(ends, [{ end: 'done' }, { end: 'done' }, { end: 'done' }]);
});

test('Unserved locations are given up in time, and do not arrive later', async (context) => {
  const { clock, a, b, applyAll } = await owners(context);
  applyAll(2, { owners: ['a', 'a', 'c'], open: [B] });
  const [early, late] = [put(b, OF_B, 'early'), { end: undefined as string | undefined }];
  await clock.wait(2000);
  Object.assign(late, { end: put(b, OF_B, 'late') });
  await clock.wait(HOLD_MS - 1900);
  assert.equal(early.end, 'failed');
  applyAll(3, { owners: ['a', 'a', 'c'] });
  await clock.wait(100);
  assert.deepEqual(textsOf(a), ['late']);
});

test('The locations of a provider wait for those in flight to its previous hub', async (context) => {
  const { clock, a, b, c, applyAll } = await owners(context, { stepMs: () => 400 });
  put(b, OF_A, '1');
  await clock.wait(100);
  put(b, OF_A, '2');
  // b has not applied the new version yet, whose owner serves it at once.
  const texts = repeatedAt(c);
  applyAll(2, { owners: ['c', 'b', 'c'] });
  put(b, OF_A, '3');
  await clock.wait(100);
  assert.deepEqual([a.taking, c.taking], [1, 0]);
  await clock.wait(1000);
  assert.deepEqual([a, c].map(textsOf), [['1'], ['2', '3']]);
  assert.deepEqual(texts, []);
});

test('A request that a hub serves only in part is rejected, and split again', async (context) => {
  const { clock, a, b, c, all } = await owners(context);
  const others = [providerOf(0, 3, 100), providerOf(0, 3, 200)] as const;
  const moved = { owners: ['a', 'b', 'c'], migrating: [`provider ${OF_A}`] };
  for (const hub of [a, c]) hub.applyServing(2, moved);
  const texts = all.map(repeatedAt);
  for (const [text, provider] of [others[0], OF_A, others[1], OF_A].entries()) put(b, provider, `${text}`);
  await clock.wait(20);
  put(b, others[0], '4');
  put(b, OF_A, '5');
  await clock.wait(500);
  assert.deepEqual([a.taken, b.router.gauges.moved], [[], 1]);
  b.applyServing(2, moved);
  await clock.wait(100);
  assert.deepEqual(textsOf(a), ['0', '2', '4']);
  for (const hub of all) hub.applyServing(3, { owners: ['a', 'b', 'c'] });
  await clock.wait(100);
  assert.deepEqual(textsOf(a), ['0', '2', '4', '1', '3', '5']);
  assert.deepEqual(texts.flat(), [], 'no hub has processed any of them before');
});

test('A repeated request has the version of its first attempt', async (context) => {
  const { clock, cluster, a, b, applyAll } = await owners(context);
  const other = providerOf(0, 3, 100);
  cluster.mishaps.dropped = 1000;
  for (const provider of [OF_A, other]) put(b, provider, provider);
  await clock.wait(100);
  cluster.mishaps.dropped = 0;
  applyAll(2, { owners: ['a', 'b', 'c'], migrating: [`provider ${OF_A}`] });
  await clock.wait(2000);
  assert.deepEqual(textsOf(a), [other]);
});

test('Only requests in flight to a failed hub are repeated', async (context) => {
  const { clock, cluster, b, c, all } = await owners(context, { stepMs: () => 300 });
  for (const text of ['1', '2']) put(b, OF_A, text);
  await clock.wait(100);
  for (const text of ['3', '4']) put(b, OF_A, text);
  cluster.kill('a');
  const texts = repeatedAt(c);
  b.applyServing(2, { owners: ['c', 'b', 'c'], open: [A], gone: ['a'] });
  put(b, OF_A, '5');
  c.applyServing(2, { owners: ['c', 'b', 'c'], open: [A], gone: ['a'] });
  await clock.wait(1000);
  assert.deepEqual(textsOf(c), []);
  for (const hub of all) hub.applyServing(3, { owners: ['c', 'b', 'c'], gone: ['a'] });
  await clock.wait(2000);
  assert.deepEqual(textsOf(c), ['1', '2', '3', '4', '5']);
  assert.deepEqual(texts, ['1', '2']);
});

test('The total size of all queues is bounded', async (context) => {
  const { clock, b, applyAll } = await owners(context, { capacity: 30 });
  applyAll(2, { owners: ['a', 'a', 'c'], open: [B] });
  for (let text = 0; text < 30; text++) {
    assert.ok(b.router.hasCapacity(1), `${text}`);
    b.shards.location(locationOf([OF_A, OF_B, OF_C][text % 3] as string, `${text}`), TIMES);
  }
  assert.equal(b.router.hasCapacity(1), false);
  await clock.wait(100);
  assert.deepEqual([b.router.gauges.waiting, b.router.hasCapacity(20), b.router.hasCapacity(21)], [10, true, false]);
  await clock.wait(HOLD_MS);
  assert.deepEqual([b.router.gauges.waiting, b.router.gauges.waitingBytes], [0, 0]);
  await assert.rejects(async () => b.shards.committed(), {
    message: 'Cannot process locations: no hub has done it in time; some of them are processed',
  });
});

test('A request waits only for the owners of its own locations, and reports only its own failures', async (context) => {
  const { clock, cluster, b, c } = await owners(context);
  cluster.stop('a');
  const slow = b.send(OF_A, 'slow');
  const fromMs = clock.nowMs;
  await b.send(OF_C, 'fast');
  assert.ok(clock.nowMs - fromMs < 100, `waited for ${clock.nowMs - fromMs} ms`);
  assert.deepEqual(textsOf(c), ['fast']);
  await assert.rejects(slow, { code: 'HUB_UNAVAILABLE' });
  await b.send(OF_C, 'next');
  assert.equal(b.shards.committed(), undefined);
});

test('The location of a provider is deleted without waiting for the owners of others', async (context) => {
  const { clock, cluster, b, c } = await owners(context);
  cluster.stop('a');
  const slow = b.send(OF_A, 'slow');
  const fromMs = clock.nowMs;
  void b.send(OF_C, 'text');
  await b.router.forget([OF_C]);
  assert.ok(clock.nowMs - fromMs < 100, `waited for ${clock.nowMs - fromMs} ms`);
  assert.deepEqual([c.takenBefore, c.forgotten], [1, [OF_C]]);
  await assert.rejects(slow, { code: 'HUB_UNAVAILABLE' });
});

test('Callers learn which locations have failed, and that others have not', async (context) => {
  const { b, applyAll } = await owners(context);
  applyAll(2, { owners: ['a', 'a', 'c'], open: [B] });
  for (const provider of [OF_A, OF_B]) b.shards.location(locationOf(provider, provider), TIMES);
  await assert.rejects(async () => b.shards.committed(), {
    message: /no hub has done it in time; some of them are processed$/,
  });
});

test('Queries for an object go to the hub that serves it, and queries for lists to all', async (context) => {
  const { a, b, c } = await owners(context);
  for (const hub of [a, b, c]) hub.answer = async () => [{ ids: [hub.hub] }, { ids: [`${hub.hub} too`] }];
  const one = { ask: 'provider_location', id: OF_C, view: VIEW } as const;
  assert.deepEqual(await b.shards.ask(one), [{ ids: ['c'] }, { ids: ['c too'] }]);
  const all = ['a', 'a too', 'b', 'b too', 'c', 'c too'].map((id) => ({ ids: [id] }));
  assert.deepEqual(await b.shards.ask({ ask: 'provider_locations', view: VIEW }), all);
  assert.deepEqual(
    [a, b, c].map(({ asked }) => asked.length),
    [1, 1, 2],
  );
});

test('A list has one ownership version, and waits while something is unserved', async (context) => {
  const { clock, a, b, c, applyAll } = await owners(context);
  const stood: [version: number, hub: string][] = [];
  for (const hub of [a, b, c]) {
    hub.answer = async () => {
      stood.push([hub.ownership.version, hub.hub]);
      await clock.wait(30);
      return [{ ids: [`${hub.ownership.servers}`] }];
    };
  }
  c.applyServing(2, { owners: ['a', 'c', 'c'], open: [B] });
  let answers: unknown;
  void b.shards.ask({ ask: 'trackable_motions', view: VIEW }).then((found) => (answers = found));
  await clock.wait(1000);
  assert.equal(answers, undefined);
  applyAll(2, { owners: ['a', 'c', 'c'], open: [B] });
  await clock.wait(1000);
  const before = stood.length;
  assert.equal(answers, undefined);
  applyAll(3, { owners: ['a', 'c', 'c'] });
  await clock.wait(200);
  assert.deepEqual(answers, [{ ids: ['a,c'] }, { ids: ['a,c'] }]);
  assert.deepEqual(stood.slice(before).toSorted(), [
    [3, 'a'],
    [3, 'c'],
  ]);
  applyAll(4, { owners: ['a', 'c', 'c'], open: [B] });
  const fromMs = clock.nowMs;
  await assert.rejects(b.shards.ask({ ask: 'trackable_motions', view: VIEW }), { code: 'HUB_UNAVAILABLE' });
  assert.equal(clock.nowMs - fromMs, HOLD_MS);
});

test('Locations are deleted by the hub that serves their provider, as soon as there is one', async (context) => {
  const { clock, a, b, c, applyAll } = await owners(context);
  applyAll(2, { owners: ['a', 'c', 'c'], open: [B] });
  clock.schedule(1000, () => applyAll(3, { owners: ['a', 'c', 'c'] }));
  await b.router.forget([OF_A, OF_B, OF_C]);
  assert.deepEqual(
    [a, b, c].map(({ forgotten }) => forgotten),
    [[OF_A], [], [OF_C, OF_B]],
  );
});

test('Reads of this hub only wait for changes that its shards have yet to receive', async (context) => {
  const { clock, a, applyAll } = await owners(context, { stepMs: () => 300 });
  const seen = [a.router.isClear()];
  const ends = [put(a, OF_A, '1'), put(a, OF_C, '2')];
  seen.push(a.router.isClear());
  await clock.wait(10);
  seen.push(a.router.isClear());
  ends.push(put(a, OF_A, '3'));
  seen.push(a.router.isClear());
  await clock.wait(350);
  seen.push(a.router.isClear());
  await clock.wait(350);
  applyAll(2, { owners: ['a', 'b', 'c'], open: [B] });
  ends.push(put(a, OF_B, '4'));
  seen.push(a.router.isClear());
  assert.deepEqual(seen, [true, false, true, false, true, false]);
  assert.deepEqual(
    ends.map(({ end }) => end),
    ['done', 'done', 'done', undefined],
  );
});

/** A sent location and its outcome. */
interface Sent {
  readonly door: string;
  readonly provider: string;
  readonly atMs: number;
  end: { readonly at: 'done' } | { readonly at: 'failed'; readonly error: unknown } | undefined;
  endedMs: number;
}

const HUBS = ['a', 'b', 'c', 'd'];

/** Hubs under load while partitions and objects move between them, messages are lost, and one of them fails. */
async function play(context: TestContext, seed: number) {
  const clock = new SimulatedClock();
  const stop = clock.run();
  context.after(stop);
  const cluster = new SimulatedCluster({ clock, seed });
  const dice = diceOf(seed);
  const isSlow = dice(3) === 0;
  const stepMs = () => (isSlow && dice(4) === 0 ? dice(700) : dice(20));
  const committed: { readonly hub: string; readonly provider: string; readonly text: number }[] = [];
  const hubs = HUBS.map((hub) => {
    return new TestHub({
      ...{ cluster, hub, stepMs },
      committed: ({ provider, text }, at) => committed.push({ hub: at, provider, text: Number(text) }),
    });
  });
  await Promise.all(hubs.map(({ door }) => door.ready));
  cluster.mishaps.dropped = dice(3) * 40;
  const gone: string[] = [];
  const living = () => hubs.filter(({ hub }) => !gone.includes(hub));
  let map = Array.from({ length: PARTITIONS }, () => HUBS[dice(HUBS.length)] as string);
  let sequence = 0;
  /** Each hub applies records at its own time, in order. */
  const append = (record: Omit<ServingRecord, 'gone' | 'owners'>, spreadMs: number): Promise<unknown> => {
    const [own, whole] = [++sequence, { ...record, owners: map, gone: [...gone] }];
    return Promise.all(
      living().map(async (hub) => {
        await clock.wait(dice(spreadMs));
        while (hub.applied < own - 1) await clock.wait(1);
        hub.applyServing(own, whole);
        // Its released state is with its successors when its pending input is done.
        await hub.drained;
      }),
    );
  };
  await append({}, 1);
  const sent: Sent[] = [];
  const repeated: number[] = [];
  for (const hub of hubs) {
    hub.unrecorded = async ({ runs }) => {
      const recorded = new Set(hubs.filter((one) => gone.includes(one.hub)).flatMap(textsOf));
      return runs.flatMap((run) => {
        repeated.push(...takenOf(run).map(({ text }) => Number(text)));
        return withoutTexts(run, recorded);
      });
    };
  }
  const send = (hub: TestHub): void => {
    if (!hub.router.hasCapacity(1)) return;
    const entry: Sent = {
      ...{ door: hub.hub, provider: `${hub.hub} ${dice(12)}` },
      atMs: clock.nowMs,
      end: undefined,
      endedMs: 0,
    };
    const text = `${sent.push(entry) - 1}`;
    hub.send(entry.provider, text).then(
      () => Object.assign(entry, { end: { at: 'done' }, endedMs: clock.nowMs }),
      (error) => Object.assign(entry, { end: { at: 'failed', error }, endedMs: clock.nowMs }),
    );
  };
  let changes = 0;
  const reconfigure = async (): Promise<void> => {
    while (changes < 6) {
      await clock.wait(dice(600));
      changes++;
      const way = dice(4);
      const open: number[] = [];
      const names = living().map(({ hub }) => hub);
      if (way === 0 && gone.length === 0 && dice(2) === 0) {
        const dead = names[dice(names.length)] as string;
        const how = dice(3);
        if (how === 0) cluster.kill(dead);
        if (how === 1) cluster.stop(dead);
        if (how === 2) cluster.isolate(dead);
        await clock.wait(dice(1500));
        const hub = hubs.find((each) => each.hub === dead) as TestHub;
        hub.isSealed = true;
        hub.router.close();
        gone.push(dead);
        const successors = living();
        map = map.map((owner, partition) => {
          if (owner !== dead) return owner;
          open.push(partition);
          return (successors[dice(successors.length)] as TestHub).hub;
        });
      } else if (way === 1) {
        await append({ migrating: HUBS.map((hub) => `provider ${hub} ${dice(12)}`) }, 300);
      } else {
        map = map.map((owner, partition) => {
          if (dice(4) > 0) return owner;
          const to = names[dice(names.length)] as string;
          if (to !== owner) open.push(partition);
          return to;
        });
      }
      if (open.length > 0) await append({ open }, 300);
      await clock.wait(dice(300));
      await append({}, 300);
    }
  };
  const over = reconfigure();
  for (let turn = 0; turn < 200; turn++) {
    for (const hub of living()) for (let many = dice(4); many > 0; many--) send(hub);
    await clock.wait(dice(30));
  }
  await over;
  await clock.wait(HOLD_MS + 1000);
  stop();
  return { sent, committed, gone, hubs: living(), repeated };
}

/** A run without recorded locations. */
function withoutTexts(run: CountedRun, recorded: ReadonlySet<string>): CountedRun[] {
  const records = recordsIn(run.bytes);
  const taken = takenOf(run);
  const left: Uint8Array[] = [];
  for (let at = 0, index = 0; at < run.bytes.length; at += recordSize(records, at), index++) {
    assert.equal(recordIdIn(records, at), taken[index]?.provider);
    if (!recorded.has(taken[index]?.text as string)) left.push(run.bytes.subarray(at, at + recordSize(records, at)));
  }
  return left.length === 0 ? [] : [{ names: run.names, bytes: Buffer.concat(left), count: left.length }];
}

test('During any moves each location is processed once, and those of a provider in order', async (context) => {
  let [done, failed, deaths, again] = [0, 0, 0, 0];
  for (let seed = 1; seed <= 60; seed++) {
    const why = `seed ${seed}`;
    const { sent, committed, gone, hubs, repeated } = await play(context, seed);
    deaths += gone.length;
    again += repeated.length;
    const times = new Map<number, number>();
    for (const { text } of committed) times.set(text, (times.get(text) ?? 0) + 1);
    const last = new Map<string, number>();
    for (const { provider, text, hub } of committed) {
      assert.ok(text > (last.get(provider) ?? -1), `${why}: ${text} of ${provider} comes late at ${hub}`);
      last.set(provider, text);
    }
    for (const [text, { door, end, atMs, endedMs }] of sent.entries()) {
      const often = times.get(text) ?? 0;
      assert.ok(often <= 1, `${why}: ${text} is processed ${often} times`);
      if (gone.includes(door)) continue;
      assert.ok(end !== undefined, `${why}: ${text} is never answered`);
      assert.ok(endedMs - atMs <= HOLD_MS + 1, `${why}: ${text} has waited for ${endedMs - atMs} ms`);
      if (end.at === 'done') assert.equal(often, 1, `${why}: ${text} is lost`);
      else assert.equal((end.error as HubError).code, 'HUB_UNAVAILABLE', why);
      if (end.at === 'done') done++;
      else failed++;
    }
    if (gone.length === 0) assert.deepEqual(repeated, [], `${why}: no hub has failed`);
    for (const { router } of hubs) {
      const { waiting, waitingBytes } = router.gauges;
      assert.deepEqual([waiting, waitingBytes], [0, 0], why);
    }
  }
  assert.ok(
    done > 40_000 && deaths > 15 && again > 30,
    `${done} done, ${failed} failed, ${deaths} deaths, ${again} again`,
  );
});
