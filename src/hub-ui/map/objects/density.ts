/** Objects on the screen, in pixels. The first `drawn` of `indices` are drawn individually. */
export interface Spread {
  readonly x: ArrayLike<number>;
  readonly y: ArrayLike<number>;
  readonly indices: Uint32Array;
  drawn: number;
}

/** Side of a grid cell on the screen, in pixels. */
export const CELL = 52;

/** Display of objects by density: full symbols, small symbols, or clusters. */
export type Density = 'single' | 'small' | 'clusters';

/** Objects per occupied cell, on average, above which full symbols, and then small ones, would cover each other. */
const SMALL_FROM = 6;
const CLUSTERS_FROM = 20;
/** Share of a threshold below which the density has to fall to switch back. */
const HYSTERESIS = 0.8;

/**
 * Returns how to draw objects that were last drawn as `before`. A map that is zoomed far out always shows clusters, since the
 * pointer cannot select single objects there. hot: once per frame
 */
export function densityOf(
  spread: Spread,
  { before, isFar }: { readonly before: Density; readonly isFar: boolean },
): Density {
  const perCell = perOccupiedCell(spread);
  if (isFar || perCell > CLUSTERS_FROM * (before === 'clusters' ? HYSTERESIS : 1)) return 'clusters';
  return perCell > SMALL_FROM * (before === 'single' ? 1 : HYSTERESIS) ? 'small' : 'single';
}

/** Whether small clusters would cover as much of the screen as the objects themselves. */
export function isCrowded(spread: Spread): boolean {
  return perOccupiedCell(spread) > SMALL_FROM;
}

const ROWS = 256;
const seenCells = new Uint8Array(ROWS * ROWS);

function perOccupiedCell({ x, y, indices, drawn }: Spread): number {
  seenCells.fill(0);
  let occupied = 0;
  for (let s = 0; s < drawn; s++) {
    const i = indices[s]!;
    const cell = ((x[i]! / CELL) & (ROWS - 1)) * ROWS + ((y[i]! / CELL) & (ROWS - 1));
    if (seenCells[cell] === 1) continue;
    seenCells[cell] = 1;
    occupied++;
  }
  return drawn / Math.max(1, occupied);
}
