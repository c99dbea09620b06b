import { show } from '../model/error_value_text.ts';
import { formatTime } from '../model/time.ts';
import { type Problem, problemOf } from '../problem.ts';

/**
 * The sentences RMC and GGA of NMEA 0183, the output of GNSS receivers. Other sentences are skipped.
 *
 *   $GPRMC,time,status,lat,N|S,lon,E|W,knots,course,ddmmyy,…*hh
 *   $GPGGA,time,lat,N|S,lon,E|W,quality,satellites,hdop,altitude,M,…*hh
 */
export interface NmeaFix {
  /** RMC or GGA. */
  readonly sentence: string;
  /** Two letters for the system: GP, GN, GL, … */
  readonly talker: string;
  readonly latitude: number;
  readonly longitude: number;
  /** RFC 3339, in UTC. */
  readonly time: string;
  /** Meters per second. */
  readonly speed?: number;
  /** Degrees clockwise from true north. */
  readonly course?: number;
  /** Meters above mean sea level. */
  readonly altitude?: number;
  readonly quality?: number;
  readonly satellites?: number;
  readonly hdop?: number;
}

/** Meters per second of a knot: a nautical mile of 1,852 m per hour. */
const KNOT = 1852 / 3600;
const DAY_MS = 86_400_000;
const SENTENCE = /^[$!]([A-Z]{2})([A-Z]{3}),([^*]*)(?:\*([0-9A-Fa-f]{2}))?$/;
const TIME = /^(\d\d)(\d\d)(\d\d(?:\.\d+)?)$/;
const ANGLE = /^(\d{1,3})(\d\d(?:\.\d+)?)$/;
const DATE = /^(\d\d)(\d\d)(\d\d)$/;
const NUMBER = /^-?(\d+(\.\d*)?|\.\d+)$/;

/**
 * Parses the sentences of a payload. GGA has no date, so it gets the one that makes its time nearest to the time of
 * receipt. Sentences without a valid position are skipped. Returns a Problem for a line that is not a sentence, or whose
 * checksum is wrong.
 */
export function readNmea(text: string, receivedMs: number): readonly NmeaFix[] | Problem {
  const fixes: NmeaFix[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    const sentence = line.trim();
    if (sentence === '') continue;
    const at = `$/${index}`;
    const [, talker = '', kind = '', body = '', checksum] = SENTENCE.exec(sentence) ?? [];
    if (kind === '') return problemOf('not_nmea', { path: at, found: show(sentence) });
    if (checksum !== undefined && checksumOf(sentence) !== Number.parseInt(checksum, 16)) {
      const expected = `*${checksumOf(sentence).toString(16).toUpperCase().padStart(2, '0')}`;
      return problemOf('not_value', { path: at, expected, found: show(`*${checksum}`) });
    }
    if (kind !== 'RMC' && kind !== 'GGA') continue;
    const fix = (kind === 'RMC' ? rmc : gga)(body.split(','), receivedMs);
    if (fix !== undefined) fixes.push({ sentence: kind, talker, ...fix });
  }
  return fixes;
}

type Body = Omit<NmeaFix, 'sentence' | 'talker'>;

function rmc(fields: readonly string[]): Body | undefined {
  const [time, status, latitude, ns, longitude, ew, knots, course, date = ''] = fields;
  const [, day, month, year] = DATE.exec(date) ?? [];
  const timeMs = timeOfDay(time);
  const position = positionOf({ latitude, ns, longitude, ew });
  if (status !== 'A' || year === undefined || timeMs === undefined || position === undefined) return undefined;
  // NMEA years have two digits. GPS began in 1980.
  const century = Number(year) >= 80 ? 1900 : 2000;
  const fixMs = Date.UTC(century + Number(year), Number(month) - 1, Number(day)) + timeMs;
  const [speed, angle] = [numberOf(knots), numberOf(course)];
  return {
    ...position,
    time: formatTime(fixMs),
    ...(speed !== undefined && { speed: speed * KNOT }),
    ...(angle !== undefined && { course: angle }),
  };
}

function gga(fields: readonly string[], receivedMs: number): Body | undefined {
  const [time, latitude, ns, longitude, ew, quality, satellites, hdop, altitude] = fields;
  const timeMs = timeOfDay(time);
  const position = positionOf({ latitude, ns, longitude, ew });
  // Quality 0: no fix.
  if ((numberOf(quality) ?? 0) === 0 || timeMs === undefined || position === undefined) return undefined;
  const day = Math.round((receivedMs - timeMs) / DAY_MS);
  const more = { quality, satellites, hdop, altitude };
  const numbers = Object.entries(more).flatMap(([name, field]) => {
    const value = numberOf(field);
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...position, time: formatTime(day * DAY_MS + timeMs), ...Object.fromEntries(numbers) };
}

function timeOfDay(text = ''): number | undefined {
  const [, hours, minutes, seconds] = TIME.exec(text) ?? [];
  if (seconds === undefined) return undefined;
  return Math.round(((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000);
}

interface PositionFields {
  readonly latitude: string | undefined;
  readonly ns: string | undefined;
  readonly longitude: string | undefined;
  readonly ew: string | undefined;
}

function positionOf({ latitude, ns, longitude, ew }: PositionFields): Pick<Body, 'latitude' | 'longitude'> | undefined {
  const lat = degreesOf(latitude, ns, 'S');
  const lon = degreesOf(longitude, ew, 'W');
  return lat === undefined || lon === undefined ? undefined : { latitude: lat, longitude: lon };
}

/** Degrees of an angle such as 4807.038: 48 degrees and 7.038 minutes. */
function degreesOf(text = '', side = '', negative: 'S' | 'W'): number | undefined {
  const [, degrees, minutes] = ANGLE.exec(text) ?? [];
  if (minutes === undefined || side === '') return undefined;
  const value = Number(degrees) + Number(minutes) / 60;
  return side === negative ? -value : value;
}

function numberOf(text = ''): number | undefined {
  return NUMBER.test(text) ? Number(text) : undefined;
}

/** XOR of the characters between $ and *. */
function checksumOf(sentence: string): number {
  let sum = 0;
  for (let i = 1; i < sentence.length && sentence[i] !== '*'; i++) sum ^= sentence.charCodeAt(i);
  return sum;
}
