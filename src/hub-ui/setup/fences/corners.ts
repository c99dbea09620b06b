import type { Fence } from '../../../model/fence.ts';
import { withPositionLists } from '../../../model/position_lists.ts';
import { closedRing, openRing } from '../../map/plane/rings.ts';

type Region = Fence['region'];

/** Moves a corner of a region. The first and last positions of a closed ring are one corner. */
export function withCorner(region: Region, [ring, index]: readonly [number, number], to: readonly number[]): Region {
  if (region.type === 'Point') return { type: 'Point', coordinates: [...to] };
  return withPositionLists(region, (positions, i) => {
    if (i !== ring) return positions;
    const open = openOf(region, positions);
    const moved = open.map((position, j) => (j === index ? [...to] : position));
    return open.length === positions.length ? moved : closedRing(moved);
  });
}

/** Inserts a corner halfway to the next one, also in height. */
export function withCornerAfter(region: Region, [ring, index]: readonly [number, number]): Region {
  if (region.type === 'Point') return region;
  return withPositionLists(region, (positions, i) => {
    if (i !== ring) return positions;
    const open = openOf(region, positions);
    const [from, to] = [open[index] ?? [], open[(index + 1) % open.length] ?? []];
    const between = from.map((value, axis) => rounded((value + (to[axis] ?? value)) / 2));
    const next = open.toSpliced(index + 1, 0, between);
    return region.type === 'LineString' ? next : closedRing(next);
  });
}

/** Returns the corners of a list of positions once each. A line has no position twice. */
function openOf({ type }: Region, positions: number[][]): number[][] {
  return type === 'LineString' ? positions : [...openRing(positions)];
}

/** Square around a position of a plane; start for users who enter corners instead of drawing them. */
export function squareAround([x = 0, y = 0]: readonly number[], [halfX, halfY]: readonly [number, number]): Region {
  const corner = (east: number, north: number): number[] => [rounded(x + east * halfX), rounded(y + north * halfY)];
  return {
    type: 'Polygon',
    coordinates: [[corner(-1, -1), corner(1, -1), corner(1, 1), corner(-1, 1), corner(-1, -1)]],
  };
}

/** Rounds to about a tenth of a millimeter; works for degrees and meters. */
function rounded(value: number): number {
  return Number(value.toFixed(9));
}

/** Removes a corner; a ring stays closed. */
export function withoutCorner(region: Region, [ring, index]: readonly [number, number]): Region {
  if (region.type === 'Point') return region;
  return withPositionLists(region, (positions, i) => {
    if (i !== ring) return positions;
    const left = openOf(region, positions).filter((_, j) => j !== index);
    return region.type === 'LineString' ? left : closedRing(left);
  });
}
