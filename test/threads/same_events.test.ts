import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import type { EntityCommand } from '../../src/shards/shard_commands.ts';
import { fenceAround, meters, provider, RunningShards, type Reported, trackable } from './running_shards.ts';

/**
 * Runs the same random input on one, two and three shards. The number of shards must change neither the events of any
 * object nor the order of collisions, which one stage computes for all shards.
 */
const TAGS = ['tag 1', 'tag 2', 'tag 3', 'tag 4'];
const CARTS = ['cart 1', 'cart 2', 'cart 3', 'cart 4'];

const tag = fc.constantFrom(...TAGS);
const cart = fc.constantFrom(...CARTS);
/** Meters east: inside the fence, on its edge, within the tolerance, far away. */
const place = fc.tuple(fc.constantFrom(0, 8, 11, 40, 43), fc.constantFrom(0, 3));

const step = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({ do: fc.constant('move' as const), tag, place, late: fc.constantFrom(0, 0, 0, 5) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('assign' as const),
      cart,
      tags: fc.subarray(TAGS, { maxLength: 2 }),
      parent: fc.constantFrom(undefined, ...CARTS),
      isForced: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('unassign' as const), cart }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('forget' as const, 'delete' as const), tag }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('fence' as const), east: fc.constantFrom(0, 40) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('wait' as const), seconds: fc.constantFrom(1, 2, 7) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('yield' as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const fences = (east: number) => [
  fenceAround('delays', [east, 0], 20, { exit_tolerance: 2, tolerance_timeout: 4000, exit_delay: 3000 }),
  fenceAround('times out', [0, 0], 20, { timeout: 6000, entry_delay: 1000 }),
];

async function play(running: RunningShards, steps: readonly Step[], prefix: string): Promise<void> {
  // New names for every run, since all runs share the shards.
  const name = (id: string) => `${prefix} ${id}`;
  const parents = new Map<string, string | undefined>();
  running.second = Math.ceil(running.second / 1000) * 1000 + 1000;
  running.tell(...fences(0), ...TAGS.map((id) => provider(name(id))));
  for (const [index, id] of CARTS.entries())
    running.tell(trackable(name(id), [name(TAGS[index] ?? '')], { radius: 5 }));
  for (const now of steps) {
    switch (now.do) {
      case 'move':
        running.location(name(now.tag), meters(...now.place), { generated: running.second - now.late });
        break;
      case 'assign': {
        const tags = now.tags.map(name);
        const isCarried = now.parent === undefined || now.parent <= now.cart || !parents.has(now.parent);
        const parent = isCarried ? undefined : now.parent;
        parents.set(now.cart, parent);
        const made = trackable(name(now.cart), tags, { radius: 5, ...(parent && { parent: name(parent) }) });
        running.tell(now.isForced ? ({ ...made, force: true } as EntityCommand) : made);
        break;
      }
      case 'unassign':
        parents.delete(now.cart);
        running.tell({ kind: 'trackable', id: name(now.cart), entity: undefined });
        break;
      case 'forget':
        running.shards.forget(name(now.tag));
        break;
      case 'delete':
        running.tell({ kind: 'provider', id: name(now.tag), entity: undefined });
        break;
      case 'fence':
        running.tell(...fences(now.east));
        break;
      case 'wait':
        running.second += now.seconds;
        break;
      case 'yield':
        await new Promise((resolve) => setImmediate(resolve));
        break;
    }
  }
  running.second += 100;
  await running.settle();
  for (const id of CARTS) running.tell({ kind: 'trackable', id: name(id), entity: undefined });
  for (const id of TAGS) running.tell({ kind: 'provider', id: name(id), entity: undefined });
  await running.settle();
}

/** Events of each object, and collisions, without event ids and sending times. */
function storyOf(events: readonly Reported[], prefix: string): Record<string, unknown[]> {
  const story: Record<string, unknown[]> = {};
  for (const { topic, ...event } of events) {
    const isMotion = topic === 'trackable_motions';
    const object = isMotion ? event['id'] : (event['trackable_id'] ?? event['provider_id'] ?? '');
    const of = `${topic} ${topic === 'collision_events' ? '' : object}`;
    const { id: _made, ...rest } = event;
    const text = JSON.stringify(isMotion ? event : rest).replaceAll(/,"timestamp_sent":"[^"]*"/g, '');
    const reported = JSON.parse(text.replaceAll(`${prefix} `, '')) as object;
    story[of.replaceAll(`${prefix} `, '')] ??= [];
    story[of.replaceAll(`${prefix} `, '')]?.push(reported);
  }
  return story;
}

const all = [1, 2, 3].map((shards) => new RunningShards({ shards, batchMax: shards * 3 }));
after(() => Promise.all(all.map((running) => running.close())));

test('The number of shards changes no event, even while assignments change and objects migrate between shards', async () => {
  let round = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 40, maxLength: 80 }), async (steps) => {
      // The prefix determines which shards own the objects.
      const prefix = `round ${++round}`;
      const stories = await Promise.all(
        all.map(async (running) => {
          running.events.length = 0;
          await play(running, steps, prefix);
          return storyOf(running.events, prefix);
        }),
      );
      assert.deepEqual(stories[1], stories[0]);
      assert.deepEqual(stories[2], stories[0]);
    }),
    { numRuns: 12, seed: 3 },
  );
  const [one] = all;
  assert.ok((one?.counts.entries ?? 0) > 50 && (one?.counts.collisionsStarted ?? 0) > 20, JSON.stringify(one?.counts));
});

test('The number of shards does not change the events of a trackable whose deleted parent carried it', async () => {
  // The names determine which shards own the objects before and after the deletion.
  for (let round = 0; round < 4; round++) {
    const prefix = `carried ${round}`;
    const [first, second, third] = CARTS.map((id) => `${prefix} ${id}`) as [string, string, string];
    const stories = await Promise.all(
      all.map(async (running) => {
        running.events.length = 0;
        running.second = Math.ceil(running.second / 1000) * 1000 + 1000;
        running.tell(...fences(0), provider(`${prefix} tag`), trackable(first, [], { radius: 5 }));
        running.tell(trackable(second, [`${prefix} tag`], { radius: 5, parent: first }));
        running.tell(trackable(third, [], { radius: 5, parent: second }));
        running.location(`${prefix} tag`, meters(0, 0));
        running.tell({ kind: 'trackable', id: second, entity: undefined });
        await running.settle();
        const story = storyOf(running.events, prefix);
        running.tell(...[first, third].map((id) => ({ kind: 'trackable' as const, id, entity: undefined })));
        await running.settle();
        return story;
      }),
    );
    assert.ok(stories[0]?.['fence_events cart 3']?.length, JSON.stringify(stories[0]));
    assert.deepEqual(stories[1], stories[0]);
    assert.deepEqual(stories[2], stories[0]);
  }
});
