import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Bus } from '../../src/cluster/nats/bus.ts';
import { applied, EMPTY_STATE, isSettled } from '../../src/cluster/config/config_state.ts';
import { MOVED_SHARE, type PartitionMap, partitionsOf } from '../../src/cluster/membership/partition_map.ts';
import { openClock, schedule } from '../../src/time/clock.ts';
import { type Dice, diceOf } from '../support/dice.ts';
import { up, utf8 } from './contract.ts';
import { changeBy, HubWorld, TestHub } from './membership_world.ts';
import { natsWorld, testNats } from './test_nats.ts';

const nats = await testNats();

function ownersOf(map: PartitionMap | undefined): string[] {
  return [...new Set([...(map?.owners ?? []), map?.collisions ?? ''])].toSorted();
}

function ownersAt(hub: TestHub | undefined): string[] {
  return ownersOf(hub?.membership.map);
}

function namesOf(hub: TestHub): string[] {
  return hub.membership.members.map(({ incarnation }) => incarnation).toSorted();
}

function names(hubs: readonly TestHub[]): string[] {
  return hubs.map(({ incarnation }) => incarnation).toSorted();
}

/** Nothing is migrating, and each owner has its share, give or take one. */
function assertEven(living: readonly TestHub[], ownersMax = Number.POSITIVE_INFINITY): void {
  for (const { state, membership } of living) {
    assert.ok(isSettled(state), JSON.stringify([state.sources, state.migrating]));
    assert.deepEqual(state.map, membership.map);
    const counts = [...Map.groupBy(state.map?.owners ?? [], (owner) => owner).values()].map(({ length }) => length);
    assert.equal(counts.length, Math.min(living.length, ownersMax));
    assert.ok(Math.max(...counts) - Math.min(...counts) <= 1, `${counts}`);
  }
}

/** Few partitions move at a time between live members, and only when nothing is migrating. */
function assertOrderly({ records }: TestHub): void {
  let state = EMPTY_STATE;
  for (const [i, body] of records.entries()) {
    const next = applied(state, { sequence: i + 1, id: 'x', body });
    const owners = state.map?.owners ?? [];
    const moved = owners.filter(
      (owner, partition) => state.members.has(owner) && next.map?.owners[partition] !== owner,
    );
    if (body.kind === 'map' && moved.length > 0) {
      assert.ok(isSettled(state), `record ${i + 1} moves ${moved.length} while an earlier change is in progress`);
      assert.ok(moved.length <= owners.length * MOVED_SHARE, `${moved.length}`);
    }
    state = next;
  }
}

/** Activity of a hub until it is removed: records, configuration changes, and waiting for all to apply them. */
async function live(world: HubWorld, hub: TestHub, dice: Dice, counts: { all: number; late: number }): Promise<void> {
  await hub.start();
  while (hub.isLiving) {
    hub.write();
    if (dice(20) === 0) void change(world, hub, counts);
    await new Promise<void>((resolve) => void world.cluster.schedule(hub.incarnation, dice(100), resolve));
  }
}

async function change(world: HubWorld, hub: TestHub, counts: { all: number; late: number }): Promise<void> {
  const appended = await hub.log?.append(changeBy(hub)).catch(() => undefined);
  if (appended?.at !== 'committed') return;
  const { sequence } = appended;
  try {
    await hub.membership.appliedByAll(sequence, 5000);
  } catch (error) {
    assert.equal((error as { code?: string }).code, 'HUB_UNAVAILABLE');
    counts.late++;
    return;
  }
  counts.all++;
  for (const incarnation of namesOf(hub)) {
    const member = world.hubs.find((each) => each.incarnation === incarnation);
    assert.ok((member?.applied ?? 0) >= sequence, `${incarnation} has applied ${member?.applied}, not ${sequence}`);
  }
}

