import type { Result } from './report/result.ts';

/** Performance target of the hub, on two cores that it shares with the generator. */
export interface Target {
  readonly profile: string;
  readonly wanted: string;
  /** Measured numbers by name; `isMet` decides whether they meet the target. */
  read(result: Result, all: readonly Result[]): Readonly<Record<string, number>>;
  isMet(found: Readonly<Record<string, number>>): boolean;
}

/** Rates of the everyday profiles. */
const EVERYDAY = ' at an everyday rate';

/** Rates of the comparison with a peer. */
const AT_RATE = ' at a moderate rate';

const AT_HALF = ' at half of the maximum';

export const TARGETS: readonly Target[] = [
  atLeast('single', 'ratio_to_bare', 0.6),
  below('single', 'event_p99_ms', 10, AT_HALF),
  atLeast('batch', 'ratio_to_bare', 0.33),
  atLeast('batch', 'through_per_s', 250_000),
  below('batch', 'event_p50_ms', 3, AT_HALF),
  below('batch', 'event_p99_ms', 10, AT_HALF),
  atMost('batch', 'exit_event_p50_ms', 5, AT_HALF),
  {
    profile: 'ws',
    wanted: 'through_per_s at least 0.95 of batch',
    read: (result, all) => {
      const batch = all.find(({ profile }) => profile === 'batch');
      return { ws: numberOf(result, 'through_per_s'), batch: batch ? numberOf(batch, 'through_per_s') : Number.NaN };
    },
    isMet: ({ ws = 0, batch = 0 }) => ws >= 0.95 * batch,
  },
  {
    profile: 'mqtt',
    wanted: 'through_per_s at least 30,000, or 0.9 of the throughput of mosquitto alone',
    read: (result) => named(result, ['through_per_s', 'ratio_to_bare']),
    isMet: ({ through_per_s: through = 0, ratio_to_bare: ratio = 0 }) => through >= 30_000 || ratio >= 0.9,
  },
  exactly('mqtt', 'published_lost', 0),
  exactly('mqtt', 'lists_lost', 0),
  atLeast('opensky', 'through_per_s', 120_000),
  below('opensky', 'event_p99_ms', 10, ' at 52,700/s'),
  atLeast('storm', 'through_per_s', 130_000),
  below('storm', 'event_p99_ms', 25, AT_HALF),
  exactly('storm', 'events_missing', 0),
  atLeast('heavy', 'through_per_s', 200_000),
  {
    profile: 'fanout',
    wanted: 'per_subscriber_per_s at least 100 with 1,000 subscribers, nothing missing',
    read: (result) => named(result, ['per_subscriber_per_s', 'events_missing']),
    isMet: ({ per_subscriber_per_s: rate = 0, events_missing: missing = 1 }) => rate >= 99 && missing === 0,
  },
  atMost('fanout', 'shards_cpu_ratio', 1.5, ': with 1,000 subscribers relative to 1, so that they share renderings'),
  atLeast('history', 'ratio_to_without', 0.85),
  exactly('history', 'unaccounted', 0),
  below('past', 'trackable_hour_p50_ms', 100),
  below('past', 'snapshot_p50_ms', 500),
  below('past', 'fence_day_p50_ms', 1000),
  below('search', 'nearest_p99_ms', 5),
  atMost('growth', 'fences_ratio', 1.5, ': CPU per location at 100,000 fences relative to 100'),
  atMost('growth', 'providers_ratio', 1.2, ': CPU per location at 200,000 providers relative to 1,000'),
  atLeast('cold', 'first_second_ratio', 0.5),
  atMost('restart', 'ready_s', 5),
  atMost('memory', 'bytes_per_provider', 1200),
  below('memory', 'empty_rss_mb', 120),
  atMost('memory', 'churn_rss_ratio', 1.1, ': the last two minutes relative to minutes 3 and 4'),
  {
    profile: 'overload',
    wanted: '503 with Retry-After at twice the maximum',
    read: (result) => named(result, ['refused_per_s', 'retry_after_missing']),
    isMet: ({ refused_per_s: refused = 0, retry_after_missing: missing = 1 }) => refused > 0 && missing === 0,
  },
  atMost('overload', 'rss_growth_ratio', 1.2, ': the last fifth of the overload relative to the middle one'),
  atMost('overload', 'recovered_p99_ratio', 2, ': two seconds after the load relative to before it'),
  below('overload', 'stalled_reader_p99_ratio', 1.2),
  below(
    'mqtt-stall',
    'stalled_put_p99_ratio',
    1.5,
    ': while a broker does not read, relative to the worse of before and after',
  ),
  atMost('mqtt-stall', 'rss_growth_ratio', 1.1, ': the last fifth of the time relative to the middle one'),
  {
    profile: 'mqtt-stall',
    wanted: 'the queue stays bounded, dropped messages are counted, and publishing resumes',
    read: (result) => named(result, ['waiting_mb', 'waiting_max_mb', 'dropped', 'goes_on_ms']),
    isMet: ({ waiting_mb: waiting = 1, waiting_max_mb: most = 0, dropped = 0, goes_on_ms: goesOn = Number.NaN }) =>
      waiting <= most && dropped > 0 && goesOn >= 0,
  },
  below('dead-sink', 'dead_put_p99_ratio', 1.2, ': while a sink does not answer, relative to before'),
  ...['undelivered', 'disordered'].map((name) => exactly('dead-sink', name, 0)),
  exactly('links', 'repeated', 0),
  below('links', 'equal_after_ms', 5000, ': until all hubs have the same last locations again'),
  atMost(
    'cluster',
    'journal_cpu_ratio',
    1.15,
    ': CPU per location with a journal, NATS included, relative to a single hub',
  ),
  atMost('cluster', 'two_hubs_cpu_ratio', 1.8, ': two hubs, NATS included, relative to a single hub'),
  atMost('cluster', 'two_hubs_followed_cpu_ratio', 1.4, ': the same if locations are sent to their owners'),
  atMost('cluster', 'two_hubs_load_per_hub_cpu_ratio', 1.8, ': two hubs relative to one with the load of each'),
  atMost(
    'cluster',
    'two_hubs_followed_load_per_hub_cpu_ratio',
    1.4,
    ': the same if locations are sent to their owners',
  ),
  below('cluster', 'three_nats_put_p50_ms', 6, ' at 10,000/s with three NATS servers'),
  ...['crowd', 'storm', 'heavy'].flatMap((scene) => [
    atLeast('peers', `${scene}_warm_updates_ratio`, 2),
    atLeast('peers', `${scene}_cold_updates_ratio`, 1),
  ]),
  ...['crowd', 'storm'].flatMap((scene) =>
    ['event_p50', 'event_p99', 'cpu'].map((what) => atMost('peers', `${scene}_${what}_ratio`, 1, AT_RATE)),
  ),
  atMost('plant', 'us_per_location', 55, EVERYDAY),
  atMost('plant', 'event_p50_ms', 1.5, EVERYDAY),
  atMost('plant', 'event_p99_ms', 6, EVERYDAY),
  atMost('bursts', 'event_p50_ms', 5, ': 20,000/s in bursts after a pause'),
  atMost('bursts', 'event_p99_ms', 16, ': 20,000/s in bursts after a pause'),
  below('peers', 'empty_rss_mb', 120),
  below('peers', 'objects_rss_mb', 200, ': 10,000 objects among 1,000 fences'),
];

