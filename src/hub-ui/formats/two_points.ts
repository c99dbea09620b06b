import type { Position } from './drawing.ts';
import type { PlaneChoice } from './drawn_entities.ts';

/** The numbers of a position, which may be known in part. */
export type Numbers = readonly [x: number | undefined, y: number | undefined];

/** A point in the drawing, and where that is in the meters of the zone. */
export interface TwoPlaces {
  readonly drawn: Numbers;
  readonly site: Numbers;
}

export const NOWHERE: TwoPlaces = { drawn: [undefined, undefined], site: [undefined, undefined] };

/** How a drawing lies so that both points are where they are said to be, as far as its meters are those of the zone. */
export interface PlacedByPoints extends Pick<PlaneChoice, 'x' | 'y' | 'turn'> {
  /** How far apart the points are in the drawing, and in the zone: the difference is how wrong one of them is. */
  readonly drawnMeters: number;
  readonly siteMeters: number;
}

/** What is nearer to each other says nothing of a direction. */
const APART_M = 0.01;

/** Undefined where the points are not all known, or do not decide it. */
export function placeByPoints([one, other]: readonly [TwoPlaces, TwoPlaces]): PlacedByPoints | undefined {
  const known = [one.drawn, other.drawn, one.site, other.site].map(knownOf);
  const [drawnOne, drawnOther, siteOne, siteOther] = known;
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
    x: Math.round(left * 1e4) / 1e4 + 0,
    y: Math.round(bottom * 1e4) / 1e4 + 0,
    turn: degrees + 0,
    drawnMeters: drawn.meters,
    siteMeters: site.meters,
  };
}

/** The position of the numbers where both are known. */
export function knownOf([x, y]: Numbers): readonly [number, number] | undefined {
  return x === undefined || y === undefined ? undefined : [x, y];
}

/** The corner of a drawing, or center of a circle, that is next to a point; the point where none is within some meters. */
export function cornerAt(
  corners: readonly Position[],
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
