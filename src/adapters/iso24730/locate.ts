import { exactNumberOf } from '../../model/lossless_numbers.ts';
import type { Location, ProviderType } from '../../model/location.ts';
import { formatTime } from '../../model/time.ts';
import { readVendorTime } from '../../model/vendor_time.ts';
import type { ReportColumn, Field } from './columns.ts';

/** Origin of the locations of a stream. */
export interface Belonging {
  /** Id or foreign id of the zone in whose coordinates the stream is. */
  readonly source: string;
  readonly providerType: ProviderType;
}

/** A locate message: its source and format, then the values in the order of the columns. */
export interface Locate {
  readonly source: string;
  readonly format: string;
  readonly values: readonly string[];
  readonly columns: readonly ReportColumn[];
}

/** A location, and whether its time is the time of receipt because the message has no valid time. */
export interface Located {
  readonly location: Location;
  readonly isTimed: boolean;
}

export type Unlocated = 'no_tag_id' | 'no_position';

/** Fields that become members of the location instead of properties. */
const PLACED: ReadonlySet<Field> = new Set<Field>(['source', 'format', 'tag_id', 'x', 'y', 'z', 'timestamp']);
const NUMERIC: ReadonlySet<Field> = new Set<Field>(['battery', 'antenna_id']);

/** Converts a message to a location in coordinates of the zone. If that is not possible, returns the missing field. */
export function locate(message: Locate, { source, providerType }: Belonging): Located | Unlocated {
  const { columns, values } = message;
  const read: Partial<Record<Field, string>> = {};
  // Uses entries instead of assignments, because a vendor field may have any name, even __proto__.
  const vendor: [string, string][] = [];
  const extra: string[] = values.slice(columns.length).filter((value) => value !== '');
  for (const [index, { field, name }] of columns.entries()) {
    const value = values[index];
    if (value === undefined || value === '') continue;
    if (field !== undefined) read[field] ??= value;
    else if (name !== '') vendor.push([name, value]);
    else extra.push(value);
  }
  if (read.tag_id === undefined) return 'no_tag_id';
  const x = readNumber(read.x);
  const y = readNumber(read.y);
  if (x === undefined || y === undefined) return 'no_position';
  const z = readNumber(read.z);
  const timeMs = read.timestamp === undefined ? Number.NaN : readVendorTime(read.timestamp);
  const isTimed = !Number.isNaN(timeMs);
  const details = Object.fromEntries<unknown>([
    ...vendor,
    ['source', message.source],
    ['format', message.format],
    ...standardDetails(read),
    ...(extra.length > 0 ? [['extra', extra] as const] : []),
  ]);
  const location: Location = {
    position: { type: 'Point', coordinates: z === undefined ? [x, y] : [x, y, z] },
    source,
    provider_type: providerType,
    provider_id: read.tag_id,
    crs: 'local',
    properties: { iso24730: details },
  };
  if (isTimed) location.timestamp_generated = formatTime(timeMs);
  return { location, isTimed };
}

function standardDetails(read: Partial<Record<Field, string>>): [string, unknown][] {
  const details: [string, unknown][] = [];
  for (const [field, value] of Object.entries(read) as [Field, string][]) {
    if (PLACED.has(field)) continue;
    details.push([field, NUMERIC.has(field) ? readDetail(value) : value]);
  }
  return details;
}

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Returns a number with its original digits if the value is a valid JSON number; otherwise the string. */
function readDetail(value: string): unknown {
  const number = readNumber(value);
  if (number === undefined) return value;
  return JSON_NUMBER.test(value) ? exactNumberOf(value) : number;
}

const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;

/** Parses a number. Unlike Number(), does not accept an empty string or hexadecimal digits. */
function readNumber(text: string | undefined): number | undefined {
  if (text === undefined || !NUMBER.test(text)) return undefined;
  const number = Number(text);
  return Number.isFinite(number) ? number : undefined;
}
