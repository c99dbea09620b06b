import { apply, type Matrix } from '../../map/plane/georeference.ts';
import { EARTH, fromMap, type MapPoint, toMap, unitsPerMeter } from '../../map/plane/plane.ts';
import type { Pair } from './pairs.ts';

/** Size of an image in pixels. */
interface Size {
  readonly width: number;
  readonly height: number;
}

export const UNMOVED: Matrix = [1, 0, 0, 1, 0, 0];

/** Translation in map coordinates. */
export function moveBy([x, y]: MapPoint): Matrix {
  return [1, 0, 0, 1, x, y];
}

/** Rotation by `angle` radians, counterclockwise, and scaling by `factor` around a point of the map. */
export function turnAround([x, y]: MapPoint, { angle = 0, factor = 1 }): Matrix {
  const [cos, sin] = [factor * Math.cos(angle), factor * Math.sin(angle)];
  return [cos, sin, -sin, cos, x - cos * x + sin * y, y - sin * x - cos * y];
}

/** Control points of a plan that was moved on the map. Their pixels stay, and so do heights. */
export function movedPairs(pairs: readonly Pair[], movement: Matrix): Pair[] {
  return pairs.map(({ earth, own }) => ({
    earth: [...fromMap(EARTH, apply(movement, toMap(EARTH, earth))), ...earth.slice(2)],
    own,
  }));
}

/** Corners of an image in pixels: lower left, lower right, upper right, upper left. */
export function cornersOf({ width, height }: Size): [number, number][] {
  return [
    [0, height],
    [width, height],
    [width, 0],
    [0, 0],
  ];
}

/** Control points of an upright plan at the corners of its image, around a point of the map. */
export function pairsAround([x, y]: MapPoint, image: Size, widthMeters: number): Pair[] {
  const perPixel = (widthMeters * unitsPerMeter(EARTH, [x, y])) / image.width;
  return cornersOf(image).map(([column, row]) => {
    const at: MapPoint = [x + (column - image.width / 2) * perPixel, y + (image.height / 2 - row) * perPixel];
    return { earth: fromMap(EARTH, at), own: [column, row] };
  });
}

/** Placement of a plan in numbers. */
export interface PlanSize {
  readonly center: MapPoint;
  /** Width on the ground. */
  readonly widthMeters: number;
  /** Clockwise angle of the top from north, in degrees, from -180 to 180. */
  readonly rotation: number;
}

/** Placement of an image by the transform of its pixels to the map. */
export function sizeOf(matrix: Matrix, { width, height }: Size): PlanSize {
  const center = apply(matrix, [width / 2, height / 2]);
  const [left, right] = [apply(matrix, [0, height / 2]), apply(matrix, [width, height / 2])];
  const [topX, topY] = apply(matrix, [width / 2, 0]);
  return {
    center,
    widthMeters: Math.hypot(right[0] - left[0], right[1] - left[1]) / unitsPerMeter(EARTH, center),
    rotation: (Math.atan2(topX - center[0], topY - center[1]) * 180) / Math.PI,
  };
}

/** Distance of two points of the map on the ground, in meters. */
export function metersBetween(one: MapPoint, other: MapPoint): number {
  return Math.hypot(other[0] - one[0], other[1] - one[1]) / unitsPerMeter(EARTH, one);
}