/** Injects one fault after another, and ends all of them. */
async function trouble(world: HubWorld, dice: Dice, start: () => void): Promise<void> {
  const { cluster, clock } = world;
  for (let i = 0; i < 7; i++) {
    const { living } = world;
    const hub = living[dice(living.length)];
    const kind = dice(10);
    if (hub === undefined || kind === 0) start();
    else if (kind === 1) world.kill(hub);
    else if (kind === 2) for (const each of living) world.kill(each);
    else if (kind === 3) {
      cluster.stop(hub.incarnation);
      clock.schedule(dice(6000), () => cluster.resume(hub.incarnation));
    } else if (kind === 4) {
      cluster.isolate(hub.incarnation);
      clock.schedule(dice(6000), () => cluster.restore(hub.incarnation));
    } else if (kind === 5) {
      const server = cluster.leaderOf('hub_CONFIG');
      cluster.kill(server);
      clock.schedule(dice(12_000), () => cluster.resume(server));
    } else if (kind === 6) {
      cluster.cut('n1', 'n2');
      clock.schedule(dice(12_000), () => cluster.join('n1', 'n2'));
    } else if (kind === 7) {
      for (const server of ['n2', 'n3']) cluster.cut('n1', server);
      clock.schedule(dice(12_000), () => cluster.restore('n1'));
    } else if (kind === 8) {
      cluster.deafen(hub.incarnation);
      clock.schedule(dice(6000), () => cluster.restore(hub.incarnation));
    } else {
      hub.membership.leave().then(
        () => hub.end(),
        () => world.kill(hub),
      );
    }
    await clock.wait(dice(4000));
  }
  await clock.wait(12_000);
  if (world.living.length === 0) start();
}

const SEEN = { all: 0, late: 0, expelled: 0, left: 0, stopped: 0 };
const SEEDS = 25;

for (let seed = 1; seed <= SEEDS; seed++) {
  test(`Members agree on the membership and on one live owner after faults of seed ${seed}`, async (context) => {
    const world = new HubWorld(context, seed);
    const dice = diceOf(seed + 500);
    // In a third of the seeds several may own partitions.
    const more = { ownersMax: seed % 3 === 0 ? 4 : 1 };
    const { ownersMax } = more;
    world.cluster.mishaps.unanswered = dice(2) * 100;
    const failures: unknown[] = [];
    const start = (): void => {
      const hub = world.add(more);
      live(world, hub, dice, SEEN).catch((error: unknown) => {
        if ((error as { code?: string }).code !== 'HUB_UNAVAILABLE' && (error as Error).name !== 'BusError') {
          failures.push(error);
        }
        hub.end();
        world.kill(hub);
      });
    };
    for (let i = 1 + dice(5); i > 0; i--) start();
    await world.clock.wait(dice(6000));
    await trouble(world, dice, start);
    world.cluster.mishaps.unanswered = 0;
    await world.clock.wait(40_000);

    assert.deepEqual(failures, []);
    assert.deepEqual(world.unsealed, []);
    const { living } = world;
    assert.ok(living.length > 0);
    for (const hub of living) {
      assert.deepEqual(namesOf(hub), names(living));
      assert.deepEqual(hub.membership.map, living[0]?.membership.map);
      assert.deepEqual(hub.stops, []);
      assert.ok(hub.membership.members.every(({ isSuspect }) => !isSuspect));
    }
    const owners = ownersAt(living[0]);
    assert.ok(owners.length > 0 && owners.length <= ownersMax, `${owners}`);
    for (const owner of owners) assert.ok(names(living).includes(owner), `${owner} owns, and is gone`);
    if (ownersMax > 1) {
      assertEven(living, ownersMax);
      for (const hub of living) assertOrderly(hub);
    }

    const records = living[0]?.records ?? [];
    for (const record of records) {
      if (record.kind !== 'expel' && record.kind !== 'leave') continue;
      SEEN[record.kind === 'expel' ? 'expelled' : 'left']++;
      for (const kinds of world.journalOf(record.incarnation)) {
        assert.ok(
          !kinds.slice(kinds.indexOf('seal')).includes('records'),
          `${record.incarnation}: kept behind its seal`,
        );
      }
    }
    SEEN.stopped += world.hubs.filter(({ isOut }) => isOut).length;
  });
}

test('The seeds have covered all cases', (context) => {
  context.diagnostic(JSON.stringify(SEEN));
  assert.ok(SEEN.all > 50 * SEEDS && SEEN.late > 0, JSON.stringify(SEEN));
  assert.ok(SEEN.expelled > 2 * SEEDS && SEEN.left > SEEDS / 10 && SEEN.stopped > SEEDS / 2, JSON.stringify(SEEN));
});

