import type { Zone } from '../../model/zone.ts';
import { roundDegrees } from '../geo/rounding.ts';
import { convexHull, cornersOf } from './corners.ts';
import { zoneTransform } from './zone_transform.ts';
import { transformationType } from './zone_type.ts';

type Ring = number[][];

/**
 * A ring in longitude and latitude around a zone that is placed by points: their convex hull, whatever their order. Two
 * points are opposite corners of a rectangle in the zone's plane. Undefined for a zone that is not placed by points, and
 * where they are all on one line.
 */
export function zoneOutline(zone: Zone): Ring | undefined {
  const rows = zone.ground_control_points ?? [];
  if (transformationType(zone) !== 'gcp' || zoneTransform(zone) === undefined) return undefined;
  if (rows.length === 4) return rectangle(zone, rows);
  const hull = convexHull(cornersOf(zone)).map(({ lon, lat }) => [lon, lat]);
  return hull.length === 0 ? undefined : hull;
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
