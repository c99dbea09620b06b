/**
 * Fits one plane onto another through pairs of points known in both: the linear map that moves the centres onto each
 * other with the least sum of squared distances.
 *
 * Three or more pairs give an affine map (six parameters), since zones are drawn with axes of unequal scale, skewed
 * and mirrored. Two pairs, or points on one line, say nothing about the direction across: they give a similarity (four
 * parameters: shift, turn, one scale, never mirrored).
 */

/** A point in the zone's plane and in the plane of the earth. */
export interface PointPair {
  readonly x: number;
  readonly y: number;
  readonly easting: number;
  readonly northing: number;
}

/** easting = centre + a·(x - centre) + b·(y - centre), northing = centre + c·(x - centre) + d·(y - centre). */
export interface PlaneFit {
  readonly a: number;
  readonly b: number;
  readonly c: number;
  readonly d: number;
  readonly centreX: number;
  readonly centreY: number;
  readonly centreEasting: number;
  readonly centreNorthing: number;
}

/**
 * Points count as on one line when they spread across it less than a thousandth of their spread along it: surveying
 * errors would decide the scale across.
 */
const LINE_RATIO_SQUARED = 1e-6;
/** A map that keeps less than a millionth of the points' spread is singular. */
const SINGULAR_SQUARED = 1e-12;

/** The map that fits the pairs best; undefined when they do not decide one that can be inverted. */
export function fitPlane(pairs: readonly PointPair[]): PlaneFit | undefined {
  if (pairs.length < 2) return undefined;
  const centre = centreOf(pairs);
  const sums = sumsOf(pairs, centre);
  const onLine = pairs.length === 2 || isLine(sums.xx, sums.xy, sums.yy) || isLine(sums.ee, sums.en, sums.nn);
  const matrix = onLine ? similarity(sums) : affine(sums);
  return matrix === undefined ? undefined : { ...matrix, ...centre };
}

interface Matrix {
  readonly a: number;
  readonly b: number;
  readonly c: number;
  readonly d: number;
}

type Centre = Omit<PlaneFit, keyof Matrix>;

function centreOf(pairs: readonly PointPair[]): Centre {
  const mean = (of: (pair: PointPair) => number): number =>
    pairs.reduce((sum, pair) => sum + of(pair), 0) / pairs.length;
  return {
    centreX: mean((pair) => pair.x),
    centreY: mean((pair) => pair.y),
    centreEasting: mean((pair) => pair.easting),
    centreNorthing: mean((pair) => pair.northing),
  };
}

/** Sums of products of the centred coordinates: x, y in the zone's plane, e(asting), n(orthing) on the earth. */
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

function sumsOf(pairs: readonly PointPair[], centre: Centre): Sums {
  const sums = { xx: 0, xy: 0, yy: 0, xe: 0, ye: 0, xn: 0, yn: 0, ee: 0, en: 0, nn: 0 };
  for (const pair of pairs) {
    const x = pair.x - centre.centreX;
    const y = pair.y - centre.centreY;
    const e = pair.easting - centre.centreEasting;
    const n = pair.northing - centre.centreNorthing;
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
function isLine(xx: number, xy: number, yy: number): boolean {
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
  const kept = (area * area * determinant) / (sums.ee * sums.nn - sums.en * sums.en);
  return kept > SINGULAR_SQUARED && Number.isFinite(kept) ? { a, b, c, d } : undefined;
}

function similarity(sums: Sums): Matrix | undefined {
  const spread = sums.xx + sums.yy;
  const a = (sums.xe + sums.yn) / spread;
  const c = (sums.xn - sums.ye) / spread;
  const kept = ((a * a + c * c) * spread) / (sums.ee + sums.nn);
  return kept > SINGULAR_SQUARED && Number.isFinite(kept) ? { a, b: -c, c, d: a } : undefined;
}
