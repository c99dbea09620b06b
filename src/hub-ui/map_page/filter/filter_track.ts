import type { Location } from '../../../model/location.ts';
import { type MapPoint, type Plane, type Position, toMap, unitsPerMeter } from '../../map/plane/plane.ts';

/** Age at which locations are dropped. */
export const TRACK_MS = 300_000;
/** Maximum number of locations, and of motions; the oldest are dropped. */
const POINTS_MAX = 3_000;

/** Why the filter has rejected a location: the member of the filter that it exceeds, if the hub names it. */
export type OutlierReason = 'gate' | 'max_speed' | undefined;

/** A location as sent. */
export interface RawPoint {
  readonly at: MapPoint;
  readonly timeMs: number;
  readonly providerId: string;
  /** As sent, in meters; undefined if it was not. */
  readonly accuracy: number | undefined;
  readonly floor: number;
  /** Undefined for an accepted location. */
  readonly outlier: { readonly reason: OutlierReason; readonly meters: number | undefined } | undefined;
}

/** A position of the trackable. */
interface FilteredPoint {
  readonly at: MapPoint;
  readonly timeMs: number;
}

/** Locations and positions of an object in the last minutes, in the order of their receipt. */
export class FilterTrack {
  readonly raw: RawPoint[] = [];
  readonly filtered: FilteredPoint[] = [];
  /** Whether the hub filters the positions. */
  isFiltered = false;
  readonly #plane: Plane;

  constructor(plane: Plane) {
    this.#plane = plane;
  }

  addLocation(location: Location, nowMs: number): void {
    const at = toMap(this.#plane, location.position.coordinates);
    const outlier = isTrue(location, 'hub.outlier')
      ? { reason: reasonOf(location), meters: this.#metersFromTrack(at) }
      : undefined;
    const providerId = location.provider_id ?? '';
    const { accuracy, floor } = location;
    const sent = { accuracy: accuracy ?? undefined, floor: floor ?? 0 };
    this.raw.push({ at, timeMs: timeOf(location, nowMs), providerId, ...sent, outlier });
    drop(this.raw, nowMs);
    drop(this.filtered, nowMs);
  }

  addMotion(location: Location, nowMs: number): void {
    this.isFiltered = isTrue(location, 'hub.filtered');
    this.filtered.push({ at: toMap(this.#plane, location.position.coordinates), timeMs: timeOf(location, nowMs) });
    drop(this.filtered, nowMs);
  }

  /** Distance from the last position in meters; undefined without one. */
  #metersFromTrack([x, y]: MapPoint): number | undefined {
    const last = this.filtered.at(-1)?.at;
    return last && Math.hypot(x - last[0], y - last[1]) / unitsPerMeter(this.#plane, last);
  }
}

/** Accepted raw positions by provider, in map coordinates. */
export function acceptedPaths(raw: readonly RawPoint[]): readonly (readonly Position[])[] {
  const paths = new Map<string, Position[]>();
  for (const { at, providerId, outlier } of raw) {
    if (outlier !== undefined) continue;
    const path = paths.get(providerId);
    if (path === undefined) paths.set(providerId, [at]);
    else path.push(at);
  }
  return [...paths.values()];
}

/** Removes the points that are too old, or too many. */
function drop(points: { readonly timeMs: number }[], nowMs: number): void {
  let old = Math.max(0, points.length - POINTS_MAX);
  while (old < points.length && (points[old]?.timeMs ?? 0) < nowMs - TRACK_MS) old++;
  if (old > 0) points.splice(0, old);
}

function isTrue({ properties }: Location, name: string): boolean {
  return properties?.[name] === true;
}

function reasonOf({ properties }: Location): OutlierReason {
  const reason = properties?.['hub.outlier_reason'];
  return reason === 'gate' || reason === 'max_speed' ? reason : undefined;
}

/** Time of measurement; now for one in the future or without a time, so that it is dropped in time. */
function timeOf({ timestamp_generated: time }: Location, nowMs: number): number {
  const timeMs = Date.parse(time ?? '');
  return Number.isFinite(timeMs) ? Math.min(timeMs, nowMs) : nowMs;
}
