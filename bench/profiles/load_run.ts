import type { Group } from '../listen/listener.ts';
import type { Plan } from '../load/plan.ts';
import { type Balance, Bed, type BedOptions, type Measured, WITNESS } from '../process/bed.ts';
import type { Result } from '../report/result.ts';
import type { Asked } from './profile.ts';

const WARMUP_SECONDS = 3;
const BARE = { warmupSeconds: 1, seconds: 3 };

/** A subscriber of every location, and one of every fence event. */
export const BOTH_TOPICS: readonly Group[] = [
  { name: WITNESS, topic: 'location_updates', params: [{}] },
  { name: 'fence_events', topic: 'fence_events', params: [{}] },
];

export interface LoadRun extends BedOptions {
  readonly name: string;
  readonly plan: Plan;
  readonly secondsByDefault: number;
  /** Locations per second at which latencies are measured; half of the maximum throughput if undefined. */
  readonly latencyRate?: number;
  /** Additional numbers of this profile. */
  more?(balance: Balance): Readonly<Record<string, number>>;
}

/**
 * Measures a scene under load. With a rate, it uses that rate. Otherwise it first measures the maximum throughput in a
 * closed loop, and then latencies in an open loop at half of it, or at the rate of the scene. The bare server is
 * measured before and after with the same messages.
 */
export async function runLoad(run: LoadRun, asked: Asked): Promise<Result> {
  const { progress } = asked;
  const seconds = asked.seconds ?? run.secondsByDefault;
  const { rate } = asked;
  const warmupSeconds = Math.min(WARMUP_SECONDS, seconds);
  const bareTimes = { warmupSeconds: Math.min(BARE.warmupSeconds, seconds), seconds: Math.min(BARE.seconds, seconds) };
  progress('making the scene');
  const bed = await Bed.open({ ...run, nodeArgs: profiling(asked) });
  try {
    const perSecond = (locations: number): number => locations / run.plan.perMessage;
    const interval = { warmupSeconds, seconds };
    progress('measuring the bare server');
    const bareBefore = await bed.bare(bareTimes);
    progress(rate === undefined ? 'measuring the maximum' : `measuring at ${rate}/s`);
    const full = await bed.measure({ ...interval, perSecond: rate && perSecond(rate) });
    let calm = full;
    if (rate === undefined) {
      // If nothing was processed, one message a second still shows the latency of a message.
      const half = run.latencyRate ?? Math.max(sustained(full) / 2, run.plan.perMessage);
      progress(`measuring latencies at ${Math.round(half)}/s`);
      calm = await bed.measure({ ...interval, perSecond: perSecond(half) });
    }
    progress('measuring the bare server again');
    const bare = (bareBefore + (await bed.bare(bareTimes))) / 2;
    return await resultOf(bed, { run, asked, full, calm, bare });
  } finally {
    await bed.close();
  }
}

/** Completely processed locations per second, excluding those that only fill queues. */
export function sustained({ sent, seenPerSecond }: Measured): number {
  return Math.min(sent.measured.accepted / sent.measuredSeconds, seenPerSecond);
}

interface Runs {
  readonly run: LoadRun;
  readonly asked: Asked;
  readonly full: Measured;
  readonly calm: Measured;
  readonly bare: number;
}

async function resultOf(bed: Bed, { run, asked, full, calm, bare }: Runs): Promise<Result> {
  const { sent } = full;
  const balance = await bed.balance();
  const { received, lost, processed, outdated } = balance;
  const latency = calm.latency[WITNESS];
  const fenceLatency = calm.latency['fence_events'];
  const exitLatency = calm.exitLatency['fence_events'];
  const others = Object.entries(received).filter(([name]) => name !== WITNESS);
  return {
    profile: run.name,
    command: commandOf(run.name, asked),
    offered_per_s: sent.measured.offered / sent.measuredSeconds,
    accepted_per_s: sent.measured.accepted / sent.measuredSeconds,
    seen_per_s: full.seenPerSecond,
    processed,
    lost,
    events: others.reduce((sum, [, { objects }]) => sum + objects, 0),
    put_p50_ms: calm.sent.put.p50,
    put_p99_ms: calm.sent.put.p99,
    event_p50_ms: latency?.p50 ?? 0,
    event_p99_ms: latency?.p99 ?? 0,
    hub_cpu_s: full.hubCpuSeconds,
    generator_cpu_s: full.generatorCpuSeconds,
    rss_mb: full.residentMb,
    bare_per_s: bare,
    ratio_to_bare: sustained(full) / bare,
    more: {
      latency_rate_per_s: calm.sent.measured.offered / calm.sent.measuredSeconds,
      refused_per_s: sent.measured.refused / sent.measuredSeconds,
      outdated,
      fence_event_p50_ms: fenceLatency?.p50 ?? 0,
      fence_event_p99_ms: fenceLatency?.p99 ?? 0,
      exit_event_p50_ms: exitLatency?.p50 ?? 0,
      exit_event_p99_ms: exitLatency?.p99 ?? 0,
      hub_front_cpu_s: full.frontCpuSeconds,
      listener_cpu_s: full.listenerCpuSeconds,
      hub_us_per_location: (1e6 * full.hubCpuSeconds) / (sent.measuredSeconds * sustained(full)),
      ...run.more?.(balance),
    },
  };
}

/** Options of Node for the hub. */
export function profiling({ cpuProf }: Asked): readonly string[] {
  return cpuProf === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${cpuProf}`];
}

/** The command that repeats the measurement. */
export function commandOf(name: string, { rate, seconds, scale }: Asked): string {
  const options = [
    rate === undefined ? '' : ` --rate ${rate}`,
    seconds === undefined ? '' : ` --seconds ${seconds}`,
    scale === 1 ? '' : ` --scale ${scale}`,
  ];
  return `npm run bench -- --profile ${name}${options.join('')}`;
}
