import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { HALL } from '../support/hall.ts';
import { deleted, ShardHarness, T0 } from '../support/shard_harness.ts';
import { leftovers } from './leftovers.ts';
import { Alternation } from './site/alternation.ts';
import { commandsOf, endOf, LATER, type Timed } from './site/commands.ts';
import { play, textsOf } from './site/play.ts';
import { FENCES, PROVIDERS, randomSite, TRACKABLES } from './site/steps.ts';

const RUNS = { numRuns: 150, seed: 7 };

function millis(time: string | null | undefined): number {
  return Date.parse(time as string);
}

test('After any actions, entries and exits of an object and a fence alternate, and no exit is before its entry', async () => {
  let crossings = 0;
  await fc.assert(
    fc.asyncProperty(randomSite(60), async (steps) => {
      const timed = commandsOf(steps);
      const harness = await ShardHarness.open();
      const alternation = new Alternation();
      const check = (second: number): void => {
        for (const event of harness.takeFenceEvents()) {
          alternation.observed(event);
          crossings++;
          const [entry, exit] = [millis(event.entry_time), millis(event.exit_time ?? event.entry_time)];
          assert.ok(exit >= entry && exit <= T0 + second * 1000);
        }
      };
      for (const { second, command } of timed) {
        harness.tell(second, command);
        check(second);
        if (command.kind === 'fence' && command.entity === undefined) alternation.fenceDeleted(command.id);
      }
      harness.step(endOf(timed) + LATER);
      check(endOf(timed) + LATER);
    }),
    RUNS,
  );
  assert.ok(crossings > 1000, `only ${crossings} crossings`);
});

test('After any actions, every location is processed, outdated or rejected, and every crossing is counted', async () => {
  const total = { processed: 0, outdated: 0, rejected: 0 };
  await fc.assert(
    fc.asyncProperty(randomSite(60), async (steps) => {
      const timed = commandsOf(steps);
      const { outcomes, observed } = await play(timed);
      const sum = { processed: 0, outdated: 0, rejected: 0, entries: 0, exits: 0 };
      for (const { counts } of outcomes)
        for (const name of Object.keys(sum) as (keyof typeof sum)[]) sum[name] += counts[name];
      const received = timed.filter(({ command }) => command.kind === 'location').length;
      assert.equal(received, sum.processed + sum.outdated + sum.rejected);
      assert.equal(observed.locations.length, sum.processed);
      const exits = observed.fenceEvents.filter(({ event_type: type }) => type === 'region_exit');
      assert.deepEqual([observed.fenceEvents.length, exits.length], [sum.entries + sum.exits, sum.exits]);
      for (const name of ['processed', 'outdated', 'rejected'] as const) total[name] += sum[name];
    }),
    RUNS,
  );
  for (const [name, count] of Object.entries(total)) assert.ok(count > 50, `only ${count} ${name}`);
});

test('After any actions, deleting everything leaves no state', async () => {
  await fc.assert(
    fc.asyncProperty(randomSite(40), fc.boolean(), async (steps, isWaiting) => {
      const timed = commandsOf(steps);
      const harness = isWaiting ? await play(timed) : await play(timed.slice(0, -1));
      const end = endOf(timed) + LATER + 1;
      for (const id of PROVIDERS) harness.tell(end, deleted('provider', id));
      for (const id of TRACKABLES) harness.tell(end, deleted('trackable', id));
      for (const { occupants } of harness.shard.state.fences.values()) assert.equal(occupants.size, 0);
      for (const id of FENCES) harness.tell(end, deleted('fence', id));
      harness.tell(end, deleted('zone', HALL.id), { kind: 'rules', rules: [] });
      assert.deepEqual(leftovers(harness.shard.state), []);
    }),
    RUNS,
  );
});

test('Splitting or joining batches changes neither the events nor their order', async () => {
  await fc.assert(
    fc.asyncProperty(randomSite(60), fc.infiniteStream(fc.nat(3)), async (steps, choices) => {
      const timed = commandsOf(steps);
      const expected = textsOf(await play(timed));
      assert.deepEqual(textsOf(await playInBatches(timed, choices)), expected);
      assert.deepEqual(textsOf(await playInBatches(timed, constant(1))), expected);
    }),
    RUNS,
  );
});

/** 0: a step now. 1: only collects. 2 and 3: a step now, and another at that fraction of the time to the next. */
async function playInBatches(timed: readonly Timed[], choices: Iterator<number>): Promise<ShardHarness> {
  const harness = await ShardHarness.open();
  let items: ReturnType<ShardHarness['items']> = [];
  for (const [i, { second, command }] of timed.entries()) {
    items.push(...harness.items(second, command));
    const choice = choices.next().value as number;
    if (choice === 1) continue;
    harness.step(second, items);
    items = [];
    const next = timed[i + 1]?.second;
    if (choice > 1 && next !== undefined) harness.step(second + ((next - second) * (choice - 1)) / 2);
  }
  harness.step(endOf(timed) + LATER, items);
  return harness;
}

function* constant(value: number): Generator<number> {
  for (;;) yield value;
}
