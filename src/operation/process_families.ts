import { type EventLoopUtilization, type IntervalHistogram, monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import type { ThreadMemory } from '../lane/thread.ts';
import { type Family, type MetricSample, metric, metricBy } from './metrics.ts';

/** A worker thread that can be measured. */
export interface MeasuredThread {
  readonly name: string;
  memory(): Promise<ThreadMemory | undefined>;
}

export interface ProcessOptions {
  readonly startedMs: number;
  threads(): readonly MeasuredThread[];
  /** Schedules `callback` after `delayMs`. Returns a function that cancels it. */
  schedule(delayMs: number, callback: () => void): () => void;
}

/** Maximum time to wait for a thread's answer. A busy thread is omitted. */
const MEMORY_WAIT_MS = 500;
const LOOP_RESOLUTION_MS = 500;
const NANOSECONDS = 1e9;

/** Metrics of the process: memory of its threads, and load of the main thread. */
export class ProcessFamilies {
  readonly families: readonly Family[];
  readonly #delay: IntervalHistogram = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS });
  #utilization: EventLoopUtilization = performance.eventLoopUtilization();

  constructor(options: ProcessOptions) {
    const { startedMs } = options;
    this.families = [
      metricBy(
        'quantile',
        'hub_event_loop_delay_seconds',
        'Delay of due timers on the main thread, since the last scrape.',
        () => this.#delays(),
      ),
      metric('hub_event_loop_busy_ratio', 'Fraction of time that the main thread is busy, since the last scrape.', () =>
        this.#busy(),
      ),
      {
        name: 'hub_thread_memory_bytes',
        help: 'Memory of each thread: used and total JavaScript heap, and memory outside of it.',
        labels: ['thread', 'part'],
        read: () => memories(options),
      },
      metric('process_resident_memory_bytes', 'Memory of the whole process.', () => process.memoryUsage.rss()),
      metric('process_start_time_seconds', 'When the hub was started, in seconds since 1970.', () => startedMs / 1000),
      metric('process_cpu_seconds_total', 'Processor time of all threads.', () => {
        const { user, system } = process.cpuUsage();
        return (user + system) / 1e6;
      }),
    ];
  }

  stop(): void {
    this.#delay.disable();
  }

  #delays(): readonly (readonly [quantile: string, seconds: number])[] {
    // Measures from the first scrape on, because the timer wakes an idle hub.
    this.#delay.enable();
    const { count } = this.#delay;
    // The histogram measures the interval between two timer calls.
    const at = (percentile: number): number => {
      const delayNs = this.#delay.percentile(percentile) - LOOP_RESOLUTION_MS * 1e6;
      return count === 0 ? 0 : Math.max(0, delayNs) / NANOSECONDS;
    };
    const delays = [
      ['0.5', at(50)],
      ['0.99', at(99)],
      ['1', at(100)],
    ] as const;
    this.#delay.reset();
    return delays;
  }

  #busy(): number {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, this.#utilization);
    this.#utilization = now;
    return utilization;
  }
}

async function memories({ threads, schedule }: ProcessOptions): Promise<readonly MetricSample[]> {
  const workers = threads().map(async ({ name, memory }) => {
    const found = await within(memory(), schedule);
    return found === undefined ? [] : memoryOf(name, found);
  });
  const own = getHeapStatistics();
  const main = memoryOf('main', {
    heapUsedBytes: own.used_heap_size,
    heapTotalBytes: own.total_heap_size,
    externalBytes: own.external_memory,
  });
  return [...main, ...(await Promise.all(workers)).flat()];
}

function memoryOf(
  thread: string,
  { heapUsedBytes, heapTotalBytes, externalBytes }: ThreadMemory,
): readonly MetricSample[] {
  return [
    { labels: { thread, part: 'heap_used' }, value: heapUsedBytes },
    { labels: { thread, part: 'heap_total' }, value: heapTotalBytes },
    { labels: { thread, part: 'external' }, value: externalBytes },
  ];
}

/** Resolves to the result of a promise, or to undefined after MEMORY_WAIT_MS. */
function within<T>(work: Promise<T>, schedule: ProcessOptions['schedule']): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const cancel = schedule(MEMORY_WAIT_MS, () => resolve(undefined));
    work.then(resolve, reject).finally(cancel);
  });
}
