import { signal } from '@preact/signals';
import type { SocketHealth } from '../../model/health.ts';
import { useRepeated } from '../controls/use_loaded.ts';
import { PREFIX } from '../hub/api_path.ts';
import { getText } from '../hub/rest.ts';
import { type RequestProblem, problemOf } from './problem.ts';

/** All metrics at one time: values by name and labels, such as `hub_events_total{type="colliding"}`. */
export interface MetricsSample {
  readonly atMs: number;
  readonly values: ReadonlyMap<string, number>;
}

/** Samples of the last minutes, oldest first. */
export const samples = signal<readonly MetricsSample[]>([]);
/** Error of the last request. */
export const metricsProblem = signal<RequestProblem | undefined>(undefined);

const EVERY_MS = 2_000;
const KEPT_MS = 15 * 60_000;
/** Samples further apart than this have a gap between them. */
const GAP_MS = 10_000;
/** Requests per sample, until the same hub answers again. */
const ATTEMPTS_MAX = 5;

/** Polls the metrics while the component is mounted. */
export function useMetrics(): void {
  useRepeated(async () => {
    try {
      const previous = samples.peek();
      const next = await sampleAfter(previous.at(-1));
      const shown = previous.filter(({ atMs }) => atMs > Date.now() - KEPT_MS);
      if (next !== undefined) samples.value = [...shown, next];
      metricsProblem.value = undefined;
      return EVERY_MS;
    } catch (error) {
      metricsProblem.value = problemOf(error);
      return metricsProblem.value.isForbidden ? undefined : EVERY_MS;
    }
  }, []);
}

/**
 * Fetches the next sample of the same hub; after a gap, of any. Behind a load balancer each request may reach another hub,
 * whose counters are unrelated. Undefined if only other hubs have answered.
 */
async function sampleAfter(last: MetricsSample | undefined): Promise<MetricsSample | undefined> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const values = readMetrics(await getText(`${PREFIX}/hub/metrics`, { isOnce: true }));
    const sample = { atMs: Date.now(), values };
    if (last === undefined || startOf(sample) === startOf(last) || sample.atMs - last.atMs > GAP_MS) return sample;
  }
  return undefined;
}

/** Start time of the process in milliseconds; identifies the hub. */
function startOf({ values }: MetricsSample): number | undefined {
  return values.get('process_start_time_seconds');
}

/** Parses the Prometheus text format; skips lines that are not samples. */
export function readMetrics(text: string): ReadonlyMap<string, number> {
  const values = new Map<string, number>();
  for (const line of text.split('\n')) {
    const found = /^([A-Za-z_:][\w:]*(?:\{.*\})?) (\S+)/.exec(line);
    // Infinity and NaN cannot be drawn.
    const value = Number(found?.[2]);
    if (found?.[1] !== undefined && Number.isFinite(value)) values.set(found[1], value);
  }
  return values;
}

/** Rate of a counter per second, at each sample but the first; null across a gap or a restart. */
export function rates(all: readonly MetricsSample[], name: string): (number | null)[] {
  return all.slice(1).map(({ atMs, values }, index) => {
    const before = all[index];
    const [from, to] = [before?.values.get(name), values.get(name)];
    if (before === undefined || from === undefined || to === undefined) return null;
    if (atMs - before.atMs > GAP_MS || to < from) return null;
    return ((to - from) * 1_000) / (atMs - before.atMs);
  });
}

/** Value of a gauge at each sample but the first; null if missing. */
export function levels(all: readonly MetricsSample[], name: string, scale = 1): (number | null)[] {
  return all.slice(1).map(({ values }) => {
    const value = values.get(name);
    return value === undefined ? null : value * scale;
  });
}

/** Sum of several series. */
export function sums(lines: readonly (readonly (number | null)[])[]): (number | null)[] {
  const [first = []] = lines;
  return first.map((_, index) => {
    const values = lines.map((line) => line[index] ?? null);
    return values.includes(null) ? null : values.reduce<number>((sum, value) => sum + (value ?? 0), 0);
  });
}

/** Names of the samples of a family, with the value of one label. */
export function labeled(
  sample: MetricsSample | undefined,
  family: string,
  label: string,
): readonly (readonly [string, string])[] {
  const names = [...(sample?.values.keys() ?? [])].filter((name) => name.startsWith(`${family}{`));
  return names.flatMap((name) => {
    const value = name.split(`${label}="`)[1]?.split('"')[0];
    return value === undefined ? [] : [[value, name] as const];
  });
}

/** Traffic of a topic. */
export interface TopicTraffic {
  readonly topic: string;
  readonly subscriptions: number;
  readonly perSecond: number | null;
  readonly total: number;
}

/** Response, and the previous one. */
interface SocketAnswers {
  readonly value: SocketHealth | undefined;
  readonly atMs: number;
  readonly before: { readonly value: SocketHealth; readonly atMs: number } | undefined;
}

/** Traffic of all hubs. Rates include only hubs that are in both responses. */
export function sentOf({ value, atMs, before }: SocketAnswers): readonly TopicTraffic[] {
  const seconds = (atMs - (before?.atMs ?? atMs)) / 1_000;
  const sent = new Map<string, TopicTraffic>();
  for (const { hub, topics } of value?.hubs ?? []) {
    const earlier = before?.value.hubs?.find((each) => each.hub === hub)?.topics ?? [];
    for (const { topic, subscriptions, delivered } of topics) {
      const summed = sent.get(topic) ?? { topic, subscriptions: 0, perSecond: null, total: 0 };
      const risen = delivered - (earlier.find((each) => each.topic === topic)?.delivered ?? Number.NaN);
      // A restarted hub counts from 0.
      const perSecond = seconds > 0 && risen >= 0 ? (summed.perSecond ?? 0) + risen / seconds : summed.perSecond;
      const total = summed.total + delivered;
      sent.set(topic, { topic, subscriptions: summed.subscriptions + subscriptions, perSecond, total });
    }
  }
  return [...sent.values()];
}
