import type { SeedToPlay } from './simulation/play_seeds.ts';
import { simulate } from './simulation/simulation.ts';

// Plays each seed that it is sent, until nobody is there to send any.
process.on('message', async ({ seed, options }: SeedToPlay) => {
  process.send?.(await simulate(seed, options));
});
process.on('disconnect', () => process.exit());
