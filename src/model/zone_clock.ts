/** Conversion between Unix time and the wall clock of a time zone. */
export interface ZoneClock {
  /** Wall-clock time of the zone, as if it were UTC. */
  readonly wallMs: (atMs: number) => number;
  /**
   * Unix time of a wall-clock time. If clocks are set back and it occurs twice, the earlier one. If clocks are set forward
   * and it does not occur, the time that follows the change by the same interval.
   */
  readonly timeOf: (wallMs: number) => number;
  /** Like `timeOf`, but of a wall-clock time that occurs twice the later one. */
  readonly lastTimeOf: (wallMs: number) => number;
}

/** Creates the clock of a zone, by its IANA name. */
export function clockOf(zone: string): ZoneClock {
  const format = new Intl.DateTimeFormat('en', {
    timeZone: zone,
    hourCycle: 'h23',
    era: 'short',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  const wallMs = (atMs: number): number => {
    const whole = Math.floor(atMs / 1_000) * 1_000;
    const found = Object.fromEntries(format.formatToParts(whole).map(({ type, value }) => [type, Number(value)]));
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = found;
    return Date.UTC(year, month - 1, day, hour, minute, second) + (atMs - whole);
  };
  const offset = (atMs: number): number => wallMs(atMs) - atMs;
  const timesOf = (wall: number): readonly number[] => {
    // UTC offsets a day before and after: one of them applies, unless the wall-clock time does not occur.
    const offsets = [offset(wall - DAY_MS), offset(wall + DAY_MS)];
    const times = offsets.map((ahead) => wall - ahead).filter((atMs) => wallMs(atMs) === wall);
    return times.length > 0 ? times : [wall - (offsets[0] ?? 0)];
  };
  return {
    wallMs,
    timeOf: (wall) => Math.min(...timesOf(wall)),
    lastTimeOf: (wall) => Math.max(...timesOf(wall)),
  };
}

const DAY_MS = 86_400_000;

/** Whether a name is the IANA name of a time zone. */
export function isTimeZone(timeZone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone }) !== undefined;
  } catch {
    return false;
  }
}
