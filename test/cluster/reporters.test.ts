import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { advance, HEARTBEAT_MS, type Members, openMembers, type Signal } from '../../src/cluster/membership/members.ts';
import { beatSubjects, report } from '../../src/cluster/membership/reporters.ts';
import { suspects } from '../../src/cluster/membership/suspicion.ts';
import type { Heartbeat } from '../../src/cluster/messages/messages.ts';
import type { Bus } from '../../src/cluster/nats/bus.ts';
import { HubWorld, type TestHub } from './membership_world.ts';

const SUSPECT_MS = 2000;
const IDS = ['a', 'b', 'c', 'd', 'e', 'f'];

/** The members a to f at one of them, of which a, b and c are reporters, silent since 0. */
function at(self: string, ...signals: readonly Signal[]): Members {
  const joined = IDS.map((incarnation, i): Signal => {
    return { is: 'join', sequence: i + 1, atMs: 0, incarnation, name: incarnation, protocols: [1] };
  });
  const opened = openMembers(self, { suspectMs: SUSPECT_MS });
  return [{ is: 'up', atMs: -10_000 } as const, ...joined, ...signals].reduce(advance, opened);
}

function beat(incarnation: string, atMs: number, ...seen: Heartbeat['seen']): Signal {
  return {
    is: 'beat',
    atMs,
    beat: { incarnation, applied: 6, clockMs: 0, room: 0, loads: new Map(), seen },
  };
}

function pinged(is: 'unanswered' | 'noResponders', incarnation: string, atMs: number): Signal {
  return { is, incarnation, atMs };
}

function suspectsOf(members: Members, nowMs: number): string {
  return suspects(members, nowMs)
    .map(({ incarnation }) => incarnation)
    .join('');
}

describe('A report about a member that sends this hub no heartbeats', () => {
  const rows: [name: string, self: string, signals: Signal[], suspectAtMs: number][] = [
    ['counts from the last message that it shows', 'd', [beat('a', 900, ['e', 6, 200])], 2700],
    ['counts if it is the latest', 'd', [beat('a', 900, ['e', 6, 200]), beat('b', 950, ['e', 6, 400])], 2700],
    ['does not count if it is older than a message', 'd', [beat('e', 800), beat('a', 900, ['e', 6, 200])], 2800],
    ['does not count at a reporter', 'a', [beat('b', 900, ['e', 6, 200])], 2000],
    ['does not count from a removed hub', 'd', [beat('x', 900, ['e', 6, 200])], 2000],
    ['does not count after an unanswered ping', 'd', [pinged('unanswered', 'e', 1), beat('a', 900, ['e', 6, 0])], 2000],
    [
      'does not count after one without responders',
      'd',
      [pinged('noResponders', 'e', 1), beat('a', 900, ['e', 6, 0])],
      1000,
    ],
    [
      'leaves an earlier one',
      'd',
      [beat('a', 900, ['e', 6, 0]), pinged('unanswered', 'e', 1), beat('a', 950, ['e', 6, 0])],
      2900,
    ],
    [
      'counts again after a message',
      'd',
      [pinged('unanswered', 'e', 1), beat('e', 500), beat('a', 900, ['e', 6, 0])],
      2900,
    ],
    [
      'counts if a message came after the ping',
      'd',
      [beat('e', 500), pinged('unanswered', 'e', 499), beat('a', 900, ['e', 6, 0])],
      2900,
    ],
  ];
  for (const [name, self, signals, suspectAtMs] of rows) {
    test(name, () => {
      const members = at(self, ...signals);
      assert.ok(!suspectsOf(members, suspectAtMs - 1).includes('e'));
      assert.ok(suspectsOf(members, suspectAtMs).includes('e'));
    });
  }

  test('never counts for a reporter, nor for a hub that is no member', () => {
    const members = at('d', beat('a', 900, ['b', 6, 0], ['x', 6, 0], ['e', 6, 0]));
    assert.equal(suspectsOf(members, 2000), 'bcf');
  });

  test('shows what the member has applied, whether or not it counts', () => {
    const members = at(
      'd',
      pinged('unanswered', 'e', 1),
      beat('a', 9, ['e', 8, 0], ['f', 9, 0]),
      beat('b', 9, ['f', 7, 0]),
    );
    assert.deepEqual(
      ['e', 'f'].map((each) => members.all.get(each)?.applied),
      [8, 9],
    );
  });
});

test('Only reporters report on other members, by the messages that they have received themselves', () => {
  const signals = [beat('d', 400), beat('b', 900, ['e', 8, 10])];
  assert.deepEqual(report(at('a', ...signals), 1000), [
    ['d', 6, 600],
    ['e', 8, 1000],
    ['f', 6, 1000],
  ]);
  assert.deepEqual(report(at('d', ...signals), 1000), []);
});

test('Reporters send heartbeats to all, the others to the reporters', () => {
  assert.deepEqual(beatSubjects(at('c'), 'hub'), ['hub.beat']);
  assert.deepEqual(beatSubjects(at('d'), 'hub'), ['hub.beat.a', 'hub.beat.b', 'hub.beat.c']);
  const expelled: Signal = { is: 'expel', sequence: 7, incarnation: 'b' };
  assert.deepEqual(beatSubjects(at('d', expelled), 'hub'), ['hub.beat']);
});

