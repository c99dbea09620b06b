import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { square } from '../support/hall.ts';
import { deleted, fence, inHall, trackable, zone } from '../support/shard_harness.ts';
import { leftovers } from './leftovers.ts';
import { commandsOf, type Timed } from './site/commands.ts';
import { play, SharedSite, saidOf } from './site/play.ts';
import { randomSite } from './site/steps.ts';

const RUNS = { numRuns: 150, seed: 7 };

for (const seed of [1, 7]) {
  test(`The number of shards that share the objects does not change the events of any object, seed ${seed}`, async () => {
    let moves = 0;
    await fc.assert(
      fc.asyncProperty(randomSite(50), fc.integer({ min: 2, max: 5 }), async (steps, count) => {
        const timed = commandsOf(steps);
        const site = await SharedSite.play(timed, count);
        assertSameStory(saidOf(site.outcomes), saidOf((await play(timed)).outcomes));
        moves += site.moves;
      }),
      { ...RUNS, seed },
    );
    assert.ok(moves > 100, `only ${moves} moves`);
  });
}

for (const count of [2, 3, 4, 5]) {
  test(`A trackable whose deleted parent carried it leaves its fences and collisions, ${count} shards`, async () => {
    const timed = [
      zone(),
      fence(square({ id: 'f0' })),
      trackable('t0', []),
      trackable('t1', ['p3'], { parent: 't0' }),
      trackable('t2', [], { parent: 't1' }),
      inHall(6, [5, 5], { provider_id: 'p3' }),
      deleted('trackable', 't1'),
    ].map((command, i): Timed => ({ second: i + 1, command }));
    const site = await SharedSite.play(timed, count);
    const story = saidOf(site.outcomes);
    assert.deepEqual(
      story['t2']?.map((text) => JSON.parse(text).kind),
      ['moved', 'gone'],
    );
    assert.equal(story['3 t2']?.length, 2);
    assertSameStory(story, saidOf((await play(timed)).outcomes));
    assert.ok(site.moves > 0);
  });
}

/** Compares object by object: the difference of two long lists takes minutes to print. */
function assertSameStory(found: Record<string, string[]>, expected: Record<string, string[]>): void {
  assert.deepEqual(Object.keys(found).toSorted(), Object.keys(expected).toSorted());
  for (const [object, texts] of Object.entries(expected)) {
    const at = texts.findIndex((text, i) => text !== found[object]?.[i]);
    if (at >= 0) assert.equal(found[object]?.[at], texts[at], `${object}, event ${at}`);
    assert.equal(found[object]?.length, texts.length, `events of ${object}`);
  }
}

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
