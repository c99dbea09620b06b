/** Time zone of the page, for display and input: that of the browser, or the user's setting. */

const KEY = 'hub-time-zone';

/** Undefined in tests without a browser. */
const storage = globalThis.localStorage as Storage | undefined;

/** Setting stored in this browser; undefined for the browser's own zone. */
export const chosenTimeZone: string | undefined = canonicalZone(storage?.getItem(KEY) ?? undefined);

/** IANA name of the page's time zone; a change takes effect on reload. */
export const timeZone: string = chosenTimeZone ?? new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Stores the setting in this browser and reloads the page. */
export function chooseTimeZone(zone: string | undefined): void {
  if (zone === undefined) storage?.removeItem(KEY);
  else storage?.setItem(KEY, zone);
  location.reload();
}

/** IANA names of the selectable zones. */
export function timeZones(): readonly string[] {
  return ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')];
}

/** Canonical name of a zone; undefined if this browser does not support it. */
function canonicalZone(zone: string | undefined): string | undefined {
  if (zone === undefined) return undefined;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

/** Conversion between Unix time and the wall clock of a time zone. */
export interface ZoneClock {
  /** Wall-clock time of the zone, as if it were UTC. */
  readonly wallMs: (atMs: number) => number;
  /**
   * Unix time of a wall-clock time. If clocks are set back and it occurs twice, the earlier one. If clocks are set forward
   * and it does not occur, the time that follows the change by the same interval.
   */
  readonly timeOf: (wallMs: number) => number;
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
  return {
    wallMs,
    timeOf(wall) {
      // UTC offsets a day before and after: one of them applies, unless the wall-clock time does not occur.
      const offsets = [offset(wall - DAY_MS), offset(wall + DAY_MS)];
      const times = offsets.map((ahead) => wall - ahead).filter((atMs) => wallMs(atMs) === wall);
      return times.length > 0 ? Math.min(...times) : wall - (offsets[0] ?? 0);
    },
  };
}

const DAY_MS = 86_400_000;
