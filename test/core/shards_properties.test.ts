import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { leftovers } from './leftovers.ts';
import { commandsOf } from './site/commands.ts';
import { play, SharedSite, saidOf } from './site/play.ts';
import { randomSite } from './site/steps.ts';

const RUNS = { numRuns: 150, seed: 7 };

test('The number of shards that share the objects does not change the events of any object', async () => {
  let moves = 0;
  await fc.assert(
    fc.asyncProperty(randomSite(50), fc.integer({ min: 2, max: 5 }), async (steps, count) => {
      const timed = commandsOf(steps);
      const expected = saidOf((await play(timed)).outcomes);
      const site = await SharedSite.play(timed, count);
      assert.deepEqual(saidOf(site.outcomes), expected);
      moves += site.moves;
    }),
    RUNS,
  );
  assert.ok(moves > 100, `only ${moves} moves`);
});

test('Shards retain nothing of objects that they do not own', async () => {
  await fc.assert(
    fc.asyncProperty(randomSite(30), async (steps) => {
      const { benches } = await SharedSite.play(commandsOf(steps), 3);
      const owners = new Map<string, number>();
      for (const [i, { shard }] of benches.entries()) {
        const { providers, trackables, fences, assigned } = shard.state;
        for (const id of [...providers.keys(), ...trackables.keys()]) {
          assert.equal(owners.has(id), false, `${id} is in shards ${owners.get(id)} and ${i}`);
          owners.set(id, i);
        }
        const here = new Set<object>([...providers.values(), ...trackables.values()]);
        for (const { occupants } of fences.values()) for (const object of occupants) assert.ok(here.has(object));
        for (const { trackables: of } of assigned.values()) for (const object of of) assert.ok(here.has(object));
        if (here.size === 0)
          assert.deepEqual(
            leftovers(shard.state).filter((left) => !/^(fences|slots|zones|crossing)/.test(left)),
            [],
          );
      }
    }),
    RUNS,
  );
});