describe('A takeover', () => {
  test('is decided within 3 s of the death of one of two', async (context) => {
    const times: number[] = [];
    for (let seed = 1; seed <= 10; seed++) {
      const world = new HubWorld(context, seed);
      const [owner, other] = await world.start(2);
      assert.ok(owner && other);
      assert.deepEqual([ownersAt(owner), ownersAt(other)], [['h1'], ['h1']]);
      await world.clock.wait(4000 + 37 * seed);
      world.kill(owner);
      times.push(await world.until(() => ownersAt(other)[0] === 'h2', 3000));
      assert.deepEqual(namesOf(other), ['h2']);
    }
    context.diagnostic(`from death to map: ${Math.round(Math.min(...times))} to ${Math.round(Math.max(...times))} ms`);
  });

  test('waits for the election if the leader of the configuration stream fails too', async (context) => {
    for (let seed = 1; seed <= 4; seed++) {
      const world = new HubWorld(context, seed);
      const [owner, other] = await world.start(2);
      assert.ok(owner && other);
      await world.clock.wait(4000);
      world.kill(owner);
      world.cluster.kill(world.cluster.leaderOf('hub_CONFIG'));
      // An election takes 9 s; a connection to the failed server is given up after 5 s, and no member is accused for 3 s then.
      await world.until(() => ownersAt(other)[0] === 'h2', 3000 + 5000 + 9000 + 1000);
    }
  });

  test('gives a hub that has started again the partitions of its previous process at once', async (context) => {
    for (let seed = 1; seed <= 4; seed++) {
      const world = new HubWorld(context, seed);
      const several = { ownersMax: 3 };
      const [other, , killed] = await world.start(3, several);
      assert.ok(killed && other);
      const countOf = (member: string): number => partitionsOf(other.membership.map, member);
      await world.until(() => countOf(killed.incarnation) >= 85, 60_000);
      await world.clock.wait(1000);
      const count = countOf(killed.incarnation);
      world.kill(killed);
      const next = world.add({ ...several, hubName: `hub ${killed.incarnation}` });
      await next.start();
      await world.until(() => countOf(killed.incarnation) === 0, 300);
      assert.equal(countOf(next.incarnation), count);
    }
  });

  test('is decided as soon as most of the killed hubs have started again, with the same names', async (context) => {
    const times: number[] = [];
    for (let seed = 1; seed <= 4; seed++) {
      const world = new HubWorld(context, seed);
      const before = await world.start(5);
      await world.clock.wait(5000);
      for (const hub of before) world.kill(hub);
      await world.clock.wait(seed * 200);
      const [, ...back] = before.map(({ incarnation }) => world.add({ hubName: `hub ${incarnation}` }));
      const [first, second, third] = back;
      assert.ok(first && second && third);
      const fromMs = world.clock.nowMs;
      await Promise.all([first, second].map((hub) => hub.start()));
      await world.clock.wait(3200);
      assert.ok(!names(world.living).includes(ownersAt(first)[0] ?? ''));
      await third.start();
      await world.until(() => names(world.living).includes(ownersAt(first)[0] ?? ''), 300);
      times.push(world.clock.nowMs - fromMs);
    }
    context.diagnostic(`from the first start to map: ${times.map(Math.round).join(', ')} ms`);
  });

  const rows: [name: string, members: number, how: 'killed' | 'stopped', ms: number][] = [
    ['by one that returns after it was the only one', 1, 'killed', 5000],
    ['by one that returns next to the survivor when one of two has failed', 2, 'killed', 5000],
    ['by one that returns alone after three have failed', 3, 'killed', 5000],
    ['by one that returns alone after five have failed', 5, 'killed', 5000],
    ['by one that comes back alone while three stand still', 3, 'stopped', 13_000],
  ];
  for (const [name, members, how, ms] of rows) {
    test(`is decided ${name}`, async (context) => {
      for (let seed = 1; seed <= 4; seed++) {
        const world = new HubWorld(context, seed);
        const before = await world.start(members);
        await world.clock.wait(5000);
        for (const hub of members === 2 ? before.slice(0, 1) : before) {
          hub.isGone = true;
          if (how === 'killed') world.kill(hub);
          else world.cluster.stop(hub.incarnation);
        }
        await world.clock.wait(seed * 200);
        const [back, fromMs] = [world.add(), world.clock.nowMs];
        await back.start();
        const isOwned = (): boolean => world.living.some(({ incarnation }) => ownersAt(back)[0] === incarnation);
        await world.until(isOwned, ms - (world.clock.nowMs - fromMs));
        await world.until(() => namesOf(back).join() === names(world.living).join(), 1000);
      }
    });
  }
});

