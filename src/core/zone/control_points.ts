import type { Anchor } from '../../model/anchor.ts';
import type { Zone } from '../../model/zone.ts';
import { metersPerLatitude, metersPerLongitude } from '../geo/ellipsoid.ts';
import { wrapLongitude } from '../geo/longitude.ts';
import { checkGroundControlPoints } from './zone_transform.ts';
import { transformationType } from './zone_type.ts';

/**
 * Returns the zone as its anchors georeference it: anchors of anchor_ids with positions in both planes replace its
 * ground control points. Returns the same object if it has no anchors, if they are too few to determine a map, or if
 * the zone does not use control points.
 */
export function anchoredZone(zone: Zone, anchorOf: (id: string) => Anchor | undefined): Zone {
  if (zone.anchor_ids == null || zone.anchor_ids.length === 0) return zone;
  if (transformationType(zone) !== 'gcp') return zone;
  const rows = rowsOf(zone.anchor_ids, anchorOf);
  return checkGroundControlPoints(rows) === undefined ? { ...zone, ground_control_points: rows } : zone;
}

/** Anchors are often mounted above each other: of those at one position in both planes only the first counts. */
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

/** At most a thousandth of a millimeter: a zone may move very often, and rounding errors add up. */
const DIGITS = 1e12;
/** Nearer to a pole, east is not a usable direction. */
const LATITUDE_MAX = 89.9;

/**
 * Returns the ground control points of a zone whose position has moved: each keeps its offset in meters east and north.
 * Moves are composable: a zone that returns is exactly where it was. Undefined near a pole.
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
