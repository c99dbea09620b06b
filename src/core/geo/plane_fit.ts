/**
 * Fits one plane onto another through pairs of points given in both: the linear map that maps the centers onto each
 * other with the least sum of squared distances.
 *
 * Three or more pairs give an affine map (six parameters), since zones are drawn with axes of unequal scale, skewed and
 * mirrored. Two pairs, or collinear points, do not determine the direction across; they give a similarity (four
 * parameters: translation, rotation, one scale, never mirrored).
 */

/** A point in the zone's plane and in the plane of the earth. */
export interface PointPair {
  readonly x: number;
  readonly y: number;
  readonly easting: number;
  readonly northing: number;
}

/** easting = center + a·(x - center) + b·(y - center), northing = center + c·(x - center) + d·(y - center). */
export interface PlaneFit {
  readonly a: number;
  readonly b: number;
  readonly c: number;
  readonly d: number;
  readonly centerX: number;
  readonly centerY: number;
  readonly centerEasting: number;
  readonly centerNorthing: number;
}

/**
 * Points count as collinear if their spread across the line is less than a thousandth of that along it: otherwise
 * surveying errors would determine the scale across.
 */
const LINE_RATIO_SQUARED = 1e-6;
/** A map that preserves less than a millionth of the points' spread is singular. */
const SINGULAR_SQUARED = 1e-12;

/** Returns the best-fitting map of the pairs; undefined if they do not determine an invertible one. */
export function fitPlane(pairs: readonly PointPair[]): PlaneFit | undefined {
  if (pairs.length < 2) return undefined;
  const center = centerOf(pairs);
  const sums = sumsOf(pairs, center);
  const collinear =
    pairs.length === 2 || isCollinear(sums.xx, sums.xy, sums.yy) || isCollinear(sums.ee, sums.en, sums.nn);
  const matrix = collinear ? similarity(sums) : affine(sums);
  return matrix === undefined ? undefined : { ...matrix, ...center };
}

interface Matrix {
  readonly a: number;
  readonly b: number;
  readonly c: number;
  readonly d: number;
}

type Center = Omit<PlaneFit, keyof Matrix>;

function centerOf(pairs: readonly PointPair[]): Center {
  const mean = (of: (pair: PointPair) => number): number =>
    pairs.reduce((sum, pair) => sum + of(pair), 0) / pairs.length;
  return {
    centerX: mean((pair) => pair.x),
    centerY: mean((pair) => pair.y),
    centerEasting: mean((pair) => pair.easting),
    centerNorthing: mean((pair) => pair.northing),
  };
}

/** Sums of products of the centered coordinates: x, y in the zone's plane, e(asting), n(orthing) on the earth. */
interface Sums {
  xx: number;
  xy: number;
  yy: number;
  xe: number;
  ye: number;
  xn: number;
  yn: number;
  ee: number;
  en: number;
  nn: number;
}

function sumsOf(pairs: readonly PointPair[], center: Center): Sums {
  const sums = { xx: 0, xy: 0, yy: 0, xe: 0, ye: 0, xn: 0, yn: 0, ee: 0, en: 0, nn: 0 };
  for (const pair of pairs) {
    const x = pair.x - center.centerX;
    const y = pair.y - center.centerY;
    const e = pair.easting - center.centerEasting;
    const n = pair.northing - center.centerNorthing;
    sums.xx += x * x;
    sums.xy += x * y;
    sums.yy += y * y;
    sums.xe += x * e;
    sums.ye += y * e;
    sums.xn += x * n;
    sums.yn += y * n;
    sums.ee += e * e;
    sums.en += e * n;
    sums.nn += n * n;
  }
  return sums;
}

/** The determinant over the squared trace is about the squared ratio of the smaller to the larger spread. */
function isCollinear(xx: number, xy: number, yy: number): boolean {
  const trace = xx + yy;
  return xx * yy - xy * xy <= LINE_RATIO_SQUARED * trace * trace;
}

function affine(sums: Sums): Matrix | undefined {
  const determinant = sums.xx * sums.yy - sums.xy * sums.xy;
  const a = (sums.xe * sums.yy - sums.ye * sums.xy) / determinant;
  const b = (sums.ye * sums.xx - sums.xe * sums.xy) / determinant;
  const c = (sums.xn * sums.yy - sums.yn * sums.xy) / determinant;
  const d = (sums.yn * sums.xx - sums.xn * sums.xy) / determinant;
  const area = a * d - b * c;
  const preserved = (area * area * determinant) / (sums.ee * sums.nn - sums.en * sums.en);
  return preserved > SINGULAR_SQUARED && Number.isFinite(preserved) ? { a, b, c, d } : undefined;
}

function similarity(sums: Sums): Matrix | undefined {
  const spread = sums.xx + sums.yy;
  const a = (sums.xe + sums.yn) / spread;
  const c = (sums.xn - sums.ye) / spread;
  const preserved = ((a * a + c * c) * spread) / (sums.ee + sums.nn);
  return preserved > SINGULAR_SQUARED && Number.isFinite(preserved) ? { a, b: -c, c, d: a } : undefined;
}