test('However late heartbeats and reports arrive, silence seems to begin when the last heartbeat or the last report was in transit', () => {
  const beats = fc.array(fc.record({ toReporterMs: fc.nat(400), toHubMs: fc.nat(400) }), {
    minLength: 1,
    maxLength: 30,
  });
  fc.assert(
    fc.property(beats, (all) => {
      let reporter = at('a');
      let hub = at('d');
      const arrivals = all.map(({ toReporterMs }, i) => i * HEARTBEAT_MS + toReporterMs);
      let latestMs = 0;
      let reportDelayMs = 0;
      // Reports go on long after the member's last heartbeat.
      for (let i = 0; i < all.length + 20; i++) {
        const nowMs = i * HEARTBEAT_MS;
        for (const arrivedMs of arrivals.filter((each) => each > nowMs - HEARTBEAT_MS && each <= nowMs)) {
          reporter = advance(reporter, beat('e', arrivedMs));
          latestMs = Math.max(latestMs, arrivedMs);
        }
        const delayMs = all[i]?.toHubMs ?? 400;
        reportDelayMs = Math.max(reportDelayMs, delayMs);
        hub = advance(hub, beat('a', nowMs + delayMs, ...report(reporter, nowMs)));
        const seenMs = hub.all.get('e')?.lastSeenMs ?? 0;
        assert.ok(seenMs >= latestMs && seenMs <= latestMs + reportDelayMs, `${seenMs} for ${latestMs}`);
      }
    }),
    { seed: 405, numRuns: 100 },
  );
});

/** Hubs with heartbeats from each other, and the messages that two of them lose. */
async function eight(
  world: HubWorld,
  lost: (from: string, subject: string) => boolean = () => false,
): Promise<TestHub[]> {
  const hubs: TestHub[] = [];
  for (let i = 1; i <= 8; i++) {
    const hub = world.add({}, (bus) => withoutRequests(bus, (subject) => lost(`h${i}`, subject)));
    hubs.push(hub);
    await hub.start();
  }
  await world.clock.wait(5000);
  return hubs;
}

function withoutRequests(bus: Bus, isLost: (subject: string) => boolean): Bus {
  const request: Bus['request'] = (subject, bytes, asking) =>
    bus.request(isLost(subject) ? 'lost' : subject, bytes, asking);
  return new Proxy(bus, {
    get(target, key: keyof Bus) {
      const value = key === 'request' ? request : target[key];
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

function gone(hub: TestHub): string[] {
  return hub.records.flatMap((record) => (record.kind === 'expel' ? [record.incarnation] : []));
}

describe('Of eight members', () => {
  const rows: [name: string, killed: readonly number[], ms: number][] = [
    ['a reporter', [2], 2500],
    ['another one', [6], 2500],
    ['all reporters at once', [1, 2, 3], 3000],
    ['two reporters and an other one', [1, 3, 8], 3000],
  ];
  for (const [name, killed, ms] of rows) {
    test(`${name}, when killed, and no other, is expelled as fast as one of two`, async (context) => {
      const times: number[] = [];
      for (let seed = 1; seed <= 5; seed++) {
        const world = new HubWorld(context, seed);
        const hubs = await eight(world);
        await world.clock.wait(seed * 50);
        const dead = killed.map((number) => `h${number}`);
        for (const hub of hubs) if (dead.includes(hub.incarnation)) world.kill(hub);
        times.push(await world.until(() => world.living.every((hub) => gone(hub).length === dead.length), ms));
        await world.clock.wait(8000);
        assert.equal(world.living.length, 8 - dead.length);
        for (const hub of world.living) {
          assert.deepEqual(gone(hub).toSorted(), dead);
          assert.ok(hub.membership.members.every(({ isSuspect, silentMs }) => !isSuspect && silentMs < 600));
        }
      }
      context.diagnostic(
        `expelled at all after ${Math.round(Math.min(...times))} to ${Math.round(Math.max(...times))} ms`,
      );
    });
  }

  test('one that stands still is expelled, and two that do not reach each other are no longer both members', async (context) => {
    for (let seed = 1; seed <= 5; seed++) {
      const world = new HubWorld(context, seed);
      let isCut = false;
      const hubs = await eight(world, (from, subject) => {
        return (
          isCut &&
          ['h5h6', 'h6h5'].some((pair) => subject === `hub.in.${pair.replace(from, '')}.ping` && pair.startsWith(from))
        );
      });
      world.cluster.stop('h7');
      await world.until(() => hubs.slice(0, 6).every((hub) => gone(hub).includes('h7')), 3500);
      isCut = true;
      await world.until(() => hubs.slice(0, 4).every((hub) => gone(hub).length === 2), 8000);
      const [, other = ''] = gone(hubs[0] as TestHub);
      assert.ok(['h5', 'h6'].includes(other), other);
    }
  });
});