describe('Members that may all own partitions', () => {
  const SEVERAL = { ownersMax: 256 };
  /** Whether all live hubs have the same even map, and nothing is migrating. */
  const isEven = ({ living }: HubWorld): boolean =>
    living.every(({ state }) => {
      const counts = living.map(
        ({ incarnation }) => state.map?.owners.filter((each) => each === incarnation).length ?? 0,
      );
      return isSettled(state) && state.members.size === living.length && Math.max(...counts) - Math.min(...counts) <= 1;
    });

  test('share them evenly within seconds after each join', async (context) => {
    const times: number[] = [];
    for (let seed = 1; seed <= 6; seed++) {
      const world = new HubWorld(context, seed);
      for (let count = 1; count <= 5; count++) {
        await world.add(SEVERAL).start();
        const { nowMs } = world.clock;
        await world.until(() => isEven(world), 10_000);
        times.push(world.clock.nowMs - nowMs);
        assertEven(world.living);
      }
      for (const hub of world.hubs) assertOrderly(hub);
      const maps = world.hubs[0]?.records.filter(({ kind }) => kind === 'map') ?? [];
      // 128, 85, 64 and 51 partitions, 8 at a time, after the first map.
      assert.equal(maps.length, 1 + 16 + 11 + 8 + 7);
      assert.equal(world.living.length, 5);
    }
    context.diagnostic(`from join to an even map: up to ${Math.round(Math.max(...times))} ms`);
  });

  test('share them evenly if one or several fail during a handover', async (context) => {
    let open = 0;
    for (let seed = 1; seed <= 16; seed++) {
      const world = new HubWorld(context, seed);
      const dice = diceOf(seed);
      for (let count = 0; count < 3 + (seed % 2); count++) await world.add(SEVERAL).start();
      await world.clock.wait(4000 + dice(400));
      const late = world.add(SEVERAL);
      await late.start();
      await world.clock.wait(dice(400));
      const gone = [late, ...world.hubs].filter(() => dice(3) === 0).slice(0, 2);
      open += world.hubs[0]?.state.sources.length ?? 0;
      for (const hub of gone) {
        if (dice(2) === 0) world.kill(hub);
        else
          hub.membership.leave().then(
            () => hub.end(),
            () => world.kill(hub),
          );
        await world.clock.wait(dice(300));
      }
      await world.until(() => isEven(world), 30_000);
      assertEven(world.living);
      for (const hub of world.living) assertOrderly(hub);
      assert.ok(world.living.length >= 2);
    }
    assert.ok(open > 4, `${open}`);
  });

  test('have as many partitions as the hub with which the cluster began has set, whatever others have set', async (context) => {
    const world = new HubWorld(context, 3);
    for (const partitions of [1024, 256, 4096]) await world.add({ ...SEVERAL, partitions }).start();
    await world.until(() => isEven(world), 10_000);
    assertEven(world.living);
    for (const { state } of world.living) assert.equal(state.map?.owners.length, 1024);
    for (const hub of world.hubs) assertOrderly(hub);
  });

  test('move nothing while an object is migrating', async (context) => {
    const world = new HubWorld(context, 1);
    for (let count = 0; count < 2; count++) await world.add(SEVERAL).start();
    await world.until(() => isEven(world), 5000);
    const [first, second] = world.hubs;
    const { owners = [] } = first?.state.map ?? {};
    const [from, to] = [owners.indexOf('h1'), owners.indexOf('h2')];
    const objects = [['provider', 'p', from, to] as const, ['provider', 'q', to, from] as const];
    await second?.log?.append({ kind: 'regroup', by: 'h2', changes: [], objects });
    await world.add(SEVERAL).start();
    await world.until(() => isEven(world), 5000);
    const kinds = first?.records.map(({ kind }) => kind) ?? [];
    assert.equal(kinds.filter((kind) => kind === 'arrived').length, 2);
    const behind = kinds.slice(kinds.indexOf('regroup'), kinds.lastIndexOf('arrived'));
    assert.ok(!behind.includes('map'), `${behind}`);
  });
});

