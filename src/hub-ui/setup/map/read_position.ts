import { t } from '../../languages/language.ts';

/** Largest latitude of the map. */
export const LATITUDE_MAX = 85;

const EXAMPLE = t('Enter a longitude and a latitude, such as 8.68, 50.11, or the name of a place on the map.');

/** Maximum length of a position. The patterns below take more than linear time. */
const LENGTH_MAX = 200;

export interface ReadPosition {
  readonly longitude: number;
  readonly latitude: number;
  /** Whether the order of longitude and latitude is ambiguous, and both numbers are possible latitudes. */
  readonly canSwap: boolean;
}

/** Two numbers with a comma, a semicolon or a space between them. */
const POINTS = /^([+-]?\d+(?:\.\d+)?)°?(?:\s*[,;]\s*|\s+)([+-]?\d+(?:\.\d+)?)°?$/;
/** Two numbers with decimal commas: the separator between them is a semicolon or contains a space. */
const COMMAS = /^([+-]?\d+,\d+|[+-]?\d+)°?(?:\s*;\s*|,?\s+)([+-]?\d+,\d+|[+-]?\d+)°?$/;
/** Degrees, and optional minutes and seconds. */
const PARTS = String.raw`([+-]?\d+(?:[.,]\d+)?)(?:\s*°)?(?:\s*(\d+(?:[.,]\d+)?)\s*')?(?:\s*(\d+(?:[.,]\d+)?)\s*")?`;
const BETWEEN = String.raw`\s*[,;]?\s*`;
const DIRECTION_BEFORE = new RegExp(`^([NSEW])\\s*${PARTS}${BETWEEN}([NSEW])\\s*${PARTS}$`);
const DIRECTION_AFTER = new RegExp(`^${PARTS}\\s*([NSEW])${BETWEEN}${PARTS}\\s*([NSEW])$`);
/** Two angles, separated by their degree signs. */
const NO_DIRECTION = new RegExp(`^(?=[^°]*°[^°]*°)${PARTS}${BETWEEN}${PARTS}$`);

/**
 * Parses a position in common notations: decimal degrees with point or comma, degrees with minutes and seconds, in either
 * order. Directions (N, S, E, W) and the range of latitudes decide the order; otherwise longitude comes first, as on the
 * map. Returns undefined for other text, and an error sentence for numbers that are not a position.
 */
export function readPosition(text: string): ReadPosition | string | undefined {
  if (text.length > LENGTH_MAX) return undefined;
  const plain = normalized(text);
  if (plain === '') return EXAMPLE;
  const pair = POINTS.exec(plain) ?? COMMAS.exec(plain);
  if (pair !== null) return ordered(numberOf(pair[1]), numberOf(pair[2]));
  const angles = anglesIn(plain.toUpperCase());
  if (angles !== undefined) return ofAngles(...angles);
  const count = plain.split(/[,;\s]+/).filter((part) => /^[+-]?\d/.test(part)).length;
  if (!/^[\d\s,;.°+-]+$/.test(plain)) return undefined;
  return `${count === 1 ? t('This is one number') : t('These are {count} numbers', { count })}. ${EXAMPLE}`;
}

/** Error sentence for text that is neither a position nor a known name. */
export function unknownPlace(text: string): string {
  return t('“{text}” is neither a position nor a name on the map. {example}', { text: text.trim(), example: EXAMPLE });
}

/** Normalizes minus signs, degree signs, minute and second marks. */
function normalized(text: string): string {
  return text
    .trim()
    .replace(/[−–]/g, '-')
    .replace(/[º˚]/g, '°')
    .replace(/''|[″”“]/g, '"')
    .replace(/[′’‘´`]/g, "'");
}

function numberOf(text = ''): number {
  return Number(text.replace(',', '.'));
}

interface Angle {
  /** Degrees; negative to the south and to the west. */
  readonly degrees: number;
  readonly axis: 'longitude' | 'latitude' | undefined;
  /** Whether minutes and seconds are below 60, and no sign contradicts the direction. */
  readonly isValid: boolean;
}

function anglesIn(text: string): readonly [Angle, Angle] | undefined {
  const before = DIRECTION_BEFORE.exec(text);
  if (before !== null) {
    return [angleOf(before.slice(2, 5), before[1]), angleOf(before.slice(6, 9), before[5])];
  }
  const after = DIRECTION_AFTER.exec(text);
  if (after !== null) return [angleOf(after.slice(1, 4), after[4]), angleOf(after.slice(5, 8), after[8])];
  const plain = NO_DIRECTION.exec(text);
  return plain === null ? undefined : [angleOf(plain.slice(1, 4)), angleOf(plain.slice(4, 7))];
}

function angleOf([degrees = '', minutes, seconds]: readonly (string | undefined)[], direction?: string): Angle {
  const [whole, minute, second] = [numberOf(degrees), numberOf(minutes ?? '0'), numberOf(seconds ?? '0')];
  const size = Math.abs(whole) + minute / 60 + second / 3600;
  const isNegative = degrees.startsWith('-') || direction === 'S' || direction === 'W';
  return {
    degrees: isNegative ? -size : size,
    axis: direction === undefined ? undefined : 'NS'.includes(direction) ? 'latitude' : 'longitude',
    isValid: minute < 60 && second < 60 && (direction === undefined || !degrees.startsWith('-')),
  };
}

function ofAngles(first: Angle, second: Angle): ReadPosition | string | undefined {
  if (!first.isValid || !second.isValid) return undefined;
  if (first.axis === undefined && second.axis === undefined) return ordered(first.degrees, second.degrees);
  if (first.axis === second.axis) return undefined;
  const isLatitudeFirst = first.axis === 'latitude' || second.axis === 'longitude';
  const [longitude, latitude] = isLatitudeFirst ? [second, first] : [first, second];
  return inRange({ longitude: longitude.degrees, latitude: latitude.degrees, canSwap: false });
}

/** Position with the longitude first, unless only the other order is possible. */
function ordered(first: number, second: number): ReadPosition | string {
  const canSwap = Math.abs(first) <= LATITUDE_MAX && Math.abs(second) <= LATITUDE_MAX;
  const isLatitudeFirst = Math.abs(second) > 90 && Math.abs(first) <= LATITUDE_MAX;
  const [longitude, latitude] = isLatitudeFirst ? [second, first] : [first, second];
  return inRange({ longitude, latitude, canSwap });
}

function inRange(position: ReadPosition): ReadPosition | string {
  const { longitude, latitude } = position;
  if (Math.abs(longitude) > 180) return t('The longitude must be from −180 to 180; it is {longitude}.', { longitude });
  if (Math.abs(latitude) <= LATITUDE_MAX) return position;
  return t('The latitude must be from −{most} to {most}; it is {latitude}.', { most: LATITUDE_MAX, latitude });
}
