import type { StoredFence } from '../../model/fence.ts';
import type { ObjectKind } from '../../model/id.ts';
import type { FilterFields, View } from '../../model/topics.ts';
import { roundDegrees, roundMeters } from '../geo/rounding.ts';
import {
  asciiBytes,
  JSON_MAX,
  type NewRecordBuffer,
  put,
  putString,
  putText,
  putTime,
  type RecordBuffer,
  UTF8_MAX,
  type Utf8Bytes,
} from '../json_bytes.ts';
import type { FenceState, FenceJson } from '../state.ts';
import { feature, featureCollection, geometryInPlane, viewTransform } from '../zone/view.ts';
import type { ZoneLookup } from '../zone/zone_table.ts';
import type { CrossingMark } from './observe_fences.ts';
import { localPlane } from './fence_plane.ts';

/** An entry or exit decided by the state machines of a fence. */
export interface FenceChange {
  readonly fence: FenceState;
  readonly type: 'region_entry' | 'region_exit';
  readonly entryMs: number;
  /** Event time of an exit; undefined for an entry. */
  readonly exitMs: number | undefined;
  /** The trackable that crossed; undefined if it was a provider. */
  readonly trackableId: string | undefined;
  /** The provider that crossed, or the provider of the trackable's location. */
  readonly providerId: string | undefined;
  readonly trackables: readonly string[];
  /** Mark of an event between two observations of the object. */
  readonly mark?: CrossingMark | undefined;
}

/** Returns the filter fields of a fence event, published by the hub or posted by a client. */
export function fenceEventFields(
  { id, foreign_id: foreignId }: { readonly id: string; readonly foreign_id?: string | null | undefined },
  { type, providerId, trackableId }: Pick<FenceChange, 'type' | 'providerId' | 'trackableId'>,
): FilterFields {
  const objectType = trackableId === undefined ? 'location_provider' : 'trackable';
  return [id, foreignId ?? undefined, providerId, trackableId, type, objectType];
}

/** Returns the object of a fence event: its trackable, otherwise its provider. */
export function objectOfFenceEvent(fields: FilterFields): readonly [kind: ObjectKind, id: string] {
  const [, , providerId, trackableId] = fields;
  return trackableId === undefined ? ['provider', String(providerId)] : ['trackable', String(trackableId)];
}

const PROPERTIES_NAME = ',"properties":';

/** Members of the event's properties, by mark. */
const MARKS: Readonly<Record<CrossingMark, string>> = {
  crossed: '"hub.crossed":true',
  left: '"hub.direction":"left"',
  right: '"hub.direction":"right"',
};

const ID = asciiBytes('{"id":"');
const FENCE_ID = asciiBytes('","fence_id":');
const ENTRY = asciiBytes(',"event_type":"region_entry","provider_id":');
const EXIT = asciiBytes(',"event_type":"region_exit","provider_id":');
const TRACKABLE_ID = asciiBytes(',"trackable_id":');
const TRACKABLES = asciiBytes(',"trackables":[');
const ENTRY_TIME = asciiBytes(',"entry_time":"');
const EXIT_TIME = asciiBytes('","exit_time":"');
const NULL = asciiBytes('null');
const [QUOTE, COMMA, CLOSING_BRACKET, CLOSING_BRACE] = [0x22, 0x2c, 0x5d, 0x7d] as const;
/** Maximum bytes of an event without the ids and the members of the fence: names, times, id and mark. */
const FIXED_MAX = 512;

interface EventOptions {
  /** Whether events of trackables contain the provider. */
  readonly nameProvider: boolean;
  /** Maximum length of the fence's properties; longer ones are omitted. */
  readonly propertiesMax?: number | undefined;
}

/** Returns the maximum number of bytes that writeFenceEvent writes. */
// hot
export function fenceEventBytesMax({ fence, providerId, trackableId, trackables }: FenceChange): number {
  const { id, foreignId, properties } = jsonOf(fence);
  let strings = (providerId?.length ?? 0) + (trackableId?.length ?? 0);
  for (const trackable of trackables) strings += trackable.length + 1;
  return FIXED_MAX + JSON_MAX * strings + UTF8_MAX * (id.length + foreignId.length + properties.length);
}

