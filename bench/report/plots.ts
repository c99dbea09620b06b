import { barChart, lineChart } from './chart.ts';
import type { Result, Series } from './result.ts';

/** A plot, and the commands that measure its numbers. */
export interface Plot {
  readonly file: string;
  readonly title: string;
  readonly commands: readonly string[];
  readonly svg: string;
}

/** All plots for which there are results. */
export function plotsOf(results: readonly Result[]): readonly Plot[] {
  const loaded = results.filter(({ bare_per_s: bare }) => bare !== undefined);
  const series = results.flatMap((result) => groupsOf(result).map((lines) => linePlot(result, lines)));
  return [...(loaded.length === 0 ? [] : [throughput(loaded), latency(loaded)]), ...series];
}

function throughput(results: readonly Result[]): Plot {
  const title = 'Locations a second, accepted and read by a subscriber';
  const values = results.map((result) => Math.min(result.accepted_per_s ?? 0, result.seen_per_s ?? 0));
  const labels = results.map(({ profile }) => profile);
  const svg = barChart({ title, x: 'profile', y: 'locations/s' }, labels, [{ name: 'hub', values }]);
  return { file: 'throughput.svg', title, commands: results.map(({ command }) => command), svg };
}

function latency(results: readonly Result[]): Plot {
  const title = 'Latency, at half of the maximum or the rate of the profile';
  const labels = results.map(({ profile }) => profile);
  const svg = barChart({ title, x: 'profile', y: 'ms' }, labels, [
    { name: 'PUT p50', values: results.map((result) => result.put_p50_ms) },
    { name: 'PUT p99', values: results.map((result) => result.put_p99_ms) },
    { name: 'PUT to event p50', values: results.map((result) => result.event_p50_ms) },
    { name: 'PUT to event p99', values: results.map((result) => result.event_p99_ms) },
  ]);
  return { file: 'latency.svg', title, commands: results.map(({ command }) => command), svg };
}

/** Series over the same axes share a plot. */
function groupsOf({ series = [] }: Result): readonly (readonly Series[])[] {
  return [...Map.groupBy(series, ({ x, y }) => `${x} ${y}`).values()];
}

function linePlot({ profile, command }: Result, lines: readonly Series[]): Plot {
  const { x = '', y = '' } = lines[0] ?? {};
  const title = `${profile}: ${y} by ${x}`;
  const file = `${profile}_${x}.svg`.replaceAll(/[^\w.]+/g, '_');
  return { file, title, commands: [command], svg: lineChart({ title, x, y }, lines) };
}
