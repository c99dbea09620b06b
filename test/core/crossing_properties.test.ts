import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { PastStep } from '../../src/core/item.ts';
import { look } from '../../src/model/borrowed.ts';
import type { FenceEvent } from '../../src/model/events.ts';
import { ShardHarness } from '../support/shard_harness.ts';
import { commandsOf, endOf, entitiesAfter, LATER, type Timed } from './site/commands.ts';
import { play, saidOf, SharedSite } from './site/play.ts';
import { randomSite, type Step } from './site/steps.ts';

const RUNS = { numRuns: 40, seed: 7 };

/** The commands of a site all of whose fences evaluate the ways between locations. */
function crossed(steps: readonly Step[]): Timed[] {
  return commandsOf(steps).map(({ second, command }) => {
    if (command.kind !== 'fence' || command.entity === undefined) return { second, command };
    return { second, command: { ...command, entity: { ...command.entity, crossing: 'segment' } } };
  });
}

function markedOf(events: readonly FenceEvent[]): number {
  return events.filter(({ properties }) => properties?.['hub.crossed'] === true).length;
}

test('The number of shards does not change events between locations', async () => {
  let marked = 0;
  await fc.assert(
    fc.asyncProperty(randomSite(50), fc.integer({ min: 2, max: 5 }), async (steps, count) => {
      const timed = crossed(steps);
      const one = await play(timed);
      assert.deepEqual(saidOf((await SharedSite.play(timed, count)).outcomes), saidOf(one.outcomes));
      marked += markedOf(one.observed.fenceEvents);
    }),
    RUNS,
  );
  assert.ok(marked > 20, `only ${marked} events`);
});

test('The division into steps does not change events between locations', async () => {
  await fc.assert(
    fc.asyncProperty(randomSite(50), fc.integer({ min: 2, max: 9 }), async (steps, size) => {
      const timed = crossed(steps);
      const many = await ShardHarness.open();
      for (let at = 0; at < timed.length; at += size) {
        const some = timed.slice(at, at + size);
        many.step(
          endOf(some),
          some.flatMap(({ second, command }) => many.items(second, command)),
        );
      }
      many.step(endOf(timed) + LATER);
      assert.deepEqual(many.observed.fenceEvents, (await play(timed)).observed.fenceEvents);
    }),
    RUNS,
  );
});

test('A shard that replays the effects of all steps finds the same events between locations', async () => {
  let marked = 0;
  await fc.assert(
    fc.asyncProperty(randomSite(50), fc.nat(), async (steps, die) => {
      const timed = crossed(steps);
      const before = timed.slice(0, 13 + (die % (timed.length - 12)));
      const first = await ShardHarness.open();
      const past = before.map(({ second, command }): PastStep => {
        const items = first.items(second, command);
        const { effects } = first.step(second, items);
        return { locations: items.filter((item) => item.kind === 'location'), effects: Buffer.from(look(effects)) };
      });
      const second = await ShardHarness.open();
      const items = second
        .items(0, ...entitiesAfter(before), { kind: 'replay', steps: past })
        .map((item) => Object.assign(item, { seq: 0, receivedMs: 0 }));
      second.shard.step({ nowMs: 0, items, flushBudget: 0 });
      first.takeFenceEvents();
      for (const harness of [first, second]) {
        for (const { second: at, command } of timed.slice(before.length)) harness.tell(at, command);
        harness.step(endOf(timed) + LATER);
      }
      const [expected, found] = [first.takeFenceEvents(), second.takeFenceEvents()];
      assert.deepEqual(found.map(withoutId), expected.map(withoutId));
      marked += markedOf(expected);
    }),
    RUNS,
  );
  assert.ok(marked > 5, `only ${marked} events`);
});

function withoutId({ id: _, ...event }: FenceEvent): object {
  return event;
}