describe('An upgrade to the next version of the protocol', () => {
  const [OLD, NEW] = [{ protocols: [1] }, { protocols: [1, 2] }];
  const protocolsOf = ({ living }: HubWorld): readonly number[] => living.map(({ state }) => state.protocol);

  test('takes effect once the last hub of the older release has left', async (context) => {
    const world = new HubWorld(context, 1);
    for (const release of [OLD, OLD, NEW]) await world.add(release).start();
    for (const old of world.hubs.slice(0, 2)) {
      await world.clock.wait(10_000);
      assert.ok(protocolsOf(world).every((version) => version === 1));
      await world.add(NEW).start();
      await old.membership.leave();
      old.end();
    }
    await world.until(() => protocolsOf(world).every((version) => version === 2), 1000);
    assert.equal(world.living.length, 3);
    await world.add(NEW).start();
    await world.until(() => protocolsOf(world).length === 4, 1000);
  });

  test('keeps hubs of the older release out from then on', async (context) => {
    const world = new HubWorld(context, 2);
    const hub = world.add(NEW);
    await hub.start();
    await world.until(() => hub.state.protocol === 2, 1000);
    const old = world.add(OLD);
    await assert.rejects(old.start(), {
      message: /record \d+: the cluster uses version 2 of its protocol, but this hub supports 1$/,
    });
    assert.deepEqual(old.notices, []);
  });
});

