import { setTimeout as delay } from 'node:timers/promises';
import { Bed, type Measured, WITNESS } from '../process/bed.ts';
import { MOSQUITTO, Mosquitto } from '../process/mosquitto.ts';
import type { Result } from '../report/result.ts';
import { crowdedSite } from './batch.ts';
import { commandOf, profiling, sustained } from './load_run.ts';
import { memorySeries } from './memory_series.ts';
import type { Asked, Profile } from './profile.ts';
import { fifth, mean } from './statistics.ts';

/** How long the broker is suspended. */
const SECONDS = 60;
/** Duration of the measurement before and after. */
const CALM_SECONDS = 10;
const RATE = 10_000;
const SENDERS = { way: 'put-many', connections: 10, perMessage: 10 } as const;
/** MiB: less than the newest locations of all providers. */
const QUEUE_MIB = 2;
const SAMPLE_MS = 250;
const GOES_ON_MS = 60_000;
const LOOK_MS = 50;

interface Health {
  readonly connected: boolean;
  readonly published: number;
  readonly replaced: number;
  readonly dropped: number;
  readonly waiting: number;
  readonly waiting_bytes: number;
}

export const MQTT_STALL: Profile = {
  name: 'mqtt-stall',
  summary: 'a broker that stops reading for a minute during PUTs of locations: memory, latencies, dropped messages',
  needs: () => (MOSQUITTO === undefined ? 'there is no mosquitto' : undefined),
  async run(asked: Asked): Promise<Result> {
    const broker = await Mosquitto.start();
    try {
      const settings = { mqtt_max_queue: QUEUE_MIB };
      const bed = await Bed.open({
        ...{ ...crowdedSite('mqtt-stall', SENDERS, asked), settings, nodeArgs: profiling(asked) },
        publishesTo: broker,
      });
      try {
        return await measured(bed, broker, asked);
      } finally {
        await bed.close();
      }
    } finally {
      // A suspended process handles no other signal.
      broker.resume();
      await broker.stop();
    }
  },
};

async function measured(bed: Bed, broker: Mosquitto, asked: Asked): Promise<Result> {
  const { rate = RATE, seconds = SECONDS } = asked;
  const calm = Math.min(CALM_SECONDS, seconds);
  const at = (forSeconds: number): Promise<Measured> => {
    return bed.measure({ perSecond: rate / SENDERS.perMessage, warmupSeconds: Math.min(2, calm), seconds: forSeconds });
  };
  asked.progress('measuring with a broker that reads');
  const before = await at(calm);
  const healthBefore = await healthOf(bed);
  asked.progress(`measuring with a broker that does not, for ${seconds} s`);
  broker.pause();
  const samples = memorySeries(bed.hub.pid, { name: 'RSS beside a broker that does not read', everyMs: SAMPLE_MS });
  const during = await at(seconds);
  const memory = await samples.stop();
  const health = await healthOf(bed);
  asked.progress('measuring when it reads again');
  broker.resume();
  const goesOnMs = await goesOn(bed, health.published);
  const after = await at(calm);
  const balance = await bed.balance();
  const mb = memory.points.map(([, resident]) => resident);
  return {
    profile: 'mqtt-stall',
    command: commandOf('mqtt-stall', asked),
    offered_per_s: rate,
    accepted_per_s: sustained(during),
    seen_per_s: during.seenPerSecond,
    processed: balance.processed,
    lost: balance.lost,
    put_p50_ms: during.sent.put.p50,
    put_p99_ms: during.sent.put.p99,
    event_p50_ms: during.latency[WITNESS]?.p50 ?? 0,
    event_p99_ms: during.latency[WITNESS]?.p99 ?? 0,
    hub_cpu_s: during.hubCpuSeconds,
    rss_mb: during.residentMb,
    more: {
      put_p50_before_ms: before.sent.put.p50,
      put_p99_before_ms: before.sent.put.p99,
      put_p50_after_ms: after.sent.put.p50,
      put_p99_after_ms: after.sent.put.p99,
      stalled_put_p50_ratio: during.sent.put.p50 / Math.max(before.sent.put.p50, after.sent.put.p50),
      stalled_put_p99_ratio: during.sent.put.p99 / Math.max(before.sent.put.p99, after.sent.put.p99),
      rss_growth_ratio: mean(fifth(mb, 4)) / mean(fifth(mb, 2)),
      rss_most_mb: Math.max(...mb),
      waiting_mb: health.waiting_bytes / 1e6,
      waiting_max_mb: (QUEUE_MIB * 2 ** 20) / 1e6,
      replaced: health.replaced - healthBefore.replaced,
      dropped: health.dropped - healthBefore.dropped,
      goes_on_ms: goesOnMs,
    },
    series: [memory],
  };
}

/** Milliseconds until the broker receives waiting messages; NaN if it does not. */
async function goesOn(bed: Bed, published: number): Promise<number> {
  const fromMs = performance.now();
  for (; performance.now() - fromMs < GOES_ON_MS; await delay(LOOK_MS)) {
    const health = await healthOf(bed);
    if (health.connected && health.published > published && health.waiting === 0) return performance.now() - fromMs;
  }
  return Number.NaN;
}

async function healthOf(bed: Bed): Promise<Health> {
  return JSON.parse((await bed.rest.call('GET', '/health/mqtt')).text);
}
