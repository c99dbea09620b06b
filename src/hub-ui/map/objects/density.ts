/** Objects on the screen, in pixels; those to be drawn one by one are the first `drawn` of `indices`. */
export interface Spread {
  readonly x: ArrayLike<number>;
  readonly y: ArrayLike<number>;
  readonly indices: Uint32Array;
  drawn: number;
}

/** Side of a cell of the screen, in pixels. */
export const CELL = 52;

/** How objects are shown, by how near to each other they are. */
export type Density = 'single' | 'small' | 'clusters';

/** Objects in an occupied cell on average from which on they would cover each other, and all below them. */
const SMALL_FROM = 6;
const CLUSTERS_FROM = 20;
/** So much less it takes to go back: objects that move would else be shown in the one way and the other in turn. */
const BACK = 0.8;

/**
 * How objects are to be shown that were shown as `before`. From far away even few are gathered, since there a small step of
 * the pointer is a long way. hot: once per frame
 */
export function densityOf(
  spread: Spread,
  { before, isFar }: { readonly before: Density; readonly isFar: boolean },
): Density {
  const perCell = perOccupiedCell(spread);
  if (isFar || perCell > CLUSTERS_FROM * (before === 'clusters' ? BACK : 1)) return 'clusters';
  return perCell > SMALL_FROM * (before === 'single' ? 1 : BACK) ? 'small' : 'single';
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
