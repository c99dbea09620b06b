import type { Zone } from '../../../model/zone.ts';
import { request } from '../../hub/rest.ts';
import { fixedText } from '../../languages/numbers.ts';
import { type ControlPoints, georeference } from '../../map/plane/georeference.ts';
import { EARTH, fromMap, type MapPoint, mapX, mapY, type Position, unitsPerMeter } from '../../map/plane/plane.ts';

/** Control point: longitude and latitude, and the coordinates in a zone's meters or an image's pixels. */
export interface Pair {
  /** Longitude, latitude and optional height. */
  readonly earth: Position;
  readonly own: Position;
}

/** Converts the API's control points, pairs of rows. */
export function pairsOf(rows: ControlPoints | null | undefined): Pair[] {
  const pairs: Pair[] = [];
  for (let i = 0; i + 1 < (rows?.length ?? 0); i += 2) pairs.push({ earth: rows?.[i] ?? [], own: rows?.[i + 1] ?? [] });
  return pairs;
}

export function rowsOf(pairs: readonly Pair[]): number[][] {
  return pairs.flatMap(({ earth, own }) => [[...earth], [...own]]);
}

/**
 * Residual of each point to the best fit of all, in meters on the ground; undefined if the points do not determine a fit.
 * The downward row axis of images does not affect residuals.
 */
export function residualsOf(pairs: readonly Pair[]): readonly number[] | undefined {
  const fit = georeference(rowsOf(pairs));
  if (fit === undefined) return undefined;
  return pairs.map(({ earth: [longitude = 0, latitude = 0], own }) => {
    const [x, y] = [mapX(longitude), mapY(latitude)];
    const [fittedX, fittedY] = fit.toMap(own);
    return Math.hypot(fittedX - x, fittedY - y) / unitsPerMeter(EARTH, [x, y]);
  });
}

/** Root mean square. */
export function meanResidual(residuals: readonly number[]): number {
  return Math.sqrt(residuals.reduce((sum, meters) => sum + meters * meters, 0) / Math.max(1, residuals.length));
}

/**
 * Control points of an area drawn on the map: the first corner is the origin of its meters, the first edge their x axis.
 * Users with other measurements edit the meters afterwards.
 */
export function pairsOfArea(corners: readonly MapPoint[]): Pair[] {
  const [[x0, y0] = [0, 0], [x1, y1] = [1, 0]] = corners;
  const perMeter = unitsPerMeter(EARTH, [x0, y0]);
  const length = Math.hypot(x1 - x0, y1 - y0);
  const [east, north] = length === 0 ? [1, 0] : [(x1 - x0) / length, (y1 - y0) / length];
  return corners.map(([x, y]) => {
    const [dx, dy] = [(x - x0) / perMeter, (y - y0) / perMeter];
    return {
      earth: fromMap(EARTH, [x, y]),
      own: [centimeters(dx * east + dy * north), centimeters(dy * east - dx * north)],
    };
  });
}

function centimeters(meters: number): number {
  // Avoid -0, which JSON writes as 0 and Object.is distinguishes.
  return Math.round(meters * 100) / 100 + 0;
}

/** Corners of a rectangle, from the origin along x first. */
export function rectangleCorners(width: number, depth: number): number[][] {
  return [
    [0, 0],
    [width, 0],
    [width, depth],
    [0, depth],
  ];
}

/** Points in local meters, with the position and rotation of their plane on the earth. */
export interface LocalPoints {
  readonly points: readonly Position[];
  /** Longitude and latitude of `origin`. */
  readonly position: Position;
  readonly origin: Position;
  /** Clockwise angle of the y axis from north, in degrees. */
  readonly rotation: number;
}

/** Requests the control points of points in local meters from the hub. */
export async function placedByHub({ points, position, origin, rotation }: LocalPoints): Promise<Pair[]> {
  const { ground_control_points: rows } = await request<Zone>('PUT', '/zones/fromlocal', {
    body: {
      local_coordinates: { type: 'LineString', coordinates: points },
      global_reference: { type: 'Point', coordinates: position },
      local_reference: { type: 'Point', coordinates: origin },
      rotation,
    },
  });
  return pairsOf(rows);
}

/** Formats a residual. */
export function residualText(meters: number): string {
  if (meters < 0.0005) return '0 mm';
  if (meters < 1) return `${fixedText(meters * 100, meters < 0.1 ? 1 : 0)} cm`;
  return `${fixedText(meters, meters < 10 ? 2 : 0)} m`;
}
