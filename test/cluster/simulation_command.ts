// The hubs run the bundles that users run, and start with half the CPU.
import '../stripped.mjs';
import { availableParallelism } from 'node:os';
import { playSeeds, seedsFrom } from './simulation/play_seeds.ts';
import type { Findings } from './simulation/simulation.ts';

/**
 * `npm run simulate -- SEEDS [FROM [SHARDS [FAULTS [plain]]]]`: runs that many simulated clusters, and prints those that
 * violated an invariant; a single one with its log. See SimulationOptions for the rest.
 */
const [seeds = '100', first = '1', shards = '1', faults = '5', kind] = process.argv.slice(2);
const [count, from] = [Number(seeds), Number(first)];
const PROGRESS = 50;
const failed: number[] = [];
const sums: Record<string, number> = {};
let done = 0;

function played({ seed, wrongs, counts, log }: Findings): void {
  if (++done % PROGRESS === 0) process.stderr.write(`${done} of ${count} seeds, ${failed.length} failed\n`);
  for (const [name, value] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + value;
  if (wrongs.length === 0) return;
  failed.push(seed);
  const shown = wrongs.slice(0, count === 1 ? 20 : 3).map((what) => what.slice(0, 300));
  process.stdout.write(`seed ${seed}:\n${shown.join('\n')}\n${count === 1 ? `${log.join('\n')}\n` : ''}`);
}

const startedMs = performance.now();
const processes = availableParallelism();
const options = { shards: Number(shards), faults: Number(faults), isPlain: kind === 'plain' };
await playSeeds({ seeds: seedsFrom(from, count), options, processes, played });
const tookS = Math.round((performance.now() - startedMs) / 1000);
failed.sort((a, b) => a - b);
process.stdout.write(`${count} seeds from ${from} in ${tookS} s, ${failed.length} failed: ${failed.join(' ')}\n`);
process.stdout.write(`${JSON.stringify(sums)}\n`);
process.exit(failed.length === 0 ? 0 : 1);
