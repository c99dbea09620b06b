import type { Anchor } from '../../model/anchor.ts';
import type { Zone } from '../../model/zone.ts';
import { metersPerLatitude, metersPerLongitude } from '../geo/ellipsoid.ts';
import { wrapLongitude } from '../geo/longitude.ts';
import { checkGroundControlPoints } from './zone_transform.ts';
import { transformationType } from './zone_type.ts';

/**
 * Returns the zone georeferenced by its anchors: anchors of anchor_ids with positions in both planes replace its ground
 * control points. Returns the same object if the zone has no anchors, too few to determine a map, or does not use
 * control points.
 */
export function anchoredZone(zone: Zone, anchorOf: (id: string) => Anchor | undefined): Zone {
  if (zone.anchor_ids == null || zone.anchor_ids.length === 0) return zone;
  if (transformationType(zone) !== 'gcp') return zone;
  const rows = rowsOf(zone.anchor_ids, anchorOf);
  return checkGroundControlPoints(rows) === undefined ? { ...zone, ground_control_points: rows } : zone;
}

/**
 * Returns the ground control points of anchors. Anchors are often mounted above each other; if several have the same
 * position in both planes, only the first counts.
 */
function rowsOf(ids: readonly string[], anchorOf: (id: string) => Anchor | undefined): number[][] {
  const rows: number[][] = [];
  const seen = new Set<string>();
  for (const id of ids) {
    const anchor = anchorOf(id);
    const [lon, lat] = anchor?.georeferenced_position?.coordinates ?? [];
    const [x, y] = anchor?.local_position?.coordinates ?? [];
    if (lon === undefined || lat === undefined || x === undefined || y === undefined) continue;
    const position = `${lon} ${lat} ${x} ${y}`;
    if (seen.has(position)) continue;
    seen.add(position);
    rows.push([lon, lat], [x, y]);
  }
  return rows;
}

type Row = readonly number[];

/**
 * Computed degrees are rounded to 1/DIGITS, less than a thousandth of a millimeter: a zone may move very often, and
 * rounding errors add up.
 */
const DIGITS = 1e12;
/** Maximum latitude, north or south. Nearer to a pole, east is not a usable direction. */
const LATITUDE_MAX = 89.9;

/**
 * Returns the ground control points of a zone whose position has moved: each keeps its offset in meters east and north.
 * Moves are composable: a zone that moves back is at exactly its original position. Undefined near a pole.
 *
 * @param rows Pairs of rows: longitude and latitude in degrees, then the local x and y, which stay.
 */
export function shiftedControlPoints(rows: readonly Row[], from: Row, to: Row): number[][] | undefined {
  const [fromLon = 0, fromLat = 0] = from;
  const [toLon = 0, toLat = 0] = to;
  if (Math.abs(fromLat) > LATITUDE_MAX || Math.abs(toLat) > LATITUDE_MAX) return undefined;
  const eastScale = metersPerLongitude(fromLat) / metersPerLongitude(toLat);
  const northScale = metersPerLatitude(fromLat) / metersPerLatitude(toLat);
  const shifted: number[][] = [];
  for (const [index, row] of rows.entries()) {
    if (index % 2 === 1) {
      shifted.push([...row]);
      continue;
    }
    const [lon = 0, lat = 0, ...height] = row;
    const east = wrapLongitude(lon - fromLon) * eastScale;
    const north = (lat - fromLat) * northScale;
    if (Math.abs(toLat + north) > 90) return undefined;
    shifted.push([round(wrapLongitude(toLon + east)), round(toLat + north), ...height]);
  }
  return shifted;
}

function round(degrees: number): number {
  return Math.round(degrees * DIGITS) / DIGITS + 0;
}
