/**
 * A reference model of the membership of one object in one fence. It is as plain as possible, with one variable per
 * timer, and independent of the state machine in src/core/fence/membership.ts that it verifies.
 */

/** Timing values of a fence, a trackable or a provider. */
export interface Values {
  readonly timeout?: number | null | undefined;
  readonly exit_tolerance?: number | null | undefined;
  readonly tolerance_timeout?: number | null | undefined;
  readonly exit_delay?: number | null | undefined;
  readonly entry_tolerance_timeout?: number | null | undefined;
  readonly entry_delay?: number | null | undefined;
}

export interface Setting {
  readonly provider: Values;
  readonly trackable: Values;
  readonly fence: Values & { readonly entry_tolerance?: number | undefined };
}

export type Crossing = readonly ['entry', entryMs: number] | readonly ['exit', entryMs: number, exitMs: number];

const NEVER = Number.POSITIVE_INFINITY;

export class MembershipModel {
  readonly crossings: Crossing[] = [];
  readonly #setting: Setting;
  #isMember = false;
  #firstInsideMs = NEVER;
  #lastSeenMs = 0;
  #area: 'inside' | 'tolerance' | 'out' = 'out';
  #fenceTimer = NEVER;
  #toleranceTimer = NEVER;
  #exitTimer = NEVER;
  #entryToleranceTimer = NEVER;
  #entryTimer = NEVER;

  constructor(setting: Setting) {
    this.#setting = setting;
  }

  /** Distance of the object from the fence in meters, negative inside. */
  see(nowMs: number, eventTimeMs: number, metersOutside: number): void {
    this.wait(nowMs);
    this.#lastSeenMs = nowMs;
    if (this.#isMember) this.#seeMember(nowMs, eventTimeMs, metersOutside);
    else this.#seeStranger(nowMs, eventTimeMs, metersOutside);
  }

  /** Advances the time: timers fire, the earliest first. */
  wait(nowMs: number): void {
    for (;;) {
      const entryMs = Math.min(this.#entryToleranceTimer, this.#entryTimer);
      const exitMs = Math.min(this.#fenceTimer, this.#toleranceTimer, this.#exitTimer);
      if (Math.min(entryMs, exitMs) > nowMs) return;
      if (this.#isMember) this.#exit(exitMs);
      else this.#enter();
    }
  }

  #seeMember(nowMs: number, eventTimeMs: number, metersOutside: number): void {
    const fenceTimeout = this.#value('timeout') ?? 0;
    const fenceTimeoutMs = fenceTimeout <= 0 ? NEVER : fenceTimeout;
    const toleranceTimeout = this.#value('tolerance_timeout');
    const toleranceTimeoutMs = toleranceTimeout === undefined ? fenceTimeoutMs : duration(toleranceTimeout);
    const before = this.#area;
    this.#fenceTimer = nowMs + fenceTimeoutMs;
    if (metersOutside <= 0) {
      this.#area = 'inside';
      this.#toleranceTimer = NEVER;
      this.#exitTimer = NEVER;
    } else if (metersOutside <= (this.#value('exit_tolerance') ?? 0)) {
      this.#area = 'tolerance';
      this.#exitTimer = NEVER;
      // It runs until the object is inside again, whatever its first position outside.
      if (this.#toleranceTimer === NEVER) this.#toleranceTimer = nowMs + toleranceTimeoutMs;
    } else {
      this.#area = 'out';
      if (before === 'inside' && toleranceTimeout !== undefined) this.#toleranceTimer = nowMs + toleranceTimeoutMs;
      if (before !== 'out') this.#exitTimer = nowMs + duration(this.#value('exit_delay') ?? 0);
    }
    if (Math.min(this.#toleranceTimer, this.#exitTimer) <= nowMs) this.#exit(eventTimeMs);
  }

  #seeStranger(nowMs: number, eventTimeMs: number, metersOutside: number): void {
    if (metersOutside > 0) {
      this.#stopEntering();
      return;
    }
    if (this.#firstInsideMs === NEVER) this.#firstInsideMs = eventTimeMs;
    if (-metersOutside >= (this.#setting.fence.entry_tolerance ?? 0)) {
      if (this.#entryTimer === NEVER) this.#entryTimer = nowMs + duration(this.#value('entry_delay') ?? 0);
    } else {
      this.#entryTimer = NEVER;
      const timeoutMs = duration(this.#value('entry_tolerance_timeout') ?? -1);
      if (this.#entryToleranceTimer === NEVER) this.#entryToleranceTimer = nowMs + timeoutMs;
    }
    if (Math.min(this.#entryTimer, this.#entryToleranceTimer) <= nowMs) this.#enter();
  }

  #enter(): void {
    const fenceTimeout = this.#value('timeout') ?? 0;
    this.crossings.push(['entry', this.#firstInsideMs]);
    this.#isMember = true;
    this.#area = 'inside';
    this.#fenceTimer = fenceTimeout <= 0 ? NEVER : this.#lastSeenMs + fenceTimeout;
    this.#entryTimer = NEVER;
    this.#entryToleranceTimer = NEVER;
  }

  #exit(exitMs: number): void {
    this.crossings.push(['exit', this.#firstInsideMs, Math.max(exitMs, this.#firstInsideMs)]);
    this.#isMember = false;
    this.#fenceTimer = NEVER;
    this.#toleranceTimer = NEVER;
    this.#exitTimer = NEVER;
    this.#stopEntering();
  }

  #stopEntering(): void {
    this.#firstInsideMs = NEVER;
    this.#entryTimer = NEVER;
    this.#entryToleranceTimer = NEVER;
  }

  /** The provider's value, else the trackable's, else the fence's. */
  #value(name: keyof Values): number | undefined {
    const { provider, trackable, fence } = this.#setting;
    return provider[name] ?? trackable[name] ?? fence[name] ?? undefined;
  }
}

function duration(value: number): number {
  return value === -1 ? NEVER : value;
}