/** Subscribers must receive all accepted locations. */
const NOTHING_LOST: Target = exactly('', 'lost', 0);

/** The targets of a profile. */
export function targetsOf(result: Result): readonly Target[] {
  const own = TARGETS.filter(({ profile }) => profile === result.profile);
  return result.lost === undefined ? own : [...own, { ...NOTHING_LOST, profile: result.profile }];
}

/** A number of a result by name. If a queue has grown, fewer locations were processed than accepted. */
function numberOf(result: Result, name: string): number {
  if (name === 'through_per_s') return Math.min(result.accepted_per_s ?? 0, result.seen_per_s ?? 0);
  const found = result.more[name] ?? result[name as keyof Result];
  return typeof found === 'number' ? found : Number.NaN;
}

function named(result: Result, names: readonly string[]): Record<string, number> {
  return Object.fromEntries(names.map((name) => [name, numberOf(result, name)]));
}

function bound(profile: string, name: string, wanted: string, isMet: (value: number) => boolean): Target {
  return {
    profile,
    wanted: `${name} ${wanted}`,
    read: (result) => named(result, [name]),
    isMet: (found) => isMet(found[name] ?? Number.NaN),
  };
}

function atLeast(profile: string, name: string, least: number): Target {
  return bound(profile, name, `at least ${least.toLocaleString('en')}`, (value) => value >= least);
}

function atMost(profile: string, name: string, most: number, about = ''): Target {
  return bound(profile, name, `at most ${most.toLocaleString('en')}${about}`, (value) => value <= most);
}

function below(profile: string, name: string, limit: number, about = ''): Target {
  return bound(profile, name, `under ${limit.toLocaleString('en')}${about}`, (value) => value < limit);
}

function exactly(profile: string, name: string, wanted: number): Target {
  return bound(profile, name, `${wanted}`, (value) => value === wanted);
}
