import type { Group } from '../listen/listener.ts';
import { providerId } from '../load/plan.ts';
import { Bed, type Measured, WITNESS } from '../process/bed.ts';
import type { Result, Series } from '../report/result.ts';
import { commandOf, sustained } from './load_run.ts';
import type { Asked, Profile } from './profile.ts';

const SUBSCRIBERS = [1, 10, 100, 1000];
/** Rate of every provider. Every subscriber subscribes to one provider. */
const EVENTS_PER_SECOND = 100;
const PROVIDERS = 100;
const SECONDS = 5;
/** Every tenth subscriber requests coordinates of a projection. */
const PROJECTED = { every: 10, crs: 'EPSG:32632' };
const FANNED = 'fanned';

interface Point {
  readonly subscribers: number;
  readonly perSubscriberPerSecond: number;
  readonly missing: number;
  readonly lost: number;
  readonly measured: Measured;
}

export const FANOUT: Profile = {
  name: 'fanout',
  summary: '1 to 1,000 subscribers of 100 events/s each, with filters, every tenth in another crs',
  async run(asked: Asked): Promise<Result> {
    const points: Point[] = [];
    for (const subscribers of SUBSCRIBERS) points.push(await measure(Math.ceil(subscribers * asked.scale), asked));
    const last = points.at(-1) as Point;
    const latency = last.measured.latency[FANNED];
    const each = (name: string, read: (point: Point) => number) =>
      points.map((point) => [`${name}_${point.subscribers}_subscribers`, read(point)] as const);
    return {
      profile: 'fanout',
      command: commandOf('fanout', asked),
      offered_per_s: last.measured.sent.measured.offered / last.measured.sent.measuredSeconds,
      accepted_per_s: last.measured.sent.measured.accepted / last.measured.sent.measuredSeconds,
      seen_per_s: last.measured.seenPerSecond,
      lost: points.reduce((sum, { lost }) => sum + lost, 0),
      put_p50_ms: last.measured.sent.put.p50,
      put_p99_ms: last.measured.sent.put.p99,
      event_p50_ms: latency?.p50 ?? 0,
      event_p99_ms: latency?.p99 ?? 0,
      hub_cpu_s: last.measured.hubCpuSeconds,
      generator_cpu_s: last.measured.generatorCpuSeconds,
      rss_mb: last.measured.residentMb,
      more: {
        events_missing: points.reduce((sum, { missing }) => sum + missing, 0),
        // Shard threads render the JSON strings: their CPU shows whether subscribers share these.
        shards_cpu_ratio: shardsCpu(last) / shardsCpu(points[0] as Point),
        per_subscriber_per_s: last.perSubscriberPerSecond,
        ...Object.fromEntries([
          ...each('event_p99_ms', ({ measured }) => measured.latency[FANNED]?.p99 ?? 0),
          ...each('shards_cpu_s', shardsCpu),
          ...each('front_cpu_s', ({ measured }) => measured.frontCpuSeconds),
        ]),
      },
      series: [
        series('front thread', points, ({ measured }) => measured.frontCpuSeconds),
        series('other threads', points, shardsCpu),
      ],
    };
  },
};

function shardsCpu({ measured }: Point): number {
  return measured.hubCpuSeconds - measured.frontCpuSeconds;
}

function series(name: string, points: readonly Point[], read: (point: Point) => number): Series {
  return { name, x: 'subscribers', y: 's of CPU', points: points.map((point) => [point.subscribers, read(point)]) };
}

async function measure(subscribers: number, asked: Asked): Promise<Point> {
  asked.progress(`${subscribers} subscribers`);
  const seconds = asked.seconds ?? SECONDS;
  const bed = await Bed.open({
    plan: {
      kind: 'walk',
      way: 'put-many',
      perMessage: PROVIDERS,
      connections: 1,
      providers: PROVIDERS,
      sideMeters: 300,
      stepMeters: 0.02,
    },
    groups: [{ name: WITNESS, topic: 'location_updates', params: [{}] }],
  });
  try {
    const params = Array.from({ length: subscribers }, (_, i) => paramsOf(i));
    const group: Group = { name: FANNED, topic: 'location_updates', params };
    await bed.listener.ask('subscribe', { port: bed.hub.port, group });
    const rate = asked.rate ?? PROVIDERS * EVENTS_PER_SECOND;
    const interval = { perSecond: rate / PROVIDERS, warmupSeconds: Math.min(2, seconds), seconds };
    const measured = await bed.measure(interval);
    const { lost, received } = await bed.balance();
    const expected = (measured.sent.total.accepted / PROVIDERS) * subscribers;
    const got = received[FANNED]?.objects ?? 0;
    // Each location is an event of every subscriber of its provider.
    const perSubscriberPerSecond = sustained(measured) / PROVIDERS;
    return { subscribers, perSubscriberPerSecond, missing: expected - got, lost, measured };
  } finally {
    await bed.close();
  }
}

function paramsOf(index: number): Record<string, unknown> {
  const filter = { provider_id: providerId(index % PROVIDERS) };
  return index % PROJECTED.every === PROJECTED.every - 1 ? { ...filter, crs: PROJECTED.crs } : filter;
}
