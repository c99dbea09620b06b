import type { Fence } from '../../model/fence.ts';
import type { ToWgs84 } from '../geo/crs.ts';
import { densifyLine, densifyRings } from '../geo/densify.ts';
import { wrapLongitude } from '../geo/longitude.ts';
import { alignHoles, flatLine, flatRing, flatRingOf, reversed, signedArea } from '../geo/rings.ts';
import type { Region } from './fence_index.ts';
import { CompactPolygon } from './compact_polygon.ts';

/**
 * Returns the region of a fence on the earth. `toWgs84` converts from the plane of the region; undefined for EPSG:4326.
 * Returns undefined if there is no valid region: a Point without radius, a ring with fewer than three different points,
 * coordinates that do not convert to finite ones.
 */
export function compileRegion(fence: Fence, toWgs84: ToWgs84 | undefined): Region | undefined {
  const { region } = fence;
  if (region.type === 'Point') return circle(region.coordinates, fence.radius, toWgs84);
  const geographic = toWgs84 === undefined;
  if (region.type === 'LineString') return line(flatLine(region.coordinates, geographic), toWgs84);
  const plane =
    region instanceof CompactPolygon
      ? region.rings.map((ring) => flatRingOf(ring, region.size, geographic))
      : region.coordinates.map((ring) => flatRing(ring, geographic));
  if (toWgs84 === undefined) return polygon(plane, 0);
  const { rings, deviationMeters } = densifyRings(plane, toWgs84);
  return polygon(rings, 2 * deviationMeters);
}

/** Whether two regions are equal: both undefined, or with the same numbers. */
export function sameRegion(a: Region | undefined, b: Region | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  if (a.kind === 'line' || b.kind === 'line') {
    return a.kind === 'line' && b.kind === 'line' && sameRing(a.positions, b.positions);
  }
  if (a.kind === 'circle') {
    return b.kind === 'circle' && a.lon === b.lon && a.lat === b.lat && a.radiusMeters === b.radiusMeters;
  }
  if (b.kind === 'circle' || a.slackMeters !== b.slackMeters || a.rings.length !== b.rings.length) return false;
  return a.rings.every((ring, i) => sameRing(ring, b.rings[i] as Float64Array));
}

function sameRing(a: Float64Array, b: Float64Array): boolean {
  return a.length === b.length && a.every((value, i) => value === b[i]);
}

function circle(
  [x, y]: readonly number[],
  radius: number | null | undefined,
  toWgs84: ToWgs84 | undefined,
): Region | undefined {
  if (radius == null || !(radius > 0) || x === undefined || y === undefined) return undefined;
  const center: [number, number] = [x, y];
  toWgs84?.(x, y, center);
  const [lon, lat] = center;
  if (!isOnEarth(lon, lat)) return undefined;
  return { kind: 'circle', lon: wrapLongitude(lon), lat, radiusMeters: radius };
}

function line(plane: Float64Array, toWgs84: ToWgs84 | undefined): Region | undefined {
  const positions = toWgs84 === undefined ? plane : densifyLine(plane, toWgs84);
  if (positions.length < 4) return undefined;
  for (let i = 0; i < positions.length; i += 2) {
    if (!isOnEarth(positions[i] as number, positions[i + 1] as number)) return undefined;
  }
  return { kind: 'line', positions };
}

function polygon(rings: readonly Float64Array[], slackMeters: number): Region | undefined {
  // A closed ring with three different points has four positions, eight numbers.
  if (rings.length === 0 || rings.some((ring) => ring.length < 8)) return undefined;
  for (const ring of rings) {
    for (let i = 0; i < ring.length; i += 2) {
      if (!isOnEarth(ring[i] as number, ring[i + 1] as number)) return undefined;
    }
  }
  // A plane may be mirrored, so the winding order is fixed here, on the earth.
  const directed = alignHoles(rings).map((ring, i) => (signedArea(ring) < 0 === (i === 0) ? reversed(ring) : ring));
  return { kind: 'polygon', rings: directed, slackMeters };
}

function isOnEarth(lon: number, lat: number): boolean {
  return Number.isFinite(lon) && Math.abs(lat) <= 90;
}
