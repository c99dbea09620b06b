import { fitPlane, type PlaneFit, type PointPair } from '../../../core/geo/plane_fit.ts';
import type { Zone } from '../../../model/zone.ts';
import { EARTH, type MapPoint, mapX, mapY, type Plane, type Position } from './plane.ts';

/** Affine transform from another plane, such as a zone's meters or an image's pixels, to the map. */
export interface Georeference {
  readonly toMap: (point: Position) => MapPoint;
  readonly fromMap: (point: Position) => MapPoint;
  /** a, b, c, d, e, f of a canvas transform: x' = a·x + c·y + e, y' = b·x + d·y + f. */
  readonly matrix: readonly [number, number, number, number, number, number];
}

/** Ground control points, in pairs of rows: longitude and latitude, then the point in the other plane. */
export type ControlPoints = readonly Position[];

/** Floor plan in the properties of a zone. */
export interface FloorPlan {
  /** A data URL. */
  readonly image: string;
  /** Longitude and latitude, then column and row in the image. */
  readonly ground_control_points: ControlPoints;
}

/** Returns the best-fit transform of a plane to the earth; undefined if the points do not determine one. */
export function georeference(rows: ControlPoints): Georeference | undefined {
  const pairs: PointPair[] = [];
  for (let i = 0; i + 1 < rows.length; i += 2) {
    const [longitude = 0, latitude = 0] = rows[i] ?? [];
    const [x = 0, y = 0] = rows[i + 1] ?? [];
    pairs.push({ x, y, easting: mapX(longitude), northing: mapY(latitude) });
  }
  const fit = fitPlane(pairs);
  return fit && georeferenceOf(fit);
}

/** Returns the transform of a zone's meters to the earth; undefined for a zone without control points. */
export function georeferenceZone(zone: Zone): Georeference | undefined {
  return zone.ground_control_points == null ? undefined : georeference(zone.ground_control_points);
}

/** Returns the floor plan of a zone; undefined if it has none that can be drawn. */
export function floorPlanOf(zone: Zone): FloorPlan | undefined {
  const plan = zone.properties?.['floor_plan'] as Partial<FloorPlan> | null | undefined;
  if (typeof plan?.image !== 'string' || !Array.isArray(plan.ground_control_points)) return undefined;
  return { image: plan.image, ground_control_points: plan.ground_control_points };
}

/** Returns the transform of a floor plan's pixels to a map. Rows of an image point down, and y points up. */
export function georeferencePlan(zone: Zone, plan: FloorPlan, plane: Plane): Georeference | undefined {
  const upright = plan.ground_control_points.map((row, i) => (i % 2 === 0 ? row : [row[0] ?? 0, -(row[1] ?? 0)]));
  const onEarth = georeference(upright);
  if (onEarth === undefined) return undefined;
  const flipped = concat(onEarth.matrix, [1, 0, 0, -1, 0, 0]);
  if (plane.kind === 'earth') return fromMatrix(flipped);
  const placed = plane.id === zone.id ? georeferenceZone(zone) : undefined;
  return placed && fromMatrix(concat(inverse(placed.matrix), flipped));
}

/** Outline of a zone on a map: the convex hull of its control points. Undefined for fewer than two pairs. */
export function zoneOutline(zone: Zone, plane: Plane): MapPoint[] | undefined {
  const rows = zone.ground_control_points ?? [];
  if (rows.length < 4) return undefined;
  if (plane.kind === 'zone') {
    return plane.id === zone.id ? hull(rows.filter((_, i) => i % 2 === 1).map(([x = 0, y = 0]) => [x, y])) : undefined;
  }
  return hull(rows.filter((_, i) => i % 2 === 0).map(([x = 0, y = 0]) => [mapX(x), mapY(y)]));
}

/** Converts longitude and latitude to the meters of a plane; undefined if the plane's zone is not georeferenced. */
export function earthToPlane(position: Position, plane: Plane): MapPoint | undefined {
  const [longitude = 0, latitude = 0] = position;
  const point: MapPoint = [mapX(longitude), mapY(latitude)];
  return plane.kind === 'earth' || plane === EARTH ? point : georeferenceZone(plane.zone)?.fromMap(point);
}

/** Direction of north on a plane, in degrees clockwise from up. The axes of a zone usually follow its walls. */
export function northOf(plane: Plane): number {
  const placed = plane.kind === 'earth' ? undefined : georeferenceZone(plane.zone);
  if (placed === undefined) return 0;
  const [x0, y0] = placed.toMap([0, 0]);
  const [x, y] = placed.fromMap([x0, y0 + 1]);
  return (Math.atan2(x, y) * 180) / Math.PI;
}

/** Affine transform, as of a canvas. */
export type Matrix = Georeference['matrix'];

function georeferenceOf({ a, b, c, d, centerX, centerY, centerEasting, centerNorthing }: PlaneFit): Georeference {
  const e = centerEasting - a * centerX - b * centerY;
  const f = centerNorthing - c * centerX - d * centerY;
  return fromMatrix([a, c, b, d, e, f]);
}

function fromMatrix(matrix: Matrix): Georeference {
  const back = inverse(matrix);
  return { matrix, toMap: (point) => apply(matrix, point), fromMap: (point) => apply(back, point) };
}

/** Returns the image of a point. */
export function apply([a, b, c, d, e, f]: Matrix, [x = 0, y = 0]: Position): MapPoint {
  return [a * x + c * y + e, b * x + d * y + f];
}

/** Composes two transforms: first `inner`, then `outer`. */
export function concat(outer: Matrix, inner: Matrix): Matrix {
  const [a, b, c, d, e, f] = outer;
  const [A, B, C, D, E, F] = inner;
  return [a * A + c * B, b * A + d * B, a * C + c * D, b * C + d * D, a * E + c * F + e, b * E + d * F + f];
}

function inverse([a, b, c, d, e, f]: Matrix): Matrix {
  const area = a * d - b * c;
  return [d / area, -b / area, -c / area, a / area, (c * f - d * e) / area, (b * e - a * f) / area];
}

/** Returns the convex hull, open and counterclockwise (Andrew's monotone chain). It contains the given points unchanged. */
export function hull<P extends Position>(points: readonly P[]): P[] {
  const sorted = [...points].sort(([x = 0, y = 0], [u = 0, v = 0]) => x - u || y - v);
  const half = (from: readonly P[]): P[] => {
    const chain: P[] = [];
    for (const point of from) {
      while (chain.length > 1 && !turnsLeft(chain, point)) chain.pop();
      chain.push(point);
    }
    return chain.slice(0, -1);
  };
  return [...half(sorted), ...half(sorted.reverse())];
}

function turnsLeft(chain: readonly Position[], [x = 0, y = 0]: Position): boolean {
  const [[x0 = 0, y0 = 0] = [], [x1 = 0, y1 = 0] = []] = chain.slice(-2);
  return (x1 - x0) * (y - y0) - (y1 - y0) * (x - x0) > 0;
}
