import type { ElevationRef, Location, ProviderType } from '../../model/location.ts';
import { formatTime, readableTime } from '../../model/time.ts';

/**
 * An accepted location: the values that the hub evaluates, and JSON of the members that it only passes on. The JSON is
 * created once, on receipt, and only concatenated later. Null stands for a member that was not sent.
 */
export interface AcceptedLocation {
  readonly provider_id: string;
  readonly source: string;
  readonly provider_type: ProviderType;
  readonly crs: string;
  /** As sent: two or three numbers in `crs`. */
  readonly coordinates: readonly number[];
  readonly associated: boolean | null;
  readonly accuracy: number | null;
  readonly floor: number | null;
  readonly elevation_ref: ElevationRef | null;
  readonly speed: number | null;
  readonly course: number | null;
  /** Whether the sender set timestamp_sent. */
  readonly hasSentTime: boolean;
  /** Whether it was sent as a proximity. */
  readonly isProximity?: boolean;
  /** `"position":{…},` if the position was sent in EPSG:4326, to be published as sent; otherwise empty. */
  readonly positionText: string;
  /** JSON of all members but position, crs and trackables: `"source":…,"provider_type":…` without braces. */
  readonly text: string;
}

/** Values for omitted members, and the provider id as configured, which may differ in case. */
export interface LocationDefaults {
  readonly providerId: string;
  readonly source: string;
  readonly crs: string;
  /** Default of timestamp_generated. */
  readonly generatedMs: number;
  /** JSON of the properties, if it exists already. */
  readonly propertiesText?: string | undefined;
}

/** Converts a validated location to an accepted one, with the members that are set and supported by the hub. */
// hot
export function accept(value: Location, defaults: LocationDefaults): AcceptedLocation {
  return acceptAs(value, defaults, jsonOf(value, defaults));
}

/** Like accept, for a location whose JSON exists already. */
export function acceptAs(
  value: Location,
  { providerId, source, crs }: LocationDefaults,
  text: string,
): AcceptedLocation {
  const { associated = null, accuracy = null, floor = null, elevation_ref = null, speed = null, course = null } = value;
  return {
    provider_id: providerId,
    source,
    provider_type: value.provider_type,
    crs,
    coordinates: value.position.coordinates,
    associated,
    accuracy,
    floor,
    elevation_ref,
    speed,
    course,
    hasSentTime: value.timestamp_sent != null,
    positionText: crs === 'EPSG:4326' ? positionText(value.position.coordinates) : '',
    text,
  };
}

function positionText([x, y, z]: readonly number[]): string {
  return `"position":${pointJson(x as number, y as number, z)},`;
}

/** Returns a GeoJSON point as JSON. */
// hot
export function pointJson(x: number, y: number, z: number | undefined): string {
  const height = z === undefined ? '' : `,${z}`;
  return `{"type":"Point","coordinates":[${x},${y}${height}]}`;
}

// hot
function jsonOf(value: Location, { providerId, source, generatedMs, propertiesText }: LocationDefaults): string {
  const { timestamp_generated: generated, timestamp_sent: sent, properties } = value;
  // Times were parsed, and types come from a list: none of these needs an escape.
  let text = `"source":${JSON.stringify(source)},"provider_type":"${value.provider_type}","provider_id":`;
  text += `${JSON.stringify(providerId)},"timestamp_generated":"${generated == null ? formatTime(generatedMs) : readableTime(generated)}"`;
  if (sent != null) text += `,"timestamp_sent":"${readableTime(sent)}"`;
  if (value.associated != null) text += `,"associated":${value.associated}`;
  if (value.accuracy != null) text += `,"accuracy":${value.accuracy}`;
  if (value.floor != null) text += `,"floor":${value.floor}`;
  if (value.elevation_ref != null) text += `,"elevation_ref":"${value.elevation_ref}"`;
  if (value.true_heading != null) text += `,"true_heading":${value.true_heading}`;
  if (value.magnetic_heading != null) text += `,"magnetic_heading":${value.magnetic_heading}`;
  if (value.heading_accuracy != null) text += `,"heading_accuracy":${value.heading_accuracy}`;
  if (value.speed != null) text += `,"speed":${value.speed}`;
  if (value.course != null) text += `,"course":${value.course}`;
  if (properties != null) text += `,"properties":${propertiesText ?? JSON.stringify(properties)}`;
  return text;
}
