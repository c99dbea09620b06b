import { formatTime } from '../model/time.ts';
import { type Consumption, USAGE_COUNTERS, type UsageCounts, type UsageStatistics } from '../model/usage.ts';
import type { Arrivals } from './arrivals.ts';
import { endOf, monthOf } from './month.ts';

/**
 * Usage by calendar month in UTC.
 *
 * Counters never decrease while the hub runs. Each update adds their increase to the current month, so a month is the
 * sum of all runs. The first update after the end of a month closes it: its counters and the configuration at that time
 * are stored and do not change any more. With an update every minute and at the end of each month, a closed month may
 * include events between its end and that update, and a crash loses at most a minute of counters.
 */

/** Maximum number of stored closed months. */
export const MONTHS_MAX = 24;

/** The current month as it is stored. */
export interface KeptMonth {
  readonly id: string;
  readonly statisticsId: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly uptimeMs: number;
  readonly counts: UsageCounts;
}

/** A setting to store; deleted if its value is undefined. */
export interface UsageWrite {
  readonly name: string;
  readonly value: object | undefined;
}

export interface UsageOptions {
  /** Wall-clock time, which may step backward. */
  now(): number;
  /** Monotonic time. */
  elapsed(): number;
  newId(): string;
  readonly hubId: string;
  /** Counters since the start of this run. */
  counts(): UsageCounts;
  /** Current configuration, with the objects active in the current month. */
  config(): Consumption['config'];
  /** Called when a new month has started. */
  monthBegun(): void;
  /** The current month as it was last stored. */
  readonly month: KeptMonth | undefined;
  /** Closed months, by setting name. */
  readonly ended: ReadonlyMap<string, Consumption>;
  /** Stores all writes or none. Rejects if they cannot be stored now. */
  keep(writes: readonly UsageWrite[]): Promise<void>;
}

/** Setting name of the current month. A closed month is named like `usage:2026-11`. */
export const CURRENT = 'usage';
const NOTHING = Object.fromEntries(USAGE_COUNTERS.map((name) => [name, 0])) as UsageCounts;

export function isEndedMonth(name: string): boolean {
  return /^usage:\d{4}-\d\d$/.test(name);
}

export class Usage {
  readonly #options: UsageOptions;
  readonly #ended: Map<string, Consumption>;
  /** Names of closed months that have changed since they were stored. */
  readonly #unkept = new Set<string>();
  #month: KeptMonth;
  #seen = NOTHING;
  #seenAt: number;

  constructor(options: UsageOptions) {
    this.#options = options;
    this.#ended = new Map([...options.ended].sort(([a], [b]) => (a < b ? -1 : 1)));
    this.#seenAt = options.elapsed();
    const nowMs = options.now();
    const { month } = options;
    this.#month = month ? withAllCounters(month) : this.#newMonth(nowMs);
    this.#endMonth(nowMs);
  }

