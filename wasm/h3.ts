import { cellToLatLng, h3IndexToSplitLong, latLngToCell } from 'h3-js';

/** Finest resolution of H3: cells of about half a meter. */
export const FINEST_RESOLUTION = 15;

/** A path consists of the base cell and one digit for each resolution from 1 to FINEST_RESOLUTION. */
export const PATH_LENGTH = FINEST_RESOLUTION + 1;

/** Number of base cells, and of the digits below a cell. */
export const BASE_CELLS = 122;
export const DIGITS = 7;

/**
 * Writes the path of the finest H3 cell at a position into `path`, from `offset`: the base cell, then the digits of the
 * cells below it. Cells with a common prefix are close to each other.
 */
export function writeCellPath({ lon, lat }: { lon: number; lat: number }, path: Uint8Array, offset: number): void {
  const [low, high] = h3IndexToSplitLong(latLngToCell(lat, lon, FINEST_RESOLUTION));
  // An index has three bits per digit, the finest digit lowest, and above them seven bits for the base cell.
  path[offset] = (high >>> 13) & 0x7f;
  for (let resolution = 1; resolution <= FINEST_RESOLUTION; resolution++) {
    const shift = (FINEST_RESOLUTION - resolution) * 3;
    const digit = shift >= 32 ? high >>> (shift - 32) : shift === 30 ? (low >>> 30) | (high << 2) : low >>> shift;
    path[offset + resolution] = digit & 7;
  }
}

/** Returns the index of the cell at a position, at a resolution. */
export function cellAt({ lon, lat }: { lon: number; lat: number }, resolution: number): string {
  return latLngToCell(lat, lon, resolution);
}

/** Returns the center of a cell. */
export function centerOf(cell: string): { readonly lon: number; readonly lat: number } {
  const [lat, lon] = cellToLatLng(cell);
  return { lon, lat };
}
