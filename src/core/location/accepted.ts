import type { ElevationRef, Location, ProviderType } from '../../model/location.ts';
import { formatTime, readableTime } from '../../model/time.ts';

/**
 * A location that was accepted: what the hub decides by, and beside it the JSON text of what it only hands on. The text
 * is made once, where the location comes in; later it is only put together. Null stands for what was not sent.
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
  /** Whether its sender has said when it was sent. */
  readonly hasSentTime: boolean;
  /** `"position":{…},` where it was sent in EPSG:4326, and is shown so; otherwise nothing. */
  readonly positionText: string;
  /** All members but position, crs and trackables: `"source":…,"provider_type":…` without braces. */
  readonly text: string;
}

/** What stands in for members that were left out, and for a provider id in another case. */
export interface FilledIn {
  readonly providerId: string;
  readonly source: string;
  readonly crs: string;
  /** timestamp_generated where there is none. */
  readonly generatedMs: number;
  /** Its properties as JSON text, where that was made already. */
  readonly propertiesText?: string | undefined;
}

/** Takes a checked location, with the members that the hub knows and that are set. */
// hot
export function accept(value: Location, filledIn: FilledIn): AcceptedLocation {
  return acceptAs(value, filledIn, textOf(value, filledIn));
}

/** Takes a location whose text there is already. */
export function acceptAs(value: Location, { providerId, source, crs }: FilledIn, text: string): AcceptedLocation {
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
  return `"position":${pointText(x as number, y as number, z)},`;
}

/** JSON text of a GeoJSON point. */
// hot
export function pointText(x: number, y: number, z: number | undefined): string {
  const height = z === undefined ? '' : `,${z}`;
  return `{"type":"Point","coordinates":[${x},${y}${height}]}`;
}

// hot
function textOf(value: Location, { providerId, source, generatedMs, propertiesText }: FilledIn): string {
  const { timestamp_generated: generated, timestamp_sent: sent, properties } = value;
  // Times were parsed, and types are words: none of these needs an escape.
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
