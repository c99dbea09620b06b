import { Command } from 'commander';
import { hubOption, number } from '../options.ts';
import { replay } from './replay.ts';

/** `replay --locations F …`: sends recorded locations to a hub. */
export function replayCommand(): Command {
  return new Command('replay')
    .description('send recorded locations to a running hub')
    .requiredOption('--locations <file>', 'locations, one JSON object a line')
    .option('--zones <file>', 'JSON array of zones to create or update first')
    .option('--fences <file>', 'JSON array of fences to create or update first')
    .option('--trackables <file>', 'JSON array of trackables to create or update first')
    .option('--speed <factor>', 'times the recorded speed; 0 or max is as fast as possible', speed, 1)
    .option(
      '--interpolate <hz>',
      'move on straight lines, this many locations a second',
      number({ above: 0, max: 1000 }),
    )
    .option('--restamp', 'send the current time as timestamp_generated, so that a second replay is not outdated')
    .option('--batch <count>', 'locations in a request at most', number({ min: 1, max: 10_000, whole: true }), 256)
    .addOption(hubOption())
    .action(replay);
}

function speed(text: string): number {
  if (text === 'max') return Number.POSITIVE_INFINITY;
  const factor = number({ min: 0 })(text);
  return factor === 0 ? Number.POSITIVE_INFINITY : factor;
}
