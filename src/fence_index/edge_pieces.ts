/**
 * Edges of closed rings lon, lat, lon, lat …, cut into pieces of at most 5°: per piece longitude and latitude of its two
 * ends. Longitudes are turned so that the middle of the piece is within ±180.
 */
export function cutEdges(rings: readonly Float64Array[]): Float64Array {
  const pieces: number[] = [];
  for (const ring of rings) {
    for (let i = 0; i + 3 < ring.length; i += 2) {
      const lon = ring[i]!;
      const lat = ring[i + 1]!;
      const lonStep = ring[i + 2]! - lon;
      const latStep = ring[i + 3]! - lat;
      const count = Math.max(1, Math.ceil(Math.max(Math.abs(lonStep), Math.abs(latStep)) / PIECE_DEGREES));
      for (let k = 0; k < count; k++) {
        const from = lon + (k / count) * lonStep;
        const to = k + 1 === count ? ring[i + 2]! : lon + ((k + 1) / count) * lonStep;
        const turn = 360 * Math.round((from + to) / 720);
        const north = k + 1 === count ? ring[i + 3]! : lat + ((k + 1) / count) * latStep;
        pieces.push(from - turn, lat + (k / count) * latStep, to - turn, north);
      }
    }
  }
  return Float64Array.from(pieces);
}

/** Per block of pieces: middle longitude, half width, south, north. */
export function blockBoxes(pieces: Float64Array): Float64Array {
  const count = Math.ceil(pieces.length / (4 * BLOCK_PIECES));
  const blocks = new Float64Array(count * 4);
  for (let block = 0; block < count; block++) {
    let [west, east, south, north] = [Infinity, -Infinity, Infinity, -Infinity];
    const end = Math.min((block + 1) * 4 * BLOCK_PIECES, pieces.length);
    for (let i = block * 4 * BLOCK_PIECES; i < end; i += 2) {
      west = Math.min(west, pieces[i]!);
      east = Math.max(east, pieces[i]!);
      south = Math.min(south, pieces[i + 1]!);
      north = Math.max(north, pieces[i + 1]!);
    }
    blocks.set([(west + east) / 2, (east - west) / 2, south, north], block * 4);
  }
  return blocks;
}

/** Pieces in a block, but for the last one. */
export const BLOCK_PIECES = 16;

const PIECE_DEGREES = 5;
