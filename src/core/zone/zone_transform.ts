import { outOfAxis, problemOf, type Problem } from '../../problem.ts';
import { pathOf, show } from '../../model/error_value_text.ts';
import type { Zone } from '../../model/zone.ts';
import { type PlaneTransform, planeAround, projection } from '../geo/crs.ts';
import { wrapLongitude } from '../geo/longitude.ts';
import { fitPlane, type PlaneFit, type PointPair } from '../geo/plane_fit.ts';
import { transformationType } from './zone_type.ts';

/**
 * Georeferencing of zones in two steps: a linear map converts the zone's plane to a UTM or UPS plane, and the
 * projection converts that to longitude and latitude. The linear map is fitted to the ground control points; for a
 * benchmark, it follows from angle and scale.
 */

type Row = readonly number[];

const FIELD = 'ground_control_points';

/** Zones are replaced, never mutated, so a transform is valid as long as its zone. */
const transforms = new WeakMap<Zone, { readonly transform: PlaneTransform | undefined }>();

/**
 * Returns the transform of a zone's coordinates; undefined for a zone without a plane (proximity, none) or with too
 * little georeference. fromWgs84 writes NaN for a position too far away to have coordinates in the zone.
 */
export function zoneTransform(zone: Zone): PlaneTransform | undefined {
  const cached = transforms.get(zone);
  if (cached !== undefined) return cached.transform;
  const transform = makeTransform(zone);
  transforms.set(zone, { transform });
  return transform;
}

/** Whether a zone has the same coordinates as the one that it replaces; then it reuses the transform. */
export function keepsPlane(before: Zone, after: Zone): boolean {
  if (planeKey(before) !== planeKey(after)) return false;
  const cached = transforms.get(before);
  if (cached !== undefined) transforms.set(after, cached);
  return true;
}

/** Returns all values that determine the transform. */
function planeKey(zone: Zone): string {
  const type = transformationType(zone);
  if (type === 'gcp') return JSON.stringify([type, zone.ground_control_points]);
  if (type !== 'benchmark') return type;
  const { position, surface_projection, local_origin, easting_angle, meridian_convergence, scale_factor } = zone;
  const angles = [easting_angle, meridian_convergence];
  return JSON.stringify([
    type,
    position?.coordinates,
    surface_projection,
    local_origin?.coordinates,
    angles,
    scale_factor,
  ]);
}

/** Returns the distance of each ground control point from its fitted position; undefined for a zone without a fit. */
export function residualsMeters(zone: Zone): number[] | undefined {
  if (transformationType(zone) !== 'gcp') return undefined;
  const { pairs, fit } = fitRows(zone.ground_control_points ?? []);
  if (fit === undefined) return undefined;
  return pairs.map(({ x, y, easting, northing }) => {
    const dx = x - fit.centerX;
    const dy = y - fit.centerY;
    const east = fit.centerEasting + fit.a * dx + fit.b * dy - easting;
    const north = fit.centerNorthing + fit.c * dx + fit.d * dy - northing;
    return Math.hypot(east, north);
  });
}

/**
 * Validates the rows of ground control points. Returns the problem with the path and value of the invalid row;
 * undefined if the rows can georeference a zone. Rows come in pairs: longitude and latitude, then the local x and y.
 */
export function checkGroundControlPoints(rows: readonly Row[]): Problem | undefined {
  if (rows.length % 2 !== 0) return problemOf('odd_rows', { path: FIELD, found: rows.length });
  if (rows.length < 4)
    return problemOf('too_few', { path: FIELD, limit: 2, unit: 'pairs_of_rows', found: rows.length / 2 });
  for (let i = 0; i < rows.length; i++) {
    const found = i % 2 === 0 ? checkGeographic(rows[i] as Row, i) : checkLocal(rows[i] as Row, i);
    if (found !== undefined) return found;
  }
  const shared = checkDistinct(rows);
  if (shared !== undefined) return shared;
  if (fitRows(rows).fit !== undefined) return undefined;
  return problemOf('singular_fit', { path: FIELD, count: rows.length / 2 });
}

function makeTransform(zone: Zone): PlaneTransform | undefined {
  switch (transformationType(zone)) {
    case 'gcp': {
      const { plane, fit } = fitRows(zone.ground_control_points ?? []);
      return plane === undefined || fit === undefined ? undefined : linearThen(plane, fit);
    }
    case 'benchmark':
      return benchmarkTransform(zone);
    case 'proximity':
    case 'none':
      return undefined;
  }
}

/** Returns the linear map followed by the plane's projection. */
function linearThen(plane: PlaneTransform, fit: PlaneFit): PlaneTransform {
  const { a, b, c, d, centerX, centerY, centerEasting, centerNorthing } = fit;
  const determinant = a * d - b * c;
  return {
    // hot
    toWgs84(x, y, out) {
      const dx = x - centerX;
      const dy = y - centerY;
      plane.toWgs84(centerEasting + a * dx + b * dy, centerNorthing + c * dx + d * dy, out);
    },
    // hot
    fromWgs84(lon, lat, out) {
      plane.fromWgs84(lon, lat, out);
      const east = out[0] - centerEasting;
      const north = out[1] - centerNorthing;
      out[0] = centerX + (d * east - b * north) / determinant;
      out[1] = centerY + (a * north - c * east) / determinant;
    },
    covers(x, y) {
      const dx = x - centerX;
      const dy = y - centerY;
      return plane.covers(centerEasting + a * dx + b * dy, centerNorthing + c * dx + d * dy);
    },
  };
}

