import { georeferenceZone } from '../map/plane/georeference.ts';
import { EARTH, fromMap, mapX, mapY, type Plane } from '../map/plane/plane.ts';

/** Color scale from short to long times; the last color has the most contrast in each theme. */
export const HEAT_LIGHT = ['#f7d58b', '#f2a65a', '#e3714b', '#c03a4b', '#7d1d53'];
export const HEAT_DARK = ['#3f2a6b', '#7a2f7d', '#c0456b', '#f0815a', '#fbd98a'];

/** Center of a square, in degrees. */
export interface Cell {
  readonly longitude: number;
  readonly latitude: number;
}

/** Round durations, in seconds. */
const ROUND_SECONDS = [
  1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1_200, 1_800, 3_600, 7_200, 18_000, 36_000, 86_400, 172_800,
];
const ROUND_METERS = [0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 50_000, 100_000];
/** Minimum cell size: smaller cells would be hard to see and too numerous. */
const CELL_PIXELS = 10;

/** Side of a cell in meters at a resolution. */
export function cellFor(metersPerPixel: number): number {
  const least = metersPerPixel * CELL_PIXELS;
  return ROUND_METERS.find((meters) => meters >= least) ?? Math.ceil(least);
}

/** Thresholds between the colors of durations in seconds: at most four, in geometric steps. */
export function thresholdsOf(seconds: readonly number[]): readonly number[] {
  const rounded = (value: number): number =>
    value > 172_800 ? Math.round(value / 86_400) * 86_400 : nearest(value, ROUND_SECONDS);
  return stepsOf(seconds, rounded, 0.5);
}

/** Values 1, 2 and 5 of each power of ten, from 0.01 to 500,000. */
const ROUND_NUMBERS = [-2, -1, 0, 1, 2, 3, 4, 5].flatMap((power) => [1, 2, 5].map((digit) => digit * 10 ** power));

/** Thresholds between the colors of numbers that are at least `least`, unless they are 0: at most four, in geometric steps. */
export function thresholdsOfNumbers(numbers: readonly number[], least: number): readonly number[] {
  return stepsOf(numbers, (value) => nearest(value, ROUND_NUMBERS), least);
}

function stepsOf(values: readonly number[], rounded: (value: number) => number, bound: number): readonly number[] {
  const most = Math.max(2 * bound, ...values);
  const least = Math.max(bound, Math.min(most, ...values.filter((each) => each > 0)));
  const factor = (most / least) ** (1 / 5);
  const steps = [1, 2, 3, 4].map((k) => rounded(least * factor ** k));
  return [...new Set(steps)].filter((step) => step > bound);
}

function nearest(value: number, round: readonly number[]): number {
  return round.reduce((best, each) => {
    return Math.abs(Math.log(each / value)) < Math.abs(Math.log(best / value)) ? each : best;
  });
}

/** Index of the color of a value. */
export function levelOf(value: number, thresholds: readonly number[]): number {
  return thresholds.filter((threshold) => value >= threshold).length;
}

/** Converts Web Mercator meters to coordinates on the map of a plane. */
type ToMap = (point: readonly [number, number]) => readonly [number, number];

function earthOn(plane: Plane): ToMap {
  const placed = plane.kind === 'earth' ? undefined : georeferenceZone(plane.zone);
  return placed === undefined ? (point) => point : (point) => placed.fromMap(point);
}

/** Corners of cells on the map, four x, y pairs each; cells are aligned north and east. */
export function cornersOf(cells: readonly Cell[], cellMeters: number, plane: Plane): Float64Array {
  const toMap = earthOn(plane);
  const corners = new Float64Array(cells.length * 8);
  let at = 0;
  for (const { longitude, latitude } of cells) {
    const x = mapX(longitude);
    const y = mapY(latitude);
    const half = (cellMeters / 2) * (1 / Math.cos((latitude * Math.PI) / 180));
    for (const [east, north] of [[-1, -1] as const, [1, -1] as const, [1, 1] as const, [-1, 1] as const]) {
      const [px, py] = toMap([x + east * half, y + north * half]);
      corners[at++] = px;
      corners[at++] = py;
    }
  }
  return corners;
}

/** Bounding box of a map extent: west, south, east, north in degrees. */
export function boxOf([left = 0, bottom = 0, right = 0, top = 0]: readonly number[], plane: Plane): readonly number[] {
  const placed = plane.kind === 'earth' ? undefined : georeferenceZone(plane.zone);
  const points = [[left, bottom] as const, [right, bottom] as const, [right, top] as const, [left, top] as const];
  const degrees = points.map((point) => fromMap(EARTH, placed === undefined ? point : placed.toMap(point)));
  const [lons, lats] = [degrees.map(([lon]) => lon), degrees.map(([, lat]) => lat)];
  const within = (value: number, most: number): number => Math.min(most, Math.max(-most, value));
  return [
    within(Math.min(...lons), 180),
    within(Math.min(...lats), 90),
    within(Math.max(...lons), 180),
    within(Math.max(...lats), 90),
  ];
}
