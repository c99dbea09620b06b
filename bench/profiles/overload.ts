import { setTimeout as delay } from 'node:timers/promises';
import { Bed, type Measured, WITNESS } from '../process/bed.ts';
import { residentMb } from '../process/proc.ts';
import type { Result, Series } from '../report/result.ts';
import { crowdedSite } from './batch.ts';
import { commandOf, sustained } from './load_run.ts';
import type { Asked, Profile } from './profile.ts';
import { fifth, mean } from './statistics.ts';

const SECONDS = 10;
/** Default capacity of the queue of a thread. */
const LANE_CAPACITY = 100_000;
/**
 * A sender that waits for each answer cannot exceed the rate of the hub. This number of senders has twice the capacity
 * of the lanes in flight.
 */
const SENDERS = { way: 'put-many', connections: 800, perMessage: 250, providers: 200_000 } as const;
/** Connections that find the maximum. */
const FEW = 10;
const SAMPLE_MS = 100;
/** Time after the end of the load within which latencies must recover. */
const RECOVERY_SECONDS = 2;
const STALLED = 'stalled';
/** Share of the maximum that is offered as normal load. */
const NORMAL_SHARE = 0.25;

export const OVERLOAD: Profile = {
  name: 'overload',
  summary: 'twice the maximum is offered, then normal load; and a WebSocket reader that stalls',
  async run(asked: Asked): Promise<Result> {
    const seconds = asked.seconds ?? SECONDS;
    asked.progress('making the scene');
    const settings = { lane_capacity: Math.ceil(LANE_CAPACITY * asked.scale) };
    const bed = await Bed.open({ ...crowdedSite('overload', SENDERS, asked), settings });
    try {
      const load = new Load(bed, seconds);
      asked.progress('measuring the maximum');
      const most = await load.most();
      asked.progress('measuring normal load');
      const before = await load.at(NORMAL_SHARE * most, Math.min(2, seconds));
      asked.progress(`offering ${Math.round(2 * most)}/s`);
      const { overload, memory } = await load.over(2 * most);
      asked.progress('measuring normal load again');
      const after = await load.at(NORMAL_SHARE * most, RECOVERY_SECONDS);
      asked.progress('measuring while a reader stalls');
      const stall = await stallRatio(bed, load, NORMAL_SHARE * most);
      const balance = await bed.balance();
      const { sent } = overload;
      const mb = memory.points.map(([, resident]) => resident);
      return {
        profile: 'overload',
        command: commandOf('overload', asked),
        offered_per_s: 2 * most,
        accepted_per_s: sent.measured.accepted / seconds,
        seen_per_s: overload.seenPerSecond,
        processed: balance.processed,
        lost: balance.lost,
        events: balance.received['fence_events']?.objects ?? 0,
        put_p50_ms: sent.put.p50,
        put_p99_ms: sent.put.p99,
        event_p50_ms: overload.latency[WITNESS]?.p50 ?? 0,
        event_p99_ms: overload.latency[WITNESS]?.p99 ?? 0,
        hub_cpu_s: overload.hubCpuSeconds,
        generator_cpu_s: overload.generatorCpuSeconds,
        rss_mb: overload.residentMb,
        more: {
          maximum_per_s: most,
          sent_per_s: sent.measured.offered / seconds,
          refused_per_s: sent.measured.refused / seconds,
          retry_after_missing: sent.retryAfterMissing,
          rss_most_mb: Math.max(...mb),
          rss_growth_ratio: mean(fifth(mb, 4)) / mean(fifth(mb, 2)),
          normal_p99_before_ms: before.latency[WITNESS]?.p99 ?? 0,
          normal_p99_after_ms: after.latency[WITNESS]?.p99 ?? 0,
          recovered_p99_ratio: (after.latency[WITNESS]?.p99 ?? 0) / (before.latency[WITNESS]?.p99 ?? 1),
          stalled_reader_p99_ratio: stall,
        },
        series: [memory],
      };
    } finally {
      await bed.close();
    }
  },
};

/** Applies different loads, in locations per second, to one test bed. */
class Load {
  readonly #bed: Bed;
  readonly #seconds: number;

  constructor(bed: Bed, seconds: number) {
    this.#bed = bed;
    this.#seconds = seconds;
  }

  /** Maximum throughput with senders that are too few to overload the hub. */
  async most(): Promise<number> {
    const few = { perSecond: undefined, connections: Math.min(FEW, this.#bed.connections) };
    return sustained(
      await this.#bed.measure({ ...few, warmupSeconds: Math.min(3, this.#seconds), seconds: this.#seconds }),
    );
  }

  at(rate: number, warmupSeconds: number): Promise<Measured> {
    return this.#bed.measure({ perSecond: rate / SENDERS.perMessage, warmupSeconds, seconds: this.#seconds });
  }

  /**
   * Offers more than the hub can process, and drops messages that were not sent by the end. Samples the memory of the hub,
   * and returns at the end of the load.
   */
  async over(rate: number): Promise<{ overload: Measured; memory: Series }> {
    const points: [number, number][] = [];
    let isOver = false;
    const sampling = (async () => {
      for (let at = 0; !isOver; at += SAMPLE_MS) {
        points.push([at / 1000, residentMb(this.#bed.hub.pid)]);
        await delay(SAMPLE_MS);
      }
    })();
    const interval = { perSecond: rate / SENDERS.perMessage, warmupSeconds: 0, seconds: this.#seconds, abandon: true };
    const overload = await this.#bed.measure(interval, { drains: false });
    isOver = true;
    await sampling;
    return { overload, memory: { name: 'RSS under overload', x: 's', y: 'MB', points } };
  }
}

/**
 * Ratio of the p99 of other subscribers while one has stopped reading to their p99 without it. Measured twice,
 * alternating, because the performance of the machine varies.
 */
async function stallRatio(bed: Bed, load: Load, rate: number): Promise<number> {
  const [calm, stalled]: [number[], number[]] = [[], []];
  for (let turn = 0; turn < 2; turn++) {
    calm.push((await load.at(rate, 1)).latency[WITNESS]?.p99 ?? 0);
    const group = { name: STALLED, topic: 'location_updates', params: [{}] };
    await bed.listener.ask('subscribe', { port: bed.hub.port, group });
    await bed.listener.ask('pause', { name: STALLED });
    stalled.push((await load.at(rate, 1)).latency[WITNESS]?.p99 ?? 0);
    await bed.listener.ask('close', { name: STALLED });
  }
  return Math.min(...stalled) / Math.min(...calm);
}