/**
 * Returns the transform of a benchmark: local_origin lies at the position; the axes are rotated clockwise by the angle
 * between grid north and theirs, the sum of easting_angle and meridian_convergence.
 */
function benchmarkTransform(zone: Zone): PlaneTransform | undefined {
  const plane = zone.surface_projection == null ? undefined : projection(zone.surface_projection);
  const [lon, lat] = zone.position?.coordinates ?? [];
  if (plane === undefined || zone.surface_projection === 'EPSG:4326') return undefined;
  if (lon === undefined || lat === undefined) return undefined;
  const out: [number, number] = [0, 0];
  plane.fromWgs84(lon, lat, out);
  if (!plane.covers(out[0], out[1])) return undefined;
  const scale = zone.scale_factor ?? 1;
  const angle = (((zone.easting_angle ?? 0) + (zone.meridian_convergence ?? 0)) * Math.PI) / 180;
  const cosine = scale * Math.cos(angle);
  const sine = scale * Math.sin(angle);
  const [centerX = 0, centerY = 0] = zone.local_origin?.coordinates ?? [];
  const center = { centerX, centerY, centerEasting: out[0], centerNorthing: out[1] };
  return linearThen(plane, { a: cosine, b: sine, c: -sine, d: cosine, ...center });
}

interface FittedRows {
  readonly plane: PlaneTransform | undefined;
  readonly pairs: readonly PointPair[];
  readonly fit: PlaneFit | undefined;
}

function fitRows(rows: readonly Row[]): FittedRows {
  if (rows.length < 4 || rows.length % 2 !== 0) return { plane: undefined, pairs: [], fit: undefined };
  const plane = planeOf(rows);
  const pairs: PointPair[] = [];
  const out: [number, number] = [0, 0];
  for (let i = 0; i < rows.length; i += 2) {
    const [lon = Number.NaN, lat = Number.NaN] = rows[i] as Row;
    const [x = Number.NaN, y = Number.NaN] = rows[i + 1] as Row;
    plane.fromWgs84(lon, lat, out);
    pairs.push({ x, y, easting: out[0], northing: out[1] });
  }
  return { plane, pairs, fit: fitPlane(pairs) };
}

/**
 * Returns the plane around the center of the geographic points; longitudes are averaged as differences to the first.
 */
function planeOf(rows: readonly Row[]): PlaneTransform {
  const [firstLon = 0] = rows[0] as Row;
  let eastOfFirst = 0;
  let latSum = 0;
  for (let i = 0; i < rows.length; i += 2) {
    const [lon = 0, lat = 0] = rows[i] as Row;
    eastOfFirst += wrapLongitude(lon - firstLon);
    latSum += lat;
  }
  const pairs = rows.length / 2;
  return planeAround(firstLon + eastOfFirst / pairs, latSum / pairs);
}

function checkGeographic(row: Row, index: number): Problem | undefined {
  if (!(Math.abs(row[0] as number) <= 180)) return outOfAxis('longitude', 180, at(index, 0, row[0]));
  if (!(Math.abs(row[1] as number) <= 90)) return outOfAxis('latitude', 90, at(index, 1, row[1]));
  return undefined;
}

function checkLocal(row: Row, index: number): Problem | undefined {
  if (!Number.isFinite(row[0])) return problemOf('not_finite', at(index, 0, row[0]));
  if (!Number.isFinite(row[1])) return problemOf('not_finite', at(index, 1, row[1]));
  return undefined;
}

/**
 * Returns path and value of a coordinate for an error. The value is a string because Infinity, to which an overlong
 * exponent is parsed, has no JSON form.
 */
function at(row: number, column: number, found: number | undefined): { readonly path: string; readonly found: string } {
  return { path: pathOf(FIELD, [String(row), String(column)]), found: String(found ?? 'nothing') };
}

function checkDistinct(rows: readonly Row[]): Problem | undefined {
  const seen = new Map<string, number>();
  for (let i = 0; i < rows.length; i++) {
    const key = i % 2 === 0 ? geographicKey(rows[i] as Row) : `local ${rows[i]?.[0]} ${rows[i]?.[1]}`;
    const before = seen.get(key);
    if (before !== undefined) {
      const [path, other] = [pathOf(FIELD, [String(i)]), pathOf(FIELD, [String(before)])];
      return problemOf('repeated', { path, member: other, found: show(rows[i]) });
    }
    seen.set(key, i);
  }
  return undefined;
}

/** Returns a key that is equal for equal positions: the antimeridian has two longitudes, a pole has all. */
function geographicKey([lon = 0, lat = 0]: Row): string {
  if (Math.abs(lat) === 90) return `geographic ${lat}`;
  return `geographic ${lon === -180 ? 180 : lon} ${lat}`;
}
