import { roundMeters } from '../../core/geo/rounding.ts';
import type { FilePosition } from './drawing.ts';
import type { PlaneChoice } from './drawn_entities.ts';

/** Coordinates of a possibly incomplete position. */
export type PartialPosition = readonly [x: number | undefined, y: number | undefined];

/** Control point: meters of the drawing and meters of the zone. */
export interface PointPair {
  readonly drawn: PartialPosition;
  readonly site: PartialPosition;
}

export const EMPTY_PAIR: PointPair = { drawn: [undefined, undefined], site: [undefined, undefined] };

/** Rigid transformation by two control points: translation and rotation without scale. */
export interface PlacedByPoints extends Pick<PlaneChoice, 'x' | 'y' | 'turn'> {
  /** Distances of the points in the drawing and in the zone; the difference is the error. */
  readonly drawnMeters: number;
  readonly siteMeters: number;
}

/** Smallest distance that determines a direction. */
const APART_M = 0.01;

/** Computes the transformation; undefined if the points are incomplete or coincide. */
export function placeByPoints([one, other]: readonly [PointPair, PointPair]): PlacedByPoints | undefined {
  const positions = [one.drawn, other.drawn, one.site, other.site].map(knownOf);
  const [drawnOne, drawnOther, siteOne, siteOther] = positions;
  if (drawnOne === undefined || drawnOther === undefined || siteOne === undefined || siteOther === undefined) {
    return undefined;
  }
  const drawn = between(drawnOne, drawnOther);
  const site = between(siteOne, siteOther);
  if (drawn.meters < APART_M || site.meters < APART_M) return undefined;
  const turn = site.direction - drawn.direction;
  const [cos, sin] = [Math.cos(turn), Math.sin(turn)];
  const [x, y] = drawn.middle;
  const [left, bottom] = [site.middle[0] - (x * cos - y * sin), site.middle[1] - (x * sin + y * cos)];
  const degrees = Math.round(((((turn * 180) / Math.PI + 540) % 360) - 180) * 1e7) / 1e7;
  return {
    x: roundMeters(left),
    y: roundMeters(bottom),
    turn: degrees + 0,
    drawnMeters: drawn.meters,
    siteMeters: site.meters,
  };
}

/** Returns the position if both coordinates are known. */
export function knownOf([x, y]: PartialPosition): readonly [number, number] | undefined {
  return x === undefined || y === undefined ? undefined : [x, y];
}

/** Nearest corner or center of a circle within some meters; otherwise the point itself. */
export function cornerAt(
  corners: readonly FilePosition[],
  [x, y]: readonly [number, number],
  withinMeters: number,
): readonly [number, number] {
  let nearest: readonly [number, number] = [x, y];
  let least = withinMeters;
  for (const [cornerX = 0, cornerY = 0] of corners) {
    const meters = Math.hypot(cornerX - x, cornerY - y);
    if (meters > least) continue;
    least = meters;
    nearest = [cornerX, cornerY];
  }
  return nearest;
}

function between([x0, y0]: readonly [number, number], [x1, y1]: readonly [number, number]) {
  return {
    middle: [(x0 + x1) / 2, (y0 + y1) / 2] as const,
    meters: Math.hypot(x1 - x0, y1 - y0),
    direction: Math.atan2(y1 - y0, x1 - x0),
  };
}
