import type { Group } from '../listen/listener.ts';
import { barePair } from '../process/bare_pair.ts';
import { type Balance, Bed, type Measured, WITNESS } from '../process/bed.ts';
import { MOSQUITTO, Mosquitto } from '../process/mosquitto.ts';
import type { Result } from '../report/result.ts';
import { crowdScene } from './batch.ts';
import { commandOf, profiling, sustained } from './load_run.ts';
import type { Asked, Profile } from './profile.ts';

const SECONDS = 6;
const WARMUP_SECONDS = 2;
/** Sources, each of which has so many packets under way, or so many locations in one. */
const SOURCES = { connections: 10, perMessage: 100 } as const;
/** What the hub publishes where it is not to publish each location: the events of fences. */
const EVENTS_ONLY = { mqtt_publish: 'fence_events' } as const;
const ON_SOCKET: Group = { name: WITNESS, topic: 'location_updates', params: [{}] };
const ON_BROKER: Group = { ...ON_SOCKET, filter: '/omlox/json/location_updates/epsg4326/#' };

/** How locations come in, and where they go. */
interface Way {
  readonly way: 'mqtt-one' | 'mqtt-many';
  /** Whether the hub publishes each location, and the subscriber is one of the broker. */
  readonly publishes: boolean;
}

interface Run {
  readonly full: Measured;
  readonly calm: Measured;
  readonly balance: Balance;
  readonly redelivered: number;
}

export const MQTT: Profile = {
  name: 'mqtt',
  summary: 'single locations and lists by way of mosquitto with QoS 1, and what mosquitto moves by itself',
  needs: () => (MOSQUITTO === undefined ? 'there is no mosquitto' : undefined),
  async run(asked: Asked): Promise<Result> {
    const single = { way: 'mqtt-one', publishes: false } as const;
    const before = await bare(single, asked);
    const { full, calm, balance, redelivered } = await measured(single, asked);
    const after = await bare(single, asked);
    const published = await measured({ way: 'mqtt-one', publishes: true }, asked);
    const lists = await measured({ way: 'mqtt-many', publishes: false }, asked);
    const bareLists = await bare({ way: 'mqtt-many', publishes: false }, asked);
    const { sent } = full;
    const barePerSecond = (before.perSecond + after.perSecond) / 2;
    const microsOf = ({ measuredSeconds }: Measured['sent'], cpuSeconds: number, perSecond: number): number =>
      (1e6 * cpuSeconds) / (measuredSeconds * perSecond);
    return {
      profile: 'mqtt',
      command: commandOf('mqtt', asked),
      offered_per_s: sent.measured.offered / sent.measuredSeconds,
      accepted_per_s: sent.measured.accepted / sent.measuredSeconds,
      seen_per_s: full.seenPerSecond,
      processed: balance.processed,
      lost: balance.lost,
      events: balance.heard['fence_events']?.objects ?? 0,
      put_p50_ms: calm.sent.put.p50,
      put_p99_ms: calm.sent.put.p99,
      event_p50_ms: calm.latency[WITNESS]?.p50 ?? 0,
      event_p99_ms: calm.latency[WITNESS]?.p99 ?? 0,
      hub_cpu_s: full.hubCpuSeconds,
      generator_cpu_s: full.generatorCpuSeconds,
      rss_mb: full.residentMb,
      bare_per_s: barePerSecond,
      ratio_to_bare: sustained(full) / barePerSecond,
      more: {
        through_per_s: sustained(full),
        latency_rate_per_s: calm.sent.measured.offered / calm.sent.measuredSeconds,
        redelivered,
        hub_us_per_location: microsOf(sent, full.hubCpuSeconds, full.seenPerSecond),
        hub_front_us_per_location: microsOf(sent, full.frontCpuSeconds, full.seenPerSecond),
        broker_us_per_location: microsOf(sent, full.brokerCpuSeconds, full.seenPerSecond),
        bare_broker_us_per_location: (before.brokerUs + after.brokerUs) / 2,
        published_per_s: sustained(published.full),
        published_ratio: sustained(published.full) / barePerSecond,
        published_lost: published.balance.lost,
        published_event_p50_ms: published.calm.latency[WITNESS]?.p50 ?? 0,
        published_event_p99_ms: published.calm.latency[WITNESS]?.p99 ?? 0,
        lists_per_s: sustained(lists.full),
        lists_ratio: sustained(lists.full) / bareLists.perSecond,
        lists_lost: lists.balance.lost,
        lists_event_p50_ms: lists.calm.latency[WITNESS]?.p50 ?? 0,
        lists_event_p99_ms: lists.calm.latency[WITNESS]?.p99 ?? 0,
        lists_bare_per_s: bareLists.perSecond,
      },
    };
  },
};

function bare({ way }: Way, asked: Asked): ReturnType<typeof barePair> {
  asked.progress(`measuring what mosquitto moves by itself, ${way}`);
  const { plan } = crowdScene({ way, ...SOURCES }, asked);
  const seconds = asked.seconds ?? SECONDS;
  return barePair(plan, { perSecond: undefined, warmupSeconds: Math.min(1, seconds), seconds });
}

/** The most that goes through, then latencies at half of it. */
async function measured({ way, publishes }: Way, asked: Asked): Promise<Run> {
  const { plan, fences } = crowdScene({ way, ...SOURCES }, asked);
  const seconds = asked.seconds ?? SECONDS;
  const interval = { warmupSeconds: Math.min(WARMUP_SECONDS, seconds), seconds };
  const broker = await Mosquitto.start();
  try {
    const bed = await Bed.open({
      ...{ plan, broker, nodeArgs: profiling(asked), settings: publishes ? {} : EVENTS_ONLY },
      groups: [publishes ? ON_BROKER : ON_SOCKET, { name: 'fence_events', topic: 'fence_events', params: [{}] }],
      create: (rest) => rest.createAll('/fences', fences()),
    });
    try {
      const what = `${way}${publishes ? ', each published again' : ''}`;
      asked.progress(asked.rate === undefined ? `measuring the maximum, ${what}` : `measuring ${what}`);
      const perSecond = asked.rate && asked.rate / plan.perMessage;
      const full = await bed.measure({ ...interval, perSecond });
      const half = Math.max(sustained(full) / 2, plan.perMessage) / plan.perMessage;
      asked.progress(`measuring latencies at ${Math.round(half * plan.perMessage)}/s, ${what}`);
      const calm = asked.rate === undefined ? await bed.measure({ ...interval, perSecond: half }) : full;
      const { text } = await bed.rest.call('GET', '/health/mqtt');
      const { redelivered } = JSON.parse(text) as { readonly redelivered: number };
      return { full, calm, balance: await bed.balance(), redelivered };
    } finally {
      await bed.close();
    }
  } finally {
    await broker.stop();
  }
}
