import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { LastKnownRow } from '../../src/core/item.ts';
import { ShardHarness, T0 } from '../support/shard_harness.ts';
import { Alternation } from './site/alternation.ts';
import { commandsOf, endOf, entitiesAfter, LATER, type Timed } from './site/commands.ts';
import { randomSite } from './site/steps.ts';

const RUNS = { numRuns: 150, seed: 7 };
const HOLD = 2;

/** Stored rows of a shard. */
class Kept {
  readonly #rows = new Map<string, LastKnownRow>();

  take(rows: readonly LastKnownRow[]): void {
    for (const row of rows) {
      if (row.gone === true) this.#rows.delete(`${row.kind} ${row.id}`);
      else this.#rows.set(`${row.kind} ${row.id}`, row);
    }
  }

  get rows(): (LastKnownRow & { gone?: false })[] {
    return [...this.#rows.values()].filter((row) => row.gone !== true);
  }
}

interface Crash {
  /** Number of commands before it. */
  readonly at: number;
  /** Commands per flush of all rows. Urgent rows are stored with each command. */
  readonly flushEvery: number;
  readonly downSeconds: number;
}

/** Plays until the crash, and opens a new shard with the stored rows. */
async function playAndRestart(
  timed: readonly Timed[],
  crash: Crash,
  watch: (harness: ShardHarness, of?: Timed) => void,
) {
  const before = await ShardHarness.open();
  const kept = new Kept();
  const first = timed.slice(0, crash.at);
  for (const [i, of] of first.entries()) {
    before.rows = i % crash.flushEvery === 0 ? 'all' : 'urgent';
    kept.take(before.tell(of.second, of.command).rows);
    watch(before, of);
  }
  const second = endOf(first) + crash.downSeconds;
  const after = await ShardHarness.open();
  after.tell(second, ...entitiesAfter(first));
  after.tell(second, { kind: 'restore', rows: kept.rows, suppressUntilMs: T0 + (second + HOLD) * 1000 });
  watch(after);
  return { after, kept, second };
}

const crashes = fc.record({
  at: fc.integer({ min: 13, max: 50 }),
  flushEvery: fc.constantFrom(1, 2, 5, 1000),
  downSeconds: fc.constantFrom(0, 1, 4, 20),
});

test('A restart repeats no entry and no exit, whichever rows beyond the urgent ones were stored', async () => {
  await fc.assert(
    fc.asyncProperty(randomSite(50), crashes, async (steps, crash) => {
      const timed = commandsOf(steps);
      const alternation = new Alternation();
      const watch = (harness: ShardHarness, of?: Timed): void => {
        for (const event of harness.takeFenceEvents()) alternation.observed(event);
        const command = of?.command;
        if (command?.kind === 'fence' && command.entity === undefined) alternation.fenceDeleted(command.id);
      };
      const { after } = await playAndRestart(timed, crash, watch);
      for (const of of timed.slice(crash.at)) {
        const second = of.second + crash.downSeconds;
        after.tell(second, of.command);
        watch(after, of);
      }
      after.step(endOf(timed) + crash.downSeconds + LATER);
      watch(after);
    }),
    RUNS,
  );
});

test('After a restart without new locations, each member exits once, at its own fence timeout, or never', async () => {
  let overdue = 0;
  await fc.assert(
    fc.asyncProperty(randomSite(40), crashes, async (steps, crash) => {
      const timed = commandsOf(steps);
      const { after, kept, second } = await playAndRestart(timed, crash, () => {});
      assert.deepEqual(after.events, []);
      after.step(second + HOLD - 0.001);
      const early = after.takeFenceEvents();
      after.step(second + 3600);
      const events = [...early, ...after.takeFenceEvents()];
      const left = events.map((event) => {
        assert.equal(event.event_type, 'region_exit');
        const kind = event.trackable_id == null ? 'provider' : 'trackable';
        return `${kind} ${event.trackable_id ?? event.provider_id} ${event.fence_id} ${event.entry_time} ${event.exit_time}`;
      });
      const due = kept.rows.flatMap((row) =>
        row.memberships.flatMap(([fenceId, entryMs]) => {
          const timeoutMs = timeoutOf(timed.slice(0, crash.at), row, fenceId);
          if (entryMs === null || timeoutMs === undefined) return [];
          const exitMs = Math.max(entryMs, row.receivedMs + timeoutMs);
          if (exitMs < T0 + second * 1000) overdue++;
          return [
            `${row.kind} ${row.id} ${fenceId} ${new Date(entryMs).toISOString()} ${new Date(exitMs).toISOString()}`,
          ];
        }),
      );
      assert.deepEqual(left.toSorted(), due.toSorted());
      assert.deepEqual(early, []);
    }),
    { ...RUNS, numRuns: 250 },
  );
  assert.ok(overdue > 20, `only ${overdue} overdue exits`);
});

/**
 * The fence timeout of an object in a fence, computed as documented; undefined without one, or if the fence or object
 * does not exist.
 */
function timeoutOf(timed: readonly Timed[], row: LastKnownRow & { gone?: false }, fenceId: string): number | undefined {
  type Timeouts = { fence_timeout?: number | null; timeout?: number | null; location_providers?: string[] };
  const entities = entitiesAfter(timed);
  const find = (kind: string, id: string): Timeouts | undefined => {
    const reported = entities.find((command) => command.kind === kind && 'id' in command && command.id === id);
    return reported !== undefined && 'entity' in reported ? (reported.entity as Timeouts) : undefined;
  };
  const fence = find('fence', fenceId);
  if (fence === undefined || (row.kind === 'trackable' && find('trackable', row.id) === undefined)) return undefined;
  const providerId = row.kind === 'provider' ? row.id : JSON.parse(row.location).provider_id;
  const trackables = entities.filter(
    (command) => command.kind === 'trackable' && command.entity?.location_providers?.includes(row.id),
  );
  const only = trackables.length === 1 ? (trackables[0] as { entity: Timeouts }).entity : undefined;
  const trackable = row.kind === 'trackable' ? find('trackable', row.id) : only;
  const value = find('provider', providerId)?.fence_timeout ?? trackable?.fence_timeout ?? fence.timeout ?? 0;
  return value > 0 ? value : undefined;
}
