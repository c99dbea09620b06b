import { simulate } from './simulation/simulation.ts';

/** `npm run simulate -- SEEDS [FROM [SHARDS]]`: plays that many clusters, and tells of those that have done what none must do. */
const [count = '100', from = '1', shards = '1'] = process.argv.slice(2);
const failed: number[] = [];
const sums: Record<string, number> = {};
for (let seed = Number(from); seed < Number(from) + Number(count); seed++) {
  if (seed % 50 === 0) process.stderr.write(`seed ${seed}\n`);
  const { wrongs, counts, log } = await simulate(seed, { shards: Number(shards) });
  for (const [name, value] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + value;
  if (wrongs.length === 0) continue;
  failed.push(seed);
  process.stdout.write(
    `seed ${seed}:\n${wrongs
      .slice(0, Number(count) === 1 ? 20 : 3)
      .map((what) => what.slice(0, 300))
      .join('\n')}\n`,
  );
  if (Number(count) === 1) process.stdout.write(`${log.join('\n')}\n`);
}
process.stdout.write(
  `${count} seeds from ${from}, ${failed.length} failed: ${failed.join(' ')}\n${JSON.stringify(sums)}\n`,
);
process.exit(failed.length === 0 ? 0 : 1);
