import type { Anchor } from '../../model/anchor.ts';
import type { Zone } from '../../model/zone.ts';
import { metresPerLatitude, metresPerLongitude } from '../geo/ellipsoid.ts';
import { wrapLongitude } from '../geo/longitude.ts';
import { checkGroundControlPoints } from './zone_transform.ts';
import { transformationType } from './zone_type.ts';

/**
 * The zone as its anchors place it: those of its anchor_ids that are known in both planes take the place of its ground
 * control points. The same object where they do not: it has none, they are too few to decide a map, or the zone is not
 * placed by points at all.
 */
export function anchoredZone(zone: Zone, anchorOf: (id: string) => Anchor | undefined): Zone {
  if (zone.anchor_ids == null || zone.anchor_ids.length === 0) return zone;
  if (transformationType(zone) !== 'gcp') return zone;
  const rows = rowsOf(zone.anchor_ids, anchorOf);
  return checkGroundControlPoints(rows) === undefined ? { ...zone, ground_control_points: rows } : zone;
}

/** Anchors are often mounted above each other: of those at one place in both planes only the first counts. */
function rowsOf(ids: readonly string[], anchorOf: (id: string) => Anchor | undefined): number[][] {
  const rows: number[][] = [];
  const seen = new Set<string>();
  for (const id of ids) {
    const anchor = anchorOf(id);
    const [lon, lat] = anchor?.georeferenced_position?.coordinates ?? [];
    const [x, y] = anchor?.local_position?.coordinates ?? [];
    if (lon === undefined || lat === undefined || x === undefined || y === undefined) continue;
    const place = `${lon} ${lat} ${x} ${y}`;
    if (seen.has(place)) continue;
    seen.add(place);
    rows.push([lon, lat], [x, y]);
  }
  return rows;
}

type Row = readonly number[];

/** A thousandth of a millimetre at most: a zone may move very often, and what is rounded away adds up. */
const DIGITS = 1e12;
/** Nearer to a pole, east is no direction. */
const LATITUDE_MAX = 89.9;

/**
 * Ground control points after the position of their zone has gone elsewhere: each lies as many metres east and north of
 * it as before. Moves that add up to one move have the same result, so a zone that comes back is where it was. Undefined
 * near a pole.
 *
 * @param rows Pairs of rows: longitude and latitude in degrees, then the local x and y, which stay.
 */
export function shiftedControlPoints(rows: readonly Row[], from: Row, to: Row): number[][] | undefined {
  const [fromLon = 0, fromLat = 0] = from;
  const [toLon = 0, toLat = 0] = to;
  if (Math.abs(fromLat) > LATITUDE_MAX || Math.abs(toLat) > LATITUDE_MAX) return undefined;
  const eastScale = metresPerLongitude(fromLat) / metresPerLongitude(toLat);
  const northScale = metresPerLatitude(fromLat) / metresPerLatitude(toLat);
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
