import type { Segment } from './segment.ts';

/** The side of a gate that an object went to, looking along its line. */
export type Direction = 'left' | 'right';

/** A crossing of a gate at a fraction of the way from 0 to 1. */
export interface GateCrossing {
  readonly fraction: number;
  readonly direction: Direction;
}

/** Difference of fractions below which two opposite crossings are a mere touch of a corner. */
const TOUCH = 1e-9;

/**
 * Returns the crossings of a line (lon, lat, lon, lat …, its longitudes unwrapped) in order.
 *
 * A position on the line counts as beside it: the whole way is considered shifted by an infinitesimal vector (ε, ε²),
 * the same for every way (simulation of simplicity; H. Edelsbrunner, E. Mücke, 1990). So consecutive ways never lose
 * or repeat a crossing, and a way through a corner of the line crosses it once. A touch of a corner is no crossing.
 */
export function gateCrossings(line: Float64Array, segment: Segment): GateCrossing[] {
  const { pieces } = segment;
  const found: GateCrossing[] = [];
  let fromX = segment.from.lon;
  let fromY = segment.from.lat;
  const out: [number, number] = [0, 0];
  for (let piece = 1; piece <= pieces; piece++) {
    segment.at(piece / pieces, out);
    // Exactly the next way's start, so that both see it on the same side of the line.
    if (piece === pieces) {
      out[0] = segment.to.lon;
      out[1] = segment.to.lat;
    }
    const toX = nearTo(fromX, out[0]);
    const toY = out[1];
    if (toX !== fromX || toY !== fromY) crossLine(line, { fromX, fromY, toX, toY, piece, pieces }, found);
    fromX = out[0];
    fromY = toY;
  }
  return withoutTouches(found.sort((a, b) => a.fraction - b.fraction));
}

/** Returns the equivalent longitude nearest to another one: exactly `lon` unless the antimeridian is between them. */
function nearTo(other: number, lon: number): number {
  return lon + 360 * Math.round((other - lon) / 360);
}

interface Piece {
  readonly fromX: number;
  readonly fromY: number;
  readonly toX: number;
  readonly toY: number;
  readonly piece: number;
  readonly pieces: number;
}

/** Appends the crossings of one straight piece of the way. */
function crossLine(line: Float64Array, way: Piece, found: GateCrossing[]): void {
  const { fromX, fromY, toX, toY } = way;
  const south = Math.min(fromY, toY);
  const north = Math.max(fromY, toY);
  const middle = (fromX + toX) / 2;
  for (let i = 0; i + 3 < line.length; i += 2) {
    const ay = line[i + 1] as number;
    const by = line[i + 3] as number;
    if ((ay < south && by < south) || (ay > north && by > north)) continue;
    const center = ((line[i] as number) + (line[i + 2] as number)) / 2;
    const turn = nearTo(middle, center) - center;
    const ax = (line[i] as number) + turn;
    const bx = (line[i + 2] as number) + turn;
    const before = sideOfEdge(ax, ay, bx, by, fromX, fromY);
    const after = sideOfEdge(ax, ay, bx, by, toX, toY);
    if (before > 0 === after > 0) continue;
    if (sideOfWay(way, ax, ay) > 0 === sideOfWay(way, bx, by) > 0) continue;
    const [apart, along] = [Math.abs(before), Math.abs(before) + Math.abs(after)];
    const fraction = (way.piece - 1 + (along === 0 ? 0 : Math.min(1, apart / along))) / way.pieces;
    found.push({ fraction, direction: after > 0 ? 'left' : 'right' });
  }
}

/**
 * Returns twice the area of the edge's triangle with a position: positive on its left. On its line, an infinitesimal
 * number with the sign of the shifted position.
 */
function sideOfEdge(ax: number, ay: number, bx: number, by: number, x: number, y: number): number {
  const area = (bx - ax) * (y - ay) - (by - ay) * (x - ax);
  if (area !== 0) return area;
  return Number.MIN_VALUE * (by === ay ? Math.sign(bx - ax) : -Math.sign(by - ay));
}

/** Like sideOfEdge, for a corner of the line and the shifted way. */
function sideOfWay({ fromX, fromY, toX, toY }: Piece, x: number, y: number): number {
  const area = (toX - fromX) * (y - fromY) - (toY - fromY) * (x - fromX);
  if (area !== 0) return area;
  return Number.MIN_VALUE * (toY === fromY ? -Math.sign(toX - fromX) : Math.sign(toY - fromY));
}

/** Removes pairs of opposite crossings at the same position. */
function withoutTouches(crossings: readonly GateCrossing[]): GateCrossing[] {
  const left: GateCrossing[] = [];
  for (const crossing of crossings) {
    const before = left.at(-1);
    const isTouch =
      before !== undefined && before.direction !== crossing.direction && crossing.fraction - before.fraction <= TOUCH;
    if (isTouch) left.pop();
    else left.push(crossing);
  }
  return left;
}
