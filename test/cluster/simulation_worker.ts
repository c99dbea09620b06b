import type { SeedToPlay } from './simulation/play_seeds.ts';
import { simulate } from './simulation/simulation.ts';

// Runs each seed that it receives, until the channel closes.
process.on('message', async ({ seed, options }: SeedToPlay) => {
  process.send?.(await simulate(seed, options));
});
process.on('disconnect', () => process.exit());