  /** Adds the counters since the last update, and closes the month if it is over. */
  look(): void {
    const nowMs = this.#options.now();
    const seenAt = this.#options.elapsed();
    const seen = this.#options.counts();
    const { counts, uptimeMs, fromMs } = this.#month;
    const added = USAGE_COUNTERS.map((name) => [name, counts[name] + seen[name] - this.#seen[name]]);
    this.#month = {
      ...this.#month,
      // The month may have started while the clock was ahead.
      toMs: Math.max(fromMs, nowMs),
      uptimeMs: uptimeMs + Math.round(seenAt - this.#seenAt),
      counts: Object.fromEntries(added) as UsageCounts,
    };
    this.#seen = seen;
    this.#seenAt = seenAt;
    this.#endMonth(nowMs);
  }

  /** Updates the counters and stores changed months. Rejects if that fails; the next call retries. */
  async save(): Promise<void> {
    this.look();
    const names = [...this.#unkept];
    const ended = names.map((name) => ({ name, value: this.#ended.get(name) }));
    await this.#options.keep([...ended, { name: CURRENT, value: this.#month }]);
    for (const name of names) this.#unkept.delete(name);
  }

  /** Returns usage that is not stored yet: the current month up to now, and closed months by name. */
  unkept(): { readonly month: KeptMonth; readonly ended: readonly (readonly [string, Consumption])[] } {
    this.look();
    const names = [...this.#unkept];
    const ended = names.map((name) => [name, this.#ended.get(name)] as const);
    return { month: this.#month, ended: ended.filter((each): each is [string, Consumption] => each[1] !== undefined) };
  }

  /** Returns the current month up to now. */
  current(): Consumption {
    this.look();
    return this.#consumption(this.#month);
  }

  /** Returns all months, earliest first. */
  all(): Consumption[] {
    const current = this.current();
    return [...this.#ended.values(), current];
  }

  /** End of the current month. */
  get endsMs(): number {
    return endOf(monthOf(this.#month.fromMs));
  }

  #endMonth(nowMs: number): void {
    if (nowMs < this.endsMs) return;
    const ended = this.#consumption({ ...this.#month, toMs: Math.min(this.#month.toMs, this.endsMs) });
    this.#put(`${CURRENT}:${ended.year}-${String(ended.month).padStart(2, '0')}`, ended);
    for (const name of [...this.#ended.keys()].slice(0, -MONTHS_MAX)) this.#put(name, undefined);
    this.#month = this.#newMonth(nowMs);
    this.#options.monthBegun();
  }

  #put(name: string, consumption: Consumption | undefined): void {
    this.#unkept.add(name);
    if (consumption === undefined) this.#ended.delete(name);
    else this.#ended.set(name, consumption);
  }

  #newMonth(fromMs: number): KeptMonth {
    const { newId } = this.#options;
    return { id: newId(), statisticsId: newId(), fromMs, toMs: fromMs, uptimeMs: 0, counts: NOTHING };
  }

  #consumption(month: KeptMonth): Consumption {
    const { hubId, now, config } = this.#options;
    const { id, fromMs } = month;
    const statistics = statisticsOf(month, hubId);
    return { id, timestamp_generated: formatTime(now()), ...monthOf(fromMs), config: config(), statistics };
  }
}

/** Adds missing counters, since an older hub may have stored fewer. */
export function withAllCounters(month: KeptMonth): KeptMonth {
  return { ...month, counts: { ...NOTHING, ...month.counts } };
}

/** Returns the statistics of a month as in the API. */
export function statisticsOf(month: KeptMonth, hubId: string): UsageStatistics {
  const { statisticsId, fromMs, toMs, uptimeMs, counts } = month;
  return {
    id: statisticsId,
    instance_id: hubId,
    data_db_id: hubId,
    stats_db_id: hubId,
    uptime: Math.floor(uptimeMs / 1000),
    range: { from: formatTime(fromMs), to: formatTime(toMs) },
    ...counts,
  };
}

const SAVE_MS = 60_000;

interface SavingOptions {
  now(): number;
  schedule(delayMs: number, callback: () => void): () => void;
  /** Reports that the usage could not be stored, which is retried. */
  problem(error: unknown): void;
  readonly arrivals: Arrivals;
  /** Whether the provider exists. */
  exists(provider: string): boolean;
}

/** Saves the usage every minute and at the end of each month. */
export class Saving {
  readonly #usage: Usage;
  readonly #options: SavingOptions;
  #cancel: (() => void) | undefined;

  constructor(usage: Usage, options: SavingOptions) {
    this.#usage = usage;
    this.#options = options;
  }

  start(): void {
    const { now, schedule, arrivals, exists } = this.#options;
    const delayMs = Math.max(1, Math.min(SAVE_MS, this.#usage.endsMs - now()));
    this.#cancel = schedule(delayMs, () => {
      arrivals.retain(exists);
      void this.#save();
      this.start();
    });
  }

  /** Stops without saving. */
  stop(): void {
    this.#cancel?.();
  }

  /** Saves a last time. */
  async close(): Promise<void> {
    this.stop();
    await this.#save();
  }

  async #save(): Promise<void> {
    try {
      await this.#usage.save();
    } catch (error) {
      this.#options.problem(error);
    }
  }
}
