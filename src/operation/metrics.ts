import { Counter, Gauge, Registry } from '@prometheus-io/client';

/** A value of a metric family, with the values of its labels. */
export interface MetricSample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A metric family. Its values are counted elsewhere and read on scraping. */
export interface Family {
  readonly name: string;
  readonly help: string;
  /** A counter never decreases while the hub runs. */
  readonly kind: 'counter' | 'gauge';
  readonly labels: readonly string[];
  read(): readonly MetricSample[] | Promise<readonly MetricSample[]>;
}

/** All metrics. */
export interface Metrics {
  readonly contentType: string;
  text(): Promise<string>;
}

/** Exposes families in the text format of Prometheus. */
export function openMetrics(families: readonly Family[]): Metrics {
  const registry = new Registry();
  for (const family of families) register(registry, family);
  return { contentType: registry.contentType, text: () => registry.metrics() };
}

function register(registry: Registry, { name, help, kind, labels, read }: Family): void {
  const settings = { name, help, labelNames: [...labels], registers: [registry] };
  if (kind === 'gauge') {
    new Gauge({
      ...settings,
      async collect() {
        const samples = await read();
        this.reset();
        for (const { labels: of, value } of samples) this.set(of, value);
      },
    });
    return;
  }
  new Counter({
    ...settings,
    async collect() {
      const samples = await read();
      this.reset();
      for (const { labels: of, value } of samples) this.inc(of, value);
    },
  });
}

/** Returns the single sample of a family without labels. */
export function single(value: number): readonly MetricSample[] {
  return [{ labels: {}, value }];
}

/** Returns one sample per entry, whose key is the value of the label. */
export function labelled(label: string, entries: Iterable<readonly [string, number]>): readonly MetricSample[] {
  return [...entries].map(([key, value]) => ({ labels: { [label]: key }, value }));
}
