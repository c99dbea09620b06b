import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { markdownOf, measuredOn } from './markdown.ts';
import { plotsOf } from './plots.ts';
import type { Result, Series } from './result.ts';

const BENCH = new URL('../', import.meta.url);
const RESULTS = new URL('results.json', BENCH);
/** Maximum number of points of a line; more add nothing. */
const POINTS_MAX = 60;

/** The results that were saved last, by profile in order. */
export function savedResults(): readonly Result[] {
  return existsSync(RESULTS) ? JSON.parse(readFileSync(RESULTS, 'utf8')) : [];
}

/** Writes results.json, RESULTS.md and the plots. */
export function writeReport(results: readonly Result[]): void {
  const kept = results.map((result) => {
    return result.series === undefined ? result : { ...result, series: result.series.map(thinned) };
  });
  writeFileSync(RESULTS, `[\n${kept.map((result) => JSON.stringify(result)).join(',\n')}\n]\n`);
  const machine = {
    cores: availableParallelism(),
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    memoryGb: Math.round(totalmem() / 2 ** 30),
    node: process.versions.node,
    platform: process.platform,
  };
  mkdirSync(new URL('plots/', BENCH), { recursive: true });
  for (const { name, text } of reportFiles(kept, measuredOn(machine))) writeFileSync(new URL(name, BENCH), text);
}

/** RESULTS.md and the plots, by file name in this folder. Without `measured`, the machine named in RESULTS.md. */
export function reportFiles(
  results: readonly Result[],
  measured?: string,
): readonly { readonly name: string; readonly text: string }[] {
  const plots = plotsOf(results);
  const [designs, missed, projection] = [read('designs.md'), read('missed.md'), read('projection.md')];
  const hubs = read('hubs.md');
  const before = () => /^Measured on .*$/m.exec(read('RESULTS.md'))?.[0] ?? '';
  const text = markdownOf({ results, measured: measured ?? before(), plots, designs, missed, projection, hubs });
  return [{ name: 'RESULTS.md', text }, ...plots.map(({ file, svg }) => ({ name: `plots/${file}`, text: svg }))];
}

function read(name: string): string {
  return readFileSync(new URL(name, BENCH), 'utf8');
}

function thinned({ points, ...series }: Series): Series {
  const step = Math.ceil(points.length / POINTS_MAX);
  return { ...series, points: points.filter((_, i) => i % step === 0) };
}
