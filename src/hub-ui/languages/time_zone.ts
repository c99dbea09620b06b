/** The time zone in which the page writes and asks for times: that of the browser, or another one that the reader chose. */

const KEY = 'hub-time-zone';

/** Tests read times without a browser around them. */
const kept = globalThis.localStorage as Storage | undefined;

/** The zone that the reader has chosen in this browser; undefined where it is the browser's own. */
export const chosenTimeZone: string | undefined = known(kept?.getItem(KEY) ?? undefined);

/** The time zone of the page, by its IANA name, until it is loaded again. */
export const timeZone: string = chosenTimeZone ?? new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Keeps the choice in this browser, and loads the page with it. */
export function chooseTimeZone(zone: string | undefined): void {
  if (zone === undefined) kept?.removeItem(KEY);
  else kept?.setItem(KEY, zone);
  location.reload();
}

/** The zones that a reader may choose. */
export function timeZones(): readonly string[] {
  return ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')];
}

/** A browser may have forgotten a zone, or never known it. */
function known(zone: string | undefined): string | undefined {
  if (zone === undefined) return undefined;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

/** The clock and the calendar of a time zone. */
export interface ZoneClock {
  /** The clock of the zone at a time, as if it were that of UTC. */
  readonly wallMs: (atMs: number) => number;
  /**
   * When the clock of the zone says so. Where it says so twice, when clocks are set back, it is the earlier time; where it
   * never does, as they are set forward, it is as long after the change as the clock would be.
   */
  readonly timeOf: (wallMs: number) => number;
}

/** The clock of a zone, by its IANA name. */
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
  return {
    wallMs,
    timeOf(wall) {
      // What the clock was ahead of UTC a day before and after: one of both holds at the time, unless it never says so.
      const offsets = [offset(wall - DAY_MS), offset(wall + DAY_MS)];
      const times = offsets.map((ahead) => wall - ahead).filter((atMs) => wallMs(atMs) === wall);
      return times.length > 0 ? Math.min(...times) : wall - (offsets[0] ?? 0);
    },
  };
}

const DAY_MS = 86_400_000;
