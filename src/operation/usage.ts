import { formatTime } from '../model/time.ts';
import { type Consumption, USAGE_COUNTERS, type UsageCounts, type UsageStatistics } from '../model/usage.ts';
import type { Arrivals } from './arrivals.ts';
import { endOf, monthOf } from './month.ts';

/**
 * What is used, by calendar month in UTC.
 *
 * Counters of the run only rise. What they have risen by since the last look is added to the month that goes on; so a
 * month is the sum of its runs. A month ends with the first look after it: its counters, with what was configured then,
 * are kept as they are from there on. Whoever looks at least once a minute, and when a month ends, gets months that are
 * exact to what came between the end and that look, and a crash costs no more than a minute of counters.
 */

/** Months that are kept, besides the one that goes on. */
export const MONTHS_MAX = 24;

/** The month that goes on, as it is kept. */
export interface KeptMonth {
  readonly id: string;
  readonly statisticsId: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly uptimeMs: number;
  readonly counts: UsageCounts;
}

/** What is to be kept: a value of the name, or none any more. */
export interface UsageWrite {
  readonly name: string;
  readonly value: object | undefined;
}

export interface UsageOptions {
  /** The time of day, which may fall. */
  now(): number;
  /** Time that has passed since some moment. */
  elapsed(): number;
  newId(): string;
  readonly hubId: string;
  /** What was counted since the start of this run. */
  counts(): UsageCounts;
  /** What is configured now, with what was active since the month has begun. */
  config(): Consumption['config'];
  /** A new month has begun. */
  monthBegun(): void;
  /** The month that went on when it was last kept. */
  readonly month: KeptMonth | undefined;
  /** Months that have ended, by the names under which they were kept. */
  readonly ended: ReadonlyMap<string, Consumption>;
  /** Keeps all or nothing. Rejects when it cannot be kept now. */
  keep(writes: readonly UsageWrite[]): Promise<void>;
}

/** Name under which the month that goes on is kept; that of an ended one is `usage:2026-11`. */
export const CURRENT = 'usage';
const NOTHING = Object.fromEntries(USAGE_COUNTERS.map((name) => [name, 0])) as UsageCounts;

export function isEndedMonth(name: string): boolean {
  return /^usage:\d{4}-\d\d$/.test(name);
}

export class Usage {
  readonly #options: UsageOptions;
  readonly #ended: Map<string, Consumption>;
  /** Names whose values have changed since they were kept. */
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

  /** Adds what was counted since the last look, and ends the month when its time has come. */
  look(): void {
    const nowMs = this.#options.now();
    const seenAt = this.#options.elapsed();
    const seen = this.#options.counts();
    const { counts, uptimeMs, fromMs } = this.#month;
    const added = USAGE_COUNTERS.map((name) => [name, counts[name] + seen[name] - this.#seen[name]]);
    this.#month = {
      ...this.#month,
      // It may have begun while the clock was ahead.
      toMs: Math.max(fromMs, nowMs),
      uptimeMs: uptimeMs + Math.round(seenAt - this.#seenAt),
      counts: Object.fromEntries(added) as UsageCounts,
    };
    this.#seen = seen;
    this.#seenAt = seenAt;
    this.#endMonth(nowMs);
  }

  /** Looks, and keeps what has changed. Rejects when it cannot be kept: it is tried again with the next. */
  async save(): Promise<void> {
    this.look();
    const names = [...this.#unkept];
    const ended = names.map((name) => ({ name, value: this.#ended.get(name) }));
    await this.#options.keep([...ended, { name: CURRENT, value: this.#month }]);
    for (const name of names) this.#unkept.delete(name);
  }

  /** What is not kept yet: the month that goes on, up to now, and those that have just ended, by their names. */
  unkept(): { readonly month: KeptMonth; readonly ended: readonly (readonly [string, Consumption])[] } {
    this.look();
    const names = [...this.#unkept];
    const ended = names.map((name) => [name, this.#ended.get(name)] as const);
    return { month: this.#month, ended: ended.filter((each): each is [string, Consumption] => each[1] !== undefined) };
  }

  /** The month that goes on, up to now. */
  current(): Consumption {
    this.look();
    return this.#consumption(this.#month);
  }

  /** One month; undefined when nothing is known of it. */
  month(year: number, month: number): Consumption | undefined {
    return this.all().find((each) => each.year === year && each.month === month);
  }

  /** All months, the earliest first. */
  all(): Consumption[] {
    const current = this.current();
    return [...this.#ended.values(), current];
  }

  /** When the month ends that goes on. */
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

/** An older hub may have kept fewer counters. */
export function withAllCounters(month: KeptMonth): KeptMonth {
  return { ...month, counts: { ...NOTHING, ...month.counts } };
}

/** What was counted in a month, as the API tells it. */
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
  /** Told that the usage could not be kept: it is tried again. */
  problem(error: unknown): void;
  readonly arrivals: Arrivals;
  /** Whether there is a provider of that id. */
  exists(provider: string): boolean;
}

/** Saves the usage every minute, and when a month ends. */
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

  /** Keeps nothing any more. */
  stop(): void {
    this.#cancel?.();
  }

  /** Keeps the usage a last time. */
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
