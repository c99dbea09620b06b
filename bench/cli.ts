import { Command, InvalidArgumentError, Option } from 'commander';
import { PROFILES } from './profiles/all.ts';
import type { Profile } from './profiles/profile.ts';
import { judge } from './report/judge.ts';
import type { Result } from './report/result.ts';
import { flat, tableOf } from './report/table.ts';
import { savedResults, writeReport } from './report/write.ts';

interface Options {
  readonly profile?: string;
  readonly rate?: number;
  readonly seconds?: number;
  readonly scale: number;
  readonly json?: boolean;
  readonly save?: boolean;
  readonly cpuProf?: string;
}

const profiles = PROFILES.map(({ name, summary }) => `  ${name.padEnd(12)} ${summary}`).join('\n');

const program = new Command('bench')
  .description('Measures the hub: starts a fresh one, puts it under load from other processes, and reports')
  .addOption(
    new Option('--profile <name>', 'what to measure; without, everything, for bench/RESULTS.md').choices(
      PROFILES.map(({ name }) => name),
    ),
  )
  .option('--rate <n>', 'locations a second; without, the most that goes through, then half of that', positive)
  .option('--seconds <n>', 'length of each measured interval', positive)
  .option('--scale <n>', 'size of the scene, 1 is full size', positive, 1)
  .option('--json', 'one JSON object as the last line')
  .option('--save', 'put the result in the place of the last one in bench/RESULTS.md')
  .option('--cpu-prof <folder>', 'write CPU profiles of the threads of the hub into a folder')
  .addHelpText('after', `\nProfiles:\n${profiles}\n\nSettings of the hub come from the environment: HUB_NUM_THREADS=2`);

async function main(options: Options): Promise<void> {
  const chosen = PROFILES.filter(({ name }) => options.profile === undefined || options.profile === name);
  const isAll = options.profile === undefined;
  let results = isAll ? [] : savedResults();
  for (const profile of chosen) {
    const result = await resultOf(profile, options);
    if (result === undefined) continue;
    results = inOrder([...results.filter((other) => other.profile !== profile.name), result]);
    console.log(options.json === true ? JSON.stringify(flat(result)) : textOf(result, results));
    if (isAll || options.save === true) writeReport(results);
  }
}

/** Undefined if it cannot run. A failed profile does not prevent the others. */
async function resultOf(profile: Profile, options: Options): Promise<Result | undefined> {
  const { rate, seconds, scale, cpuProf } = options;
  const progress = (what: string): void => {
    if (options.json !== true) console.log(`… ${profile.name}: ${what}`);
  };
  const missing = profile.needs?.();
  if (missing !== undefined) {
    console.error(`${profile.name} is left out: ${missing}`);
    return undefined;
  }
  try {
    return await profile.run({ rate, seconds, scale, progress, cpuProf });
  } catch (error) {
    console.error(`${profile.name} has failed: ${(error as Error).stack}`);
    process.exitCode = 1;
    return undefined;
  }
}

function inOrder(results: readonly Result[]): readonly Result[] {
  const place = ({ profile }: Result): number => PROFILES.findIndex(({ name }) => name === profile);
  return results.toSorted((a, b) => place(a) - place(b));
}

function textOf(result: Result, all: readonly Result[]): string {
  const verdicts = judge(result, all).map(({ wanted, found, isMet }) => {
    return `${isMet ? 'met   ' : 'MISSED'}  ${wanted} (${found})`;
  });
  return [tableOf(result), ...verdicts, ''].join('\n');
}

function positive(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && value > 0 && Number.isFinite(value)) return value;
  throw new InvalidArgumentError('It must be a number above 0.');
}

// Calls process.exit, so that started processes are stopped too.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(130));
await main(program.parse().opts<Options>());
