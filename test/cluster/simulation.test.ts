import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simulate } from './simulation/simulation.ts';

const SEEDS = 12;
/** Seeds that have failed once, and what was wrong. */
const MENDED: readonly [seed: number, what: string][] = [];

async function plays(seed: number): Promise<void> {
  const { wrongs, log } = await simulate(seed);
  const again = `node src/launch.mjs test/cluster/simulation_command.ts 1 ${seed}`;
  assert.equal(wrongs.length, 0, `${wrongs.join('\n')}\n${log.join('\n')}\nOnce more: ${again}`);
}

for (let seed = 1; seed <= SEEDS; seed++) {
  test(`Hubs are one hub through faults of seed ${seed}`, () => plays(seed));
}

for (const [seed, what] of MENDED)
  test(`Hubs are one hub through what seed ${seed} has shown: ${what}`, () => plays(seed));
