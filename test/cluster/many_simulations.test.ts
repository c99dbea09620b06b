import assert from 'node:assert/strict';
import { test } from 'node:test';
import { playSeeds } from './simulation/play_seeds.ts';

/** A seed with two faults, which still overlap, takes less than half the time of one with the five that the command plays. */
const SEEDS = [
  { from: 1, count: 400, faults: 5 },
  { from: 401, count: 600, faults: 2 },
];

for (const { from, count, faults } of SEEDS) {
  test(`Hubs act as one hub through the faults of ${count} seeds, ${faults} each`, async () => {
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
