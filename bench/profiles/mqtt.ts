import type { Group } from '../listen/listener.ts';
import { barePair } from '../process/bare_pair.ts';
import { type Balance, Bed, type Measured, WITNESS } from '../process/bed.ts';
import { MOSQUITTO, Mosquitto } from '../process/mosquitto.ts';
import type { Result } from '../report/result.ts';
import { crowdScene } from './batch.ts';
import { commandOf, profiling, sustained } from './load_run.ts';
import type { Asked, Profile } from './profile.ts';

const SECONDS = 4;
const WARMUP_SECONDS = 2;
/**
 * Sources at full speed leave a broker no time for its subscribers: mosquitto reads one packet of each connection in turn.
 * So the maximum is searched from above, by this factor, until a rate is processed completely.
 */
const STEP = 0.8;
const ALL_THE_WAY = 0.97;
const STEPS_MAX = 16;
/** Sources, with the number of packets in flight, or of locations per packet. */
const SOURCES = { connections: 10, perMessage: 100 } as const;
/** Settings to publish fence events instead of each location. */
const EVENTS_ONLY = { mqtt_publish: 'fence_events' } as const;
const ON_SOCKET: Group = { name: WITNESS, topic: 'location_updates', params: [{}] };
const ON_BROKER: Group = { ...ON_SOCKET, filter: '/omlox/json/location_updates/epsg4326/#' };

/** Transport of locations into and out of the hub. */
interface Way {
  readonly way: 'mqtt-one' | 'mqtt-many';
  /** Whether the hub publishes each location to the broker, to which the subscriber is connected. */
  readonly publishes: boolean;
}

interface Run {
  readonly full: Measured;
  readonly calm: Measured;
  readonly balance: Balance;
  readonly redelivered: number;
  /** Number of published locations that newer ones replaced before the broker accepted them. */
  readonly replaced: number;
}

export const MQTT: Profile = {
  name: 'mqtt',
  summary: 'single locations and lists through mosquitto with QoS 1, and the throughput of mosquitto alone',
  needs: () => (MOSQUITTO === undefined ? 'there is no mosquitto' : undefined),
  async run(asked: Asked): Promise<Result> {
    const single = { way: 'mqtt-one', publishes: false } as const;
    const before = await bare(single, asked);
    const { full, calm, balance, redelivered } = await measured(single, asked, before.perSecond);
    const after = await bare(single, asked);
    const published = await measured({ way: 'mqtt-one', publishes: true }, asked, sustained(full));
    const many = { way: 'mqtt-many', publishes: false } as const;
    const bareLists = await bare(many, asked);
    const lists = await measured(many, asked, bareLists.perSecond);
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
      events: balance.received['fence_events']?.objects ?? 0,
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
        published_replaced: published.replaced,
        published_lost: published.balance.lost - published.replaced,
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

/** Searches the maximum throughput from this rate, then measures latencies at half of it. */
async function measured({ way, publishes }: Way, asked: Asked, mostPerSecond: number): Promise<Run> {
  const { plan, fences } = crowdScene({ way, ...SOURCES }, asked);
  const broker = await Mosquitto.start();
  try {
    const bed = await Bed.open({
      ...{ plan, broker, nodeArgs: profiling(asked), settings: publishes ? {} : EVENTS_ONLY },
      groups: [publishes ? ON_BROKER : ON_SOCKET, { name: 'fence_events', topic: 'fence_events', params: [{}] }],
      create: (rest) => rest.createAll('/fences', fences()),
    });
    try {
      const what = `${way}${publishes ? ', each published again' : ''}`;
      const full =
        asked.rate === undefined
          ? await most(bed, { asked, what, mostPerSecond })
          : await at(bed, { asked, what, perSecond: asked.rate });
      const calm = asked.rate === undefined ? await at(bed, { asked, what, perSecond: sustained(full) / 2 }) : full;
      const { text } = await bed.rest.call('GET', '/health/mqtt');
      const { redelivered, replaced } = JSON.parse(text) as Pick<Run, 'redelivered' | 'replaced'>;
      return { full, calm, balance: await bed.balance(), redelivered, replaced };
    } finally {
      await bed.close();
    }
  } finally {
    await broker.stop();
  }
}

interface Step {
  readonly asked: Asked;
  readonly what: string;
}

async function most(
  bed: Bed,
  { asked, what, mostPerSecond }: Step & { readonly mostPerSecond: number },
): Promise<Measured> {
  let perSecond = mostPerSecond;
  for (let step = 1; ; step++) {
    const found = await at(bed, { asked, what, perSecond });
    if (found.seenPerSecond >= ALL_THE_WAY * perSecond || step === STEPS_MAX) return found;
    perSecond *= STEP;
  }
}

function at(bed: Bed, { asked, what, perSecond }: Step & { readonly perSecond: number }): Promise<Measured> {
  asked.progress(`measuring at ${Math.round(perSecond)}/s, ${what}`);
  const seconds = asked.seconds ?? SECONDS;
  const messages = Math.max(1, perSecond / SOURCES.perMessage);
  return bed.measure({ perSecond: messages, warmupSeconds: Math.min(WARMUP_SECONDS, seconds), seconds, abandon: true });
}
