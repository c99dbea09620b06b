import assert from 'node:assert/strict';
import { constants, setPriority } from 'node:os';
import { test } from 'node:test';
import { playSeeds } from './simulation/play_seeds.ts';

const SEEDS = 400;

// In a whole run, simulations take the time that other tests leave: theirs is simulated.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

test(`Hubs are one hub through the faults of ${SEEDS} seeds`, async () => {
  const wrongs: string[] = [];
  await playSeeds({
    ...{ from: 1, count: SEEDS, options: {}, processes: 2 },
    played: ({ seed, wrongs: found }) => {
      if (found.length > 0) wrongs.push(`npm run simulate -- 1 ${seed}: ${found[0]?.slice(0, 300)}`);
    },
  });
  assert.equal(wrongs.length, 0, wrongs.join('\n'));
});
