import { isProjection, projectionTables } from './hubs.ts';
import { judge, NOT_MEASURED } from './judge.ts';
import type { Plot } from './plots.ts';
import type { Result } from './result.ts';
import { flat } from './table.ts';

/** Machine of the measurements, without names. */
export interface Machine {
  readonly cores: number;
  readonly cpu: string;
  readonly memoryGb: number;
  readonly node: string;
  readonly platform: string;
}

interface Report {
  readonly results: readonly Result[];
  /** The sentence of measuredOn. */
  readonly measured: string;
  readonly plots: readonly Plot[];
  /** Manually written Markdown: rejected designs. */
  readonly designs: string;
  /** The same: analysis of missed targets, and the effect of more cores. */
  readonly missed: string;
  readonly projection: string;
  /** The same about hubs on separate machines, before the results of the profile `projection`. */
  readonly hubs: string;
}

/** Machine of the results, as a sentence of RESULTS.md. */
export function measuredOn({ cores, cpu, memoryGb, node, platform }: Machine): string {
  return (
    `Measured on ${cores} cores (${cpu}), ${memoryGb} GB of memory, ${platform}, Node ${node}; the hub, the load ` +
    'generator and the subscribers share them.'
  );
}

/** Contents of RESULTS.md. */
export function markdownOf({ results, measured, plots, designs, missed, projection, hubs }: Report): string {
  return [
    '<!-- Made by `npm run bench` of bench/results.json, designs.md, missed.md, projection.md and hubs.md. `npm run generate` renews its text. -->',
    '# Results of the benchmark',
    '`npm run bench` writes this file. Every number comes from the command next to it.',
    measured,
    HOW,
    '## Targets',
    targetTable(results),
    '## Missed targets and reasons',
    missed.trim(),
    '## More cores: a projection',
    projection.trim(),
    '## More hubs: a projection',
    hubs.trim(),
    ...results.filter(isProjection).map(projectionTables),
    '## Plots',
    ...plots.map(({ file, title, commands }) => `![${title}](plots/${file})\n\n${commands.map(code).join(', ')}`),
    '## Numbers',
    ...results.filter((result) => !isProjection(result)).map(section),
    '## Rejected designs',
    designs.trim(),
    '',
  ].join('\n\n');
}

const HOW = `Method: the throughput is that of a closed loop. Latencies are those of an open loop at half of the throughput, or at the
rate of the scene, from the due time of each message (HDR histograms, no coordinated omission). \`through_per_s\` is the smaller of
two rates: that of accepted locations, and that of locations that a subscriber of \`location_updates\` has received in the same
time. \`lost\` counts locations that it never received. \`bare_per_s\` is the rate of a hyper-express server that parses the same
bodies and answers 204, measured before and after. Event latencies are those of the first, thus oldest, event of each frame. Exits
are those of frames whose first event is an exit.`;

function targetTable(results: readonly Result[]): string {
  const rows = results.flatMap((result) =>
    judge(result, results).map(({ profile, wanted, found, isMet }) => {
      const verdict = isMet ? 'met' : found === NOT_MEASURED ? '' : '**missed**';
      return `| ${profile} | ${wanted} | ${found} | ${verdict} | ${code(result.command)} |`;
    }),
  );
  return ['| profile | target | found | | command |', '|---|---|---|---|---|', ...rows].join('\n');
}

function section(result: Result): string {
  const rows = Object.entries(flat(result)).filter(([name]) => name !== 'profile');
  const text = rows.map(([name, value]) => `| ${name} | ${value.toLocaleString('en')} |`);
  return [`### ${result.profile}\n\n${code(result.command)}\n`, '| | |', '|---|---:|', ...text].join('\n');
}

function code(text: string): string {
  return `\`${text}\``;
}
