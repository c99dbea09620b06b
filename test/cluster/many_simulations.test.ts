import assert from 'node:assert/strict';
import { constants, setPriority } from 'node:os';
import { test } from 'node:test';
import { playSeeds } from './simulation/play_seeds.ts';

/** With two faults, which still overlap, a seed takes less time than with the five that the command plays. */
const SEEDS = [
  { from: 1, count: 400, faults: 5 },
  { from: 401, count: 600, faults: 2 },
];

// In a whole run, simulations take the time that other tests leave: theirs is simulated.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

for (const { from, count, faults } of SEEDS) {
  test(`Hubs are one hub through the faults of ${count} seeds, ${faults} each`, async () => {
    const wrongs: string[] = [];
    await playSeeds({
      ...{ from, count, options: { faults }, processes: 2 },
      played: ({ seed, wrongs: found }) => {
        if (found.length > 0) wrongs.push(`npm run simulate -- 1 ${seed} 1 ${faults}: ${found[0]?.slice(0, 300)}`);
      },
    });
    assert.equal(wrongs.length, 0, wrongs.join('\n'));
  });
}