test('A hub that stood still finds itself sealed and expelled, and keeps nothing more', async (context) => {
  const world = new HubWorld(context, 1);
  const [owner, other, third] = await world.start(3);
  assert.ok(owner && other && third);
  await world.clock.wait(4000);
  world.cluster.stop('h1');
  owner.write();
  const ms = await world.until(() => namesOf(other).join() === 'h2,h3', 3000);
  assert.ok(ms >= 1700, `expelled after ${ms} ms of silence`);
  world.cluster.resume('h1');
  await assert.rejects(owner.journal.append(utf8('late')), /was sealed by "hub h/);
  await world.until(() => owner.isOut, 100);
  assert.deepEqual([owner.membership.isMember, ownersAt(third)], [false, ['h2']]);
  await assert.rejects(owner.membership.appliedByAll(1, 100), { code: 'HUB_UNAVAILABLE', message: /is no member/ });
});

test('A hub without appends learns from the log that it was expelled', async (context) => {
  const world = new HubWorld(context, 1);
  const [, standby] = await world.start(2);
  assert.ok(standby);
  await world.clock.wait(4000);
  world.cluster.stop('h2');
  await world.clock.wait(4000);
  world.cluster.resume('h2');
  await world.until(() => standby.isOut, 100);
  assert.equal(standby.journal.nextNumber, 0);
});

test('A hub whose heartbeats are lost answers pings', async (context) => {
  const world = new HubWorld(context, 1);
  const [hub] = await world.start(1);
  const mute = world.add({}, withoutBeats);
  await mute.start();
  await world.clock.wait(20_000);
  assert.ok(hub?.isLiving && mute.isLiving);
  assert.deepEqual(hub.notices, []);
});

/** A bus that loses the heartbeats of its hub. */
function withoutBeats(bus: Bus): Bus {
  return changed(bus, { publish: (subject, bytes) => subject !== 'hub.beat' && bus.publish(subject, bytes) });
}

/** A bus with some other methods. */
function changed(bus: Bus, others: Partial<Bus>): Bus {
  return new Proxy(bus, {
    get(target, key: keyof Bus) {
      const value = others[key] ?? target[key];
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

test('A hub that was stopped accuses no other stopped hub', async (context) => {
  for (let seed = 1; seed <= 5; seed++) {
    const world = new HubWorld(context, seed);
    const hubs = await world.start(5);
    await world.clock.wait(4000);
    for (const { incarnation } of hubs) world.cluster.stop(incarnation);
    await world.clock.wait(20_000);
    for (const { incarnation } of hubs) world.cluster.resume(incarnation);
    await world.clock.wait(10_000);
    assert.equal(world.living.length, 5);
    for (const hub of hubs) assert.deepEqual(namesOf(hub), names(hubs));
  }
});

test('Nobody is expelled while NATS is away, nor when it is there again', async (context) => {
  for (let seed = 1; seed <= 6; seed++) {
    const world = new HubWorld(context, seed);
    const hubs = await world.start(1 + (seed % 4));
    await world.clock.wait(4000);
    for (const server of ['n1', 'n2', 'n3']) world.cluster.kill(server);
    await world.clock.wait(15_000);
    for (const { membership } of hubs) assert.equal(membership.accusing, 'down');
    for (const server of ['n1', 'n2', 'n3']) {
      world.cluster.resume(server);
      await world.clock.wait(seed * 100);
    }
    await world.clock.wait(30_000);
    assert.equal(world.living.length, hubs.length);
    for (const hub of hubs) assert.deepEqual(namesOf(hub), names(hubs));
  }
});

test('A hub whose appends take longer than a second expels no member', async (context) => {
  const world = new HubWorld(context, 1);
  const [owner] = await world.start(1);
  const slow = (ms: number) => new Promise<void>((resolve) => void world.cluster.schedule('h2', ms, resolve));
  let ms = 1100;
  const other = world.add({ barrier: () => slow(ms) });
  await other.start();
  assert.ok(owner);
  await world.clock.wait(4000);
  world.kill(owner);
  await world.clock.wait(10_000);
  assert.deepEqual([namesOf(other), other.membership.accusing], [['h1', 'h2'], 'notCommitted']);
  assert.deepEqual(other.notices.slice(1), ['Not expelling "hub h1" (h1) yet: this hub can append nothing']);
  ms = 500;
  await world.until(() => ownersAt(other)[0] === 'h2', 3000);
});

test('A leaving hub hands over its partitions, sealed, and the last one leaves an empty cluster', async (context) => {
  const world = new HubWorld(context, 1);
  const [first, second] = await world.start(2);
  assert.ok(first && second);
  const fromMs = world.clock.nowMs;
  await first.membership.leave();
  await world.until(() => ownersAt(second)[0] === 'h2', 100);
  assert.ok(world.clock.nowMs - fromMs < 200, `${world.clock.nowMs - fromMs} ms`);
  assert.ok(world.isSealed('h1'));
  assert.deepEqual([first.isOut, first.membership.isMember, namesOf(second)], [false, false, ['h2']]);
  assert.deepEqual(second.notices, ['Hub "hub h1" (h1) has left']);
  first.end();
  await second.membership.leave();
  second.end();
  // The map names a former member: the next hub replaces it.
  const third = world.add();
  await third.start();
  await world.until(() => ownersAt(third)[0] === 'h3', 500);
});

test('leave rejects in time while NATS is unreachable', async (context) => {
  const world = new HubWorld(context, 1);
  const [hub] = await world.start(1);
  assert.ok(hub);
  world.cluster.isolate('h1');
  const fromMs = world.clock.nowMs;
  await assert.rejects(hub.membership.leave({ timeoutMs: 3000 }), {
    code: 'HUB_UNAVAILABLE',
    message: /Cannot leave .*in 3,000 ms$/,
  });
  assert.ok(world.clock.nowMs - fromMs <= 3001);
});

test('appliedByAll resolves some milliseconds after the record, and rejects in time if a member does not apply it', async (context) => {
  const world = new HubWorld(context, 1);
  const [hub, other] = await world.start(3);
  assert.ok(hub?.log && other);
  const times: number[] = [];
  for (let i = 0; i < 20; i++) {
    await world.clock.wait(13);
    const appended = await hub.log.append(changeBy(hub));
    const fromMs = world.clock.nowMs;
    assert.ok(appended.at === 'committed');
    await hub.membership.appliedByAll(appended.sequence, 1000);
    times.push(world.clock.nowMs - fromMs);
  }
  assert.ok(Math.max(...times) < 20, `${times.map(Math.round)} ms`);
  world.cluster.stop('h2');
  const appended = await hub.log.append(changeBy(hub));
  assert.ok(appended.at === 'committed');
  const fromMs = world.clock.nowMs;
  const { sequence } = appended;
  await assert.rejects(hub.membership.appliedByAll(sequence, 300), {
    code: 'HUB_UNAVAILABLE',
    message: `Cannot wait for configuration record ${sequence} any longer: after 300 ms the last is hub h2 ${other.applied}`,
  });
  assert.ok(world.clock.nowMs - fromMs <= 301);
  // It is expelled.
  await hub.membership.appliedByAll(sequence, 3000);
  const ended = assert.rejects(
    hub.membership.appliedByAll(sequence + 9, 3000),
    /this hub is no member of the cluster$/,
  );
  hub.membership.close();
  await ended;
});

test('appliedByAll rejects more requests than may wait', async (context) => {
  const world = new HubWorld(context, 1);
  const [hub] = await world.start(2);
  const waiting = Array.from({ length: 10_001 }, () => hub?.membership.appliedByAll(1000, 100));
  await assert.rejects(waiting.at(-1) ?? Promise.resolve(), /10,000 requests are waiting already$/);
  const settled = await Promise.allSettled(waiting);
  assert.ok(settled.every(({ status }) => status === 'rejected'));
});

test('A member is expelled whose journal was deleted, or is full', async (context) => {
  for (const isFull of [false, true]) {
    const world = new HubWorld(context, 3);
    const [owner, other] = await world.start(2);
    assert.ok(owner && other);
    await world.clock.wait(4000);
    world.kill(owner);
    for (const name of ['hub_J_h1_A', 'hub_J_h1_B']) {
      const stream = world.cluster.streams.get(name)?.stream;
      assert.ok(stream);
      if (isFull) stream.settings = { ...stream.settings, bytesMax: stream.state.bytes };
      else await other.bus.deleteStream(name);
    }
    await world.until(() => ownersAt(other)[0] === 'h2', 15_000);
    assert.ok(world.isSealed('h1'));
  }
});

test('The log names a hub with a different clock, once', async (context) => {
  const world = new HubWorld(context, 1);
  const hub = world.add();
  await hub.start();
  const ahead = world.add({ now: () => world.clock.nowMs + 250 });
  const behind = world.add({ now: () => world.clock.nowMs - 3000 });
  await Promise.all([ahead.start(), behind.start()]);
  await world.clock.wait(60_000);
  assert.equal(hub.notices.length, 2);
  const [one, other] = hub.notices.toSorted();
  assert.match(one ?? '', /^The clock of hub "hub h2" \(h2\) is 2\d\d ms ahead of this one's$/);
  assert.match(other ?? '', /^The clock of hub "hub h3" \(h3\) is (299[6-9]|300[0-4]) ms behind this one's$/);
  const aheadMs = new Map(hub.membership.members.map((member) => [member.incarnation, member.aheadMs]));
  assert.equal(aheadMs.get('h1'), undefined);
  assert.ok(Math.abs((aheadMs.get('h2') ?? 0) - 250) < 5 && Math.abs((aheadMs.get('h3') ?? 0) + 3000) < 5);
});

test('A hub that was stopped does not report the clocks of others, whose heartbeats it reads late', async (context) => {
  for (const stoodMs of [3000, 3060, 3120, 3180, 3240]) {
    const world = new HubWorld(context, 1);
    const [stopped, other] = [world.add({ suspectMs: 10_000 }), world.add({ suspectMs: 10_000 })];
    await Promise.all([stopped.start(), other.start()]);
    await world.clock.wait(4000);
    world.cluster.stop('h1');
    await world.clock.wait(stoodMs);
    world.cluster.resume('h1');
    await world.clock.wait(10_000);
    assert.ok(stopped.membership.isMember);
    const about = [...stopped.notices, ...other.notices].filter((notice) => notice.includes('clock'));
    assert.deepEqual(about, [], `after ${stoodMs} ms`);
  }
});

test('The log has each suspicion and its end, and the reason against expelling, once', async (context) => {
  const world = new HubWorld(context, 1);
  await world.start(2);
  for (const incarnation of ['h1', 'h2']) world.cluster.stop(incarnation);
  const hub = world.add();
  await hub.start();
  await world.clock.wait(4500);
  assert.equal(hub.membership.accusing, 'minority');
  const silent = hub.membership.members.filter(({ isSuspect }) => isSuspect);
  assert.deepEqual(
    silent.map(({ incarnation, silentMs }) => [incarnation, silentMs > 4000]),
    [
      ['h1', true],
      ['h2', true],
    ],
  );
  world.cluster.resume('h2');
  await world.clock.wait(1000);
  const both = '"hub h1" (h1), "hub h2" (h2)';
  assert.deepEqual(
    hub.notices.map((text) => text.replace(/\d{4} ms/, '… ms')),
    [
      'Hub "hub h1" (h1) is suspected: it was silent for … ms',
      'Hub "hub h2" (h2) is suspected: it was silent for … ms',
      `Not expelling ${both} yet: this hub has just got its connection back`,
      `Not expelling ${both} yet: this hub receives heartbeats of no more than half of the members`,
      'Hub "hub h2" (h2) sends heartbeats again',
      'Hub "hub h1" (h1) was expelled',
    ],
  );
});

describe('Messages between members', () => {
  for (const count of [3, 16, 64]) {
    test(`of ${count} are a report per change from each of the others, besides heartbeats and clock queries`, async (context) => {
      const world = new HubWorld(context, 1);
      const delivered = { beat: 0, applied: 0, ping: 0 };
      const counted = (bus: Bus): Bus =>
        changed(bus, {
          subscribe: (subject, take) => {
            const kind = subject.includes('.applied') ? 'applied' : subject.endsWith('.ping') ? 'ping' : 'beat';
            return bus.subscribe(subject, (message) => {
              delivered[kind]++;
              take(message);
            });
          },
        });
      for (let i = 0; i < count; i++) await world.add({ ownersMax: 1 }, counted).start();
      const [hub] = world.hubs;
      assert.ok(hub?.log);
      await world.clock.wait(2000);
      Object.assign(delivered, { beat: 0, applied: 0, ping: 0 });
      const CHANGES = 10;
      const fromMs = world.clock.nowMs;
      for (let i = 0; i < CHANGES; i++) {
        const appended = await hub.log.append(changeBy(hub));
        assert.ok(appended.at === 'committed');
        await hub.membership.appliedByAll(appended.sequence, 1000);
        await world.clock.wait(380);
      }
      const seconds = (world.clock.nowMs - fromMs) / 1000;
      const { applied, beat, ping } = delivered;
      const perSecond = { beat: Math.round(beat / seconds), ping: Math.round(ping / seconds) };
      context.diagnostic(`${applied / CHANGES} reports per change; per second ${JSON.stringify(perSecond)}`);
      assert.equal(applied, CHANGES * (count - 1));
      // Each sends one to each of three, and these send one to each, every 250 ms.
      assert.ok(beat / seconds <= 4.1 * 6 * count);
      assert.ok(ping / seconds <= 4.1 * count);
    });
  }
});

test('A malformed heartbeat, and one of another version, is skipped, counted and logged once', async (context) => {
  const world = new HubWorld(context, 1);
  const [hub] = await world.start(1);
  const stranger = world.cluster.bus('stranger');
  await up(stranger);
  for (const bytes of [Uint8Array.of(0x93), Uint8Array.of(0x91, 9), Uint8Array.of(1)]) {
    stranger.publish('hub.beat', bytes);
    stranger.publish('hub.applied.h1', bytes);
  }
  await world.clock.wait(1000);
  const skipped = 'Skipped a malformed message about members: Cannot read a heartbeat: 1 bytes are not msgpack';
  assert.deepEqual([hub?.notices, hub?.membership.malformed.count], [[skipped], 6]);
  assert.ok(hub?.isLiving);
});

test('Another hub takes over within 6 s when one is killed, on a NATS server', { skip: nats.skip }, async (context) => {
  const world = await natsWorld(context, nats);
  const clock = openClock();
  const hubs = ['a', 'b'].map((incarnation) => {
    const bus = world.bus(incarnation);
    const place = { bus, name: world.name, incarnation, replicas: 1, schedule };
    return new TestHub({ ...place, elapsed: clock.elapsed, now: clock.now });
  });
  const [a, b] = hubs;
  assert.ok(a && b);
  context.after(() => {
    for (const hub of hubs) hub.end();
  });
  const reached = async (owner: string): Promise<number> => {
    const fromMs = clock.elapsed();
    while (ownersAt(b)[0] !== owner) {
      assert.ok(clock.elapsed() - fromMs < 6000, `${owner} owns nothing after 6 s`);
      await new Promise<void>((resolve) => void schedule(5, resolve));
    }
    return clock.elapsed() - fromMs;
  };
  await a.start();
  await b.start();
  await reached('a');
  const appended = await a.log?.append(changeBy(a));
  assert.ok(appended?.at === 'committed');
  const fromMs = clock.elapsed();
  await a.membership.appliedByAll(appended.sequence, 1000);
  const appliedMs = clock.elapsed() - fromMs;
  // It has received a heartbeat of the other, and may accuse.
  await new Promise<void>((resolve) => void schedule(3200, resolve));
  void a.bus.close();
  a.end();
  const ms = await reached('b');
  context.diagnostic(`from close to map: ${Math.round(ms)} ms; applied by both after ${appliedMs.toFixed(1)} ms more`);
  assert.deepEqual(b.stops, []);
});
