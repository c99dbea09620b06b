import type { Fence } from '../../model/fence.ts';

type Region = Fence['region'];

/** A region with one of its positions moved; both ends of a ring are one corner. */
export function withCorner(region: Region, [ring, index]: readonly [number, number], to: readonly number[]): Region {
  if (region.type === 'Point') return { type: 'Point', coordinates: [...to] };
  const coordinates = region.coordinates.map((positions, i) => {
    if (i !== ring) return positions;
    const isClosed = index === 0 && equalPlace(positions[0], positions.at(-1)) && positions.length > 1;
    return positions.map((position, j) =>
      j === index || (isClosed && j === positions.length - 1) ? [...to] : position,
    );
  });
  return { type: 'Polygon', coordinates };
}

/** A region without one of its corners, which stays closed. */
export function withoutCorner(region: Region, [ring, index]: readonly [number, number]): Region {
  if (region.type === 'Point') return region;
  const coordinates = region.coordinates.map((positions, i) => {
    if (i !== ring) return positions;
    const open = openRing(positions).filter((_, j) => j !== index);
    return [...open, ...open.slice(0, 1)];
  });
  return { type: 'Polygon', coordinates };
}

/** The positions without the last one, where that closes the ring. */
export function openRing(positions: readonly number[][]): readonly number[][] {
  return positions.length > 1 && equalPlace(positions[0], positions.at(-1)) ? positions.slice(0, -1) : positions;
}

function equalPlace(a: readonly number[] | undefined, b: readonly number[] | undefined): boolean {
  return a?.[0] === b?.[0] && a?.[1] === b?.[1];
}
