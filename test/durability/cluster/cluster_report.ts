import type { ClusterFindings } from './cluster_findings.ts';

/** Promised time after a fault until locations are acknowledged again. */
const LATE_MS = 6000;
const BUCKET_MS = 500;
const BAR = 40;
const SHOWN = 20;
const KINDS = ['lost', 'doubled', 'wrong', 'missed', 'repeated'] as const;

/** Formats the findings as lines. */
export function clusterReport(findings: ClusterFindings, what: string): string {
  const { counts, outages, spreads, problems } = findings;
  const late = outages.filter(({ tookMs }) => tookMs > LATE_MS).length;
  const faults = [...Map.groupBy(outages, ({ fault }) => fault)].map(([fault, all]) => {
    const times = quantiles(all.map(({ tookMs }) => tookMs));
    return row(fault, `${all.length}, locations waited for ${times}`);
  });
  const spread = [
    row('partitions spread', `${spreads.length}, took ${quantiles(spreads.map(({ tookMs }) => tookMs))}`),
    row('', `locations waited for ${quantiles(spreads.map(({ longestWaitMs }) => longestWaitMs))}`),
  ];
  const kept = [...counts].map(([name, times]) => row(name, times));
  const results = KINDS.map((kind) => row(kind, findings.of(kind)));
  const shown = problems.slice(0, SHOWN).map(({ is, round, what }) => `round ${round}, ${is}: ${what}`);
  const all = outages.map(({ tookMs }) => tookMs);
  return [row('rounds', `${outages.length}, ${what}`), ...faults, ...spread, ...kept]
    .concat(['', 'the longest wait of a location affected by a fault', ...histogram(all), ''])
    .concat([...results, row(`late (more than ${LATE_MS} ms)`, late), ...shown])
    .join('\n');
}

/** Returns the findings as an object for JSON. */
export function clusterResults(findings: ClusterFindings): object {
  const { counts, outages, spreads, problems } = findings;
  return { counts: Object.fromEntries(counts), outages, spreads, problems };
}

function row(name: string, value: string | number): string {
  return `${name.padEnd(44)}${value}`;
}

function quantiles(values: readonly number[]): string {
  const found = [quantile(values, 0.5), quantile(values, 0.99), Math.max(0, ...values)];
  return `${found.map(Math.round).join(' / ')} ms (p50 / p99 / max)`;
}

function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.ceil(part * sorted.length) - 1] ?? 0;
}

function histogram(values: readonly number[]): string[] {
  const buckets = Array<number>(1 + Math.floor(Math.max(0, ...values) / BUCKET_MS)).fill(0);
  for (const value of values)
    buckets[Math.floor(value / BUCKET_MS)] = (buckets[Math.floor(value / BUCKET_MS)] ?? 0) + 1;
  const most = Math.max(...buckets);
  return buckets.map((count, index) => {
    return `${`${index * BUCKET_MS} ms`.padStart(10)}  ${'#'.repeat(Math.ceil((count / most) * BAR)).padEnd(BAR)}  ${count}`;
  });
}