/** Writes a FenceEvent as JSON, with a UUID as its id. Returns the offset after it. */
// hot
export function writeFenceEvent(
  { bytes }: RecordBuffer,
  start: number,
  change: FenceChange,
  id: string,
  { nameProvider, propertiesMax = Number.POSITIVE_INFINITY }: EventOptions,
): number {
  const { fence, trackableId, providerId, trackables, exitMs } = change;
  const json = jsonOf(fence);
  let at = putText(bytes, put(bytes, start, ID), id);
  at = putText(bytes, put(bytes, at, FENCE_ID), json.id);
  at = put(bytes, at, change.type === 'region_entry' ? ENTRY : EXIT);
  at = trackableId === undefined || nameProvider ? putOptional(bytes, at, providerId) : put(bytes, at, NULL);
  at = putOptional(bytes, put(bytes, at, TRACKABLE_ID), trackableId);
  at = put(bytes, at, TRACKABLES);
  for (let i = 0; i < trackables.length; i++) {
    if (i > 0) bytes[at++] = COMMA;
    at = putString(bytes, at, trackables[i] as string);
  }
  bytes[at++] = CLOSING_BRACKET;
  at = putText(bytes, at, json.foreignId);
  at = putTime(bytes, put(bytes, at, ENTRY_TIME), change.entryMs);
  if (exitMs !== undefined) at = putTime(bytes, put(bytes, at, EXIT_TIME), exitMs);
  bytes[at++] = QUOTE;
  const own = json.properties.length - PROPERTIES_NAME.length > propertiesMax ? '' : json.properties;
  at = putText(bytes, at, change.mark === undefined ? own : markedProperties(own, MARKS[change.mark]));
  bytes[at] = CLOSING_BRACE;
  return at + 1;
}

/** Returns the JSON that writeFenceEvent writes. */
export function fenceEventJson(
  change: FenceChange,
  id: string,
  options: EventOptions,
  newBuffer: NewRecordBuffer,
): string {
  const buffer = newBuffer(fenceEventBytesMax(change));
  return buffer.bytes.toString('utf8', 0, writeFenceEvent(buffer, 0, change, id, options));
}

// hot
function putOptional(bytes: Utf8Bytes, at: number, text: string | undefined): number {
  return text === undefined ? put(bytes, at, NULL) : putString(bytes, at, text);
}

/** Adds a member to properties as JSON. A member of the fence with the same name loses: parsers take the last one. */
function markedProperties(properties: string, mark: string): string {
  if (properties === '' || properties === `${PROPERTIES_NAME}{}`) return `${PROPERTIES_NAME}{${mark}}`;
  return `${properties.slice(0, -1)},${mark}}`;
}

/**
 * Returns a GeoJSON FeatureCollection of the event: the geometry is the region of the fence; the properties are the
 * members of the event and the fence's name, floor and radius. Undefined if the region cannot be converted to the view.
 */
export function fenceFeature(fence: StoredFence, text: string, view: View, zones: ZoneLookup): string | undefined {
  const geometry = regionIn(fence, view, zones);
  if (geometry === undefined) return undefined;
  const { name, floor, radius } = fence;
  const extra = JSON.stringify({ name: name ?? undefined, floor: floor ?? undefined, radius: radius ?? undefined });
  const members = extra === '{}' ? text : `${text.slice(0, -1)},${extra.slice(1)}`;
  return featureCollection([feature(geometry, members)]);
}

function regionIn(fence: StoredFence, view: View, zones: ZoneLookup): string | undefined {
  const { region } = fence;
  const crs = fence.crs ?? 'EPSG:4326';
  const own = fence.zone_id == null ? undefined : zones(fence.zone_id);
  const from = crs === 'local' ? localPlane(fence, zones) : viewTransform({ crs }, undefined, zones);
  const to = viewTransform(view, own, zones);
  if (from === undefined || to === undefined) return undefined;
  if (from === to) return JSON.stringify(region);
  const convert = (x: number, y: number, out: [number, number]): void => {
    out[0] = x;
    out[1] = y;
    if (from !== 'wgs84') from.toWgs84(x, y, out);
    if (to !== 'wgs84') to.fromWgs84(out[0], out[1], out);
    out[0] = to === 'wgs84' ? roundDegrees(out[0]) : roundMeters(out[0]);
    out[1] = to === 'wgs84' ? roundDegrees(out[1]) : roundMeters(out[1]);
  };
  const moved = geometryInPlane(region, convert);
  return moved && JSON.stringify(moved);
}

function jsonOf(fence: FenceState): FenceJson {
  fence.json ??= newJson(fence);
  return fence.json;
}

function newJson(fence: FenceState): FenceJson {
  const { foreign_id: foreignId, properties } = fence.entity;
  return {
    id: JSON.stringify(fence.id),
    foreignId: foreignId == null ? '' : `,"foreign_id":${JSON.stringify(foreignId)}`,
    properties: properties == null ? '' : PROPERTIES_NAME + JSON.stringify(properties),
  };
}
