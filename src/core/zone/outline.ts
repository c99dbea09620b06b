import type { Zone } from '../../model/zone.ts';
import { wrapLongitude } from './longitude.ts';
import { roundDegrees } from './round.ts';
import { zoneTransform } from './zone_transform.ts';
import { transformationType } from './zone_type.ts';

type Ring = number[][];

/**
 * Rings in longitude and latitude that may outline a zone placed by points, the best first: the points in their order,
 * as they mostly go around the zone, then their convex hull. Two points are opposite corners of a rectangle in the
 * zone's plane. Empty for a zone that is not placed.
 */
export function zoneOutlines(zone: Zone): readonly Ring[] {
  const rows = zone.ground_control_points ?? [];
  if (transformationType(zone) !== 'gcp' || zoneTransform(zone) === undefined) return [];
  if (rows.length === 4) return [rectangle(zone, rows)];
  const ring: Ring = [];
  for (let i = 0; i < rows.length; i += 2) ring.push([rows[i]?.[0] ?? 0, rows[i]?.[1] ?? 0]);
  return [ring, convexHull(ring)];
}

function rectangle(zone: Zone, rows: readonly (readonly number[])[]): Ring {
  const [, [x1 = 0, y1 = 0] = [], , [x2 = 0, y2 = 0] = []] = rows;
  const out: [number, number] = [0, 0];
  const corners = [[x1, y1] as const, [x2, y1] as const, [x2, y2] as const, [x1, y2] as const];
  return corners.map(([x, y]) => {
    zoneTransform(zone)?.toWgs84(x, y, out);
    return [roundDegrees(out[0]), roundDegrees(out[1])];
  });
}

/** Andrew's monotone chain, on longitudes unwrapped around the first point. */
function convexHull(points: Ring): Ring {
  const first = points[0]?.[0] ?? 0;
  const flat = points.map(([lon = 0, lat = 0]) => [first + wrapLongitude(lon - first), lat] as const);
  const sorted = flat.toSorted(([x1, y1], [x2, y2]) => x1 - x2 || y1 - y2);
  const lower = chain(sorted);
  const upper = chain(sorted.toReversed());
  return [...lower.slice(0, -1), ...upper.slice(0, -1)].map(([lon, lat]) => [wrapLongitude(lon), lat]);
}

/** The points that turn left only. */
function chain(points: readonly (readonly [number, number])[]): (readonly [number, number])[] {
  const kept: (readonly [number, number])[] = [];
  for (const point of points) {
    for (let [a, b] = kept.slice(-2); a !== undefined && b !== undefined; [a, b] = kept.slice(-2)) {
      const turn = (b[0] - a[0]) * (point[1] - a[1]) - (b[1] - a[1]) * (point[0] - a[0]);
      if (turn > 0) break;
      kept.pop();
    }
    kept.push(point);
  }
  return kept;
}
