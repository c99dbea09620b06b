import type { StoredFence } from '../../model/fence.ts';
import type { ObjectKind } from '../../model/id.ts';
import { formatTime } from '../../model/time.ts';
import type { FilterFields, View } from '../../model/topics.ts';
import { roundDegrees, roundMeters } from '../geo/rounding.ts';
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

interface EventOptions {
  /** Whether events of trackables contain the provider. */
  readonly nameProvider: boolean;
  /** Maximum length of the fence's properties; longer ones are omitted. */
  readonly propertiesMax?: number | undefined;
}

/** Returns a FenceEvent as JSON. */
export function fenceEventJson(
  change: FenceChange,
  id: string,
  { nameProvider, propertiesMax = Number.POSITIVE_INFINITY }: EventOptions,
): string {
  const { fence, trackableId, providerId } = change;
  fence.json ??= jsonOf(fence);
  const json = fence.json;
  const provider = (trackableId === undefined || nameProvider) && providerId !== undefined ? providerId : null;
  const own = json.properties.length - PROPERTIES_NAME.length > propertiesMax ? '' : json.properties;
  const properties = change.mark === undefined ? own : markedProperties(own, MARKS[change.mark]);
  const exit = change.exitMs === undefined ? '' : `,"exit_time":"${formatTime(change.exitMs)}"`;
  return (
    `{"id":"${id}","fence_id":${json.id},"event_type":"${change.type}","provider_id":${JSON.stringify(provider)},` +
    `"trackable_id":${JSON.stringify(trackableId ?? null)},"trackables":${JSON.stringify(change.trackables)}` +
    `${json.foreignId},"entry_time":"${formatTime(change.entryMs)}"${exit}${properties}}`
  );
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
  const { foreign_id: foreignId, properties } = fence.entity;
  return {
    id: JSON.stringify(fence.id),
    foreignId: foreignId == null ? '' : `,"foreign_id":${JSON.stringify(foreignId)}`,
    properties: properties == null ? '' : PROPERTIES_NAME + JSON.stringify(properties),
  };
}
