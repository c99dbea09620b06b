import { Command, InvalidArgumentError, Option } from 'commander';
import { PROFILES } from './profiles/all.ts';
import { flat, tableOf } from './report/table.ts';

interface Options {
  readonly profile?: string;
  readonly rate?: number;
  readonly seconds?: number;
  readonly scale: number;
  readonly json?: boolean;
}

const profiles = PROFILES.map(({ name, summary }) => `  ${name.padEnd(12)} ${summary}`).join('\n');

const program = new Command('bench')
  .description('Measures the hub: starts a fresh one, puts it under load from other processes, and reports')
  .addOption(new Option('--profile <name>', 'what to measure').choices(PROFILES.map(({ name }) => name)))
  .option('--rate <n>', 'locations a second; without, the most that goes through, then half of that', positive)
  .option('--seconds <n>', 'length of each measured interval', positive)
  .option('--scale <n>', 'size of the scene, 1 is full size', positive, 1)
  .option('--json', 'one JSON object as the last line')
  .addHelpText('after', `\nProfiles:\n${profiles}`);

async function main({ profile: name, rate, seconds, scale, json }: Options): Promise<void> {
  const progress = (what: string): void => {
    if (json !== true) console.log(`… ${what}`);
  };
  for (const profile of PROFILES.filter((found) => name === undefined || found.name === name)) {
    const result = await profile.run({ rate, seconds, scale, progress });
    console.log(json === true ? JSON.stringify(flat(result)) : `${tableOf(result)}\n`);
  }
}

function positive(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && value > 0 && Number.isFinite(value)) return value;
  throw new InvalidArgumentError('It must be a number above 0.');
}

await main(program.parse().opts<Options>());
