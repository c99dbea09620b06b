import { setTimeout as delay } from 'node:timers/promises';
import { type Balance, Bed, type Measured } from '../process/bed.ts';
import type { Result } from '../report/result.ts';
import { crowdedSite } from './batch.ts';
import { commandOf, profiling, sustained } from './load_run.ts';
import type { Asked, Profile } from './profile.ts';

const [WARMUP_SECONDS, SECONDS] = [3, 10] as const;
/** Time after which the last accepted location is in a file: history_flush_interval, and the time to write. */
const WRITTEN_MS = 15_000;
const LOOK_MS = 250;
const SENT = { way: 'put-many', connections: 10, perMessage: 100 } as const;
/** Alternating, so that changes in the machine's speed affect both. */
const TURNS = 2;

interface Run {
  readonly measured: Measured;
  readonly balance: Balance;
  readonly recorded: number;
  readonly dropped: number;
  readonly bytes: number;
}

export const HISTORY: Profile = {
  name: 'history',
  summary:
    'the site of batch with and without history, alternating: cost of recording, and completeness of the records',
  async run(asked: Asked): Promise<Result> {
    const without: Run[] = [];
    const recording: Run[] = [];
    for (let turn = 1; turn <= TURNS; turn++) {
      asked.progress(`without history, ${turn} of ${TURNS}`);
      without.push(await run(asked, false));
      asked.progress(`with history, ${turn} of ${TURNS}`);
      recording.push(await run(asked, true));
    }
    const [{ measured }] = recording as [Run];
    const rows = sumOf(
      recording,
      ({ balance }) => balance.processed + (balance.received['fence_events']?.objects ?? 0),
    );
    const recorded = sumOf(recording, (each) => each.recorded);
    const dropped = sumOf(recording, (each) => each.dropped);
    const throughput = meanOf(recording, (each) => sustained(each.measured));
    const throughputWithout = meanOf(without, (each) => sustained(each.measured));
    const microsOf = (runs: readonly Run[]): number =>
      meanOf(runs, (each) => {
        const { sent, hubCpuSeconds } = each.measured;
        return (1e6 * hubCpuSeconds) / (sent.measuredSeconds * sustained(each.measured));
      });
    return {
      profile: 'history',
      command: commandOf('history', asked),
      offered_per_s: meanOf(
        recording,
        (each) => each.measured.sent.measured.offered / each.measured.sent.measuredSeconds,
      ),
      accepted_per_s: meanOf(recording, ({ measured: { sent } }) => sent.measured.accepted / sent.measuredSeconds),
      seen_per_s: meanOf(recording, (each) => each.measured.seenPerSecond),
      processed: sumOf(recording, ({ balance }) => balance.processed),
      lost: sumOf(recording, ({ balance }) => balance.lost),
      hub_cpu_s: measured.hubCpuSeconds,
      generator_cpu_s: measured.generatorCpuSeconds,
      rss_mb: measured.residentMb,
      more: {
        through_per_s: throughput,
        without_per_s: throughputWithout,
        ratio_to_without: throughput / throughputWithout,
        hub_us_per_location: microsOf(recording),
        hub_us_without: microsOf(without),
        recorded,
        dropped,
        unaccounted: rows - recorded - dropped,
        recorded_share: recorded / rows,
        bytes_per_row: sumOf(recording, (each) => each.bytes) / recorded,
        rss_without_mb: without[0]?.measured.residentMb ?? 0,
      },
    };
  },
};

async function run(asked: Asked, history: boolean): Promise<Run> {
  const seconds = asked.seconds ?? SECONDS;
  const { plan, groups, create } = crowdedSite('history', SENT, asked);
  const settings = { history };
  const bed = await Bed.open({ plan, groups, ...(create && { create }), settings, nodeArgs: profiling(asked) });
  try {
    const perSecond = asked.rate && asked.rate / plan.perMessage;
    const measured = await bed.measure({ warmupSeconds: Math.min(WARMUP_SECONDS, seconds), seconds, perSecond });
    const balance = await bed.balance();
    return { measured, balance, ...(await written(bed, balance, history)) };
  } finally {
    await bed.close();
  }
}

/** Recorded rows, counted when none are pending. */
async function written(
  bed: Bed,
  balance: Balance,
  history: boolean,
): Promise<Pick<Run, 'recorded' | 'dropped' | 'bytes'>> {
  const rows = balance.processed + (balance.received['fence_events']?.objects ?? 0);
  const untilMs = performance.now() + (history ? WRITTEN_MS : 0);
  for (;;) {
    const metrics = await bed.rest.metrics();
    const recorded = metrics.get('hub_history_recorded_total') ?? 0;
    const dropped = metrics.get('hub_history_dropped_total') ?? 0;
    const bytes = metrics.get('hub_history_bytes') ?? 0;
    if (recorded + dropped >= rows || performance.now() > untilMs) return { recorded, dropped, bytes };
    await delay(LOOK_MS);
  }
}

function sumOf<Element>(elements: readonly Element[], of: (element: Element) => number): number {
  return elements.reduce((sum, element) => sum + of(element), 0);
}

function meanOf<Element>(elements: readonly Element[], of: (element: Element) => number): number {
  return sumOf(elements, of) / elements.length;
}
