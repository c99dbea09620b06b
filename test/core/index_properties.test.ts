import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ReferenceFenceIndex } from '../support/reference_fence_index.ts';
import { commandsOf } from './site/commands.ts';
import { play, textsOf } from './site/play.ts';
import { randomSite } from './site/steps.ts';

const RUNS = { numRuns: 25, seed: 7 };

test('The events are the same as with a brute-force index', async () => {
  await fc.assert(
    fc.asyncProperty(randomSite(24), async (steps) => {
      const timed = commandsOf(steps);
      const expected = textsOf(await play(timed, { index: new ReferenceFenceIndex() }));
      assert.deepEqual(textsOf(await play(timed)), expected);
    }),
    RUNS,
  );
});
