import { Command } from 'commander';
import { hubOption, number } from '../options.ts';
import { demo } from './demo.ts';

/** `demo`: feeds a simulated warehouse into a hub. */
export function demoCommand(): Command {
  return new Command('demo')
    .description('feed a simulated warehouse into a running hub until stopped: 2 floors, 40 tags, 12 fences')
    .option('--seed <number>', 'fixes where everything moves', number({ min: 0, max: 1_000_000, whole: true }), 1)
    .option('--seconds <count>', 'stop after this time', number({ above: 0 }))
    .addOption(hubOption())
    .action(demo);
}
