import { Counter, Gauge, Registry } from '@prometheus-io/client';

/** A value of a metric family, with the values of its labels. */
export interface MetricSample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A metric family. Its values are counted elsewhere and read on scraping. */
export interface Family {
  /** The name of a counter ends in `_total`, and no other does. */
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  read(): readonly MetricSample[] | Promise<readonly MetricSample[]>;
}

/** All metrics. */
export interface Metrics {
  readonly contentType: string;
  text(): Promise<string>;
  /** Reads all families with their samples. */
  read(): Promise<readonly MeasuredFamily[]>;
}

export interface MeasuredFamily {
  readonly name: string;
  readonly help: string;
  readonly samples: readonly MetricSample[];
}

/** Exposes families in the text format of Prometheus. */
export function openMetrics(families: readonly Family[]): Metrics {
  const registry = new Registry();
  for (const { name, help, labels, read } of families) {
    const Metric = name.endsWith('_total') ? Counter : Gauge;
    new Metric({
      name,
      help,
      labelNames: [...labels],
      registers: [registry],
      async collect(this: Counter<string> | Gauge<string>) {
        const samples = await read();
        this.reset();
        for (const { labels: of, value } of samples) this.inc(of, value);
      },
    });
  }
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    read: () => Promise.all(families.map(async ({ name, help, read }) => ({ name, help, samples: await read() }))),
  };
}

/** A metric with one value. */
export function metric(name: string, help: string, value: () => number): Family {
  return { name, help, labels: [], read: () => [{ labels: {}, value: value() }] };
}

/** A metric with one value per value of a label. */
export function metricBy(
  label: string,
  name: string,
  help: string,
  values: () => Iterable<readonly [of: string, value: number]>,
): Family {
  const read = () => [...values()].map(([of, value]) => ({ labels: { [label]: of }, value }));
  return { name, help, labels: [label], read };
}
