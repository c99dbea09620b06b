import { metresPerLatitude, metresPerLongitude } from '../geo/ellipsoid.ts';
import { wrapLongitude } from '../geo/longitude.ts';

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
