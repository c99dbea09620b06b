import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { markdownOf } from './markdown.ts';
import { plotsOf } from './plots.ts';
import type { Result, Series } from './result.ts';

const BENCH = new URL('../', import.meta.url);
const RESULTS = new URL('results.json', BENCH);
/** More points of a line than these say nothing more. */
const POINTS_MAX = 60;

/** The results that were saved last, by profile in order. */
export function savedResults(): readonly Result[] {
  return existsSync(RESULTS) ? JSON.parse(readFileSync(RESULTS, 'utf8')) : [];
}

/** Writes results.json, RESULTS.md and the plots anew. */
export function writeReport(results: readonly Result[]): void {
  const kept = results.map((result) => {
    return result.series === undefined ? result : { ...result, series: result.series.map(thinned) };
  });
  writeFileSync(RESULTS, `[\n${kept.map((result) => JSON.stringify(result)).join(',\n')}\n]\n`);
  const plots = plotsOf(kept);
  mkdirSync(new URL('plots/', BENCH), { recursive: true });
  for (const { file, svg } of plots) writeFileSync(new URL(`plots/${file}`, BENCH), svg);
  const machine = {
    cores: availableParallelism(),
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    memoryGb: Math.round(totalmem() / 2 ** 30),
    node: process.versions.node,
    platform: process.platform,
  };
  const [designs = '', missed = ''] = ['designs.md', 'missed.md'].map((file) =>
    readFileSync(new URL(file, BENCH), 'utf8'),
  );
  writeFileSync(new URL('RESULTS.md', BENCH), markdownOf({ results: kept, machine, plots, designs, missed }));
}

function thinned({ points, ...series }: Series): Series {
  const step = Math.ceil(points.length / POINTS_MAX);
  return { ...series, points: points.filter((_, i) => i % step === 0) };
}
