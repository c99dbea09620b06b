import { DEGREES_PER_METER, RADIANS } from '../core/geo/ellipsoid.ts';
import { extremesOfRings } from './lon_lat_box.ts';

/** Values of a cell: the side of the edges that all its positions are on, or NEAR_EDGE. */
export const [NEAR_EDGE, OUTSIDE, INSIDE] = [0, 1, 2] as const;

/**
 * Raster over a polygon whose edges are straight in longitude and latitude. A cell without an edge nearby is inside or
 * outside as a whole, which one test of its middle decides. All its positions are farther than `slackMeters` from every
 * edge, so that for them neither the exact test nor a distance is needed. Two bits per cell.
 */
export class PolygonRaster {
  readonly #side: number;
  readonly #west: number;
  readonly #south: number;
  /** Cells per degree. */
  readonly #perLon: number;
  readonly #perLat: number;
  readonly #cells: Uint8Array;

  /** `covers` decides whether the polygon covers a position. The longitudes of rings and positions are unwrapped. */
  constructor(rings: readonly Float64Array[], slackMeters: number, covers: (lon: number, lat: number) => boolean) {
    const { west, east, south, north } = extremesOfRings(rings);
    const latMargin = slackMeters * DEGREES_PER_METER * DISTANCE_ERROR + ROUNDING_DEGREES;
    const lonMargin = latMargin / Math.max(0, Math.cos((Math.max(-south, north) + latMargin) * RADIANS));
    const side = sideOf(rings);
    this.#side = side;
    this.#west = west - lonMargin;
    this.#south = south - latMargin;
    this.#perLon = side / (east - west + 2 * lonMargin);
    this.#perLat = side / (north - south + 2 * latMargin);
    this.#cells = new Uint8Array((side * side) / 4);
    // Close to a pole, where the margin has no bound, and around the earth, all cells are near an edge.
    if (!(lonMargin > 0 && east - west + 2 * lonMargin < 360)) return;
    const isNearEdge = new Uint8Array(side * side);
    for (const ring of rings) this.#mark(ring, lonMargin, latMargin, isNearEdge);
    this.#fill(isNearEdge, covers);
  }

  /** Returns INSIDE, OUTSIDE or NEAR_EDGE. A position beyond the raster is NEAR_EDGE, too. */
  // hot
  at(lon: number, lat: number): number {
    const x = (lon - this.#west) * this.#perLon;
    const y = (lat - this.#south) * this.#perLat;
    const side = this.#side;
    if (!(x >= 0 && x < side && y >= 0 && y < side)) return NEAR_EDGE;
    return this.#cell((y | 0) * side + (x | 0));
  }

  // hot
  #cell(index: number): number {
    return (this.#cells[index >> 2]! >> ((index & 3) << 1)) & 3;
  }

  /** Marks the cells with a position within the margins of an edge of the ring. */
  #mark(ring: Float64Array, lonMargin: number, latMargin: number, isNearEdge: Uint8Array): void {
    const side = this.#side;
    for (let i = 0; i + 3 < ring.length; i += 2) {
      const isUp = ring[i + 1]! <= ring[i + 3]!;
      const [low, high] = isUp ? [i, i + 2] : [i + 2, i];
      const [lowLon, lowLat, highLon, highLat] = [ring[low]!, ring[low + 1]!, ring[high]!, ring[high + 1]!];
      const lonPerLat = highLat === lowLat ? 0 : (highLon - lowLon) / (highLat - lowLat);
      const last = this.#row(highLat + latMargin);
      for (let row = this.#row(lowLat - latMargin); row <= last; row++) {
        // The part of the edge from which positions of the row may be reached.
        const from = Math.max(lowLat, this.#south + row / this.#perLat - latMargin);
        const to = Math.min(highLat, this.#south + (row + 1) / this.#perLat + latMargin);
        const atFrom = from <= lowLat ? lowLon : lowLon + (from - lowLat) * lonPerLat;
        const atTo = to >= highLat ? highLon : lowLon + (to - lowLat) * lonPerLat;
        const first = this.#column(Math.min(atFrom, atTo) - lonMargin);
        isNearEdge.fill(1, row * side + first, row * side + this.#column(Math.max(atFrom, atTo) + lonMargin) + 1);
      }
    }
  }

  /** Neighboring cells without an edge between them are on the same side of it. */
  #fill(isNearEdge: Uint8Array, covers: (lon: number, lat: number) => boolean): void {
    const side = this.#side;
    for (let row = 0; row < side; row++) {
      for (let column = 0; column < side; column++) {
        const index = row * side + column;
        if (isNearEdge[index] === 1) continue;
        const left = column === 0 ? NEAR_EDGE : this.#cell(index - 1);
        const known = left === NEAR_EDGE && row > 0 ? this.#cell(index - side) : left;
        const found = known === NEAR_EDGE ? this.#middle(row, column, covers) : known;
        this.#cells[index >> 2]! |= found << ((index & 3) << 1);
      }
    }
  }

  #middle(row: number, column: number, covers: (lon: number, lat: number) => boolean): number {
    const isCovered = covers(this.#west + (column + 0.5) / this.#perLon, this.#south + (row + 0.5) / this.#perLat);
    return isCovered ? INSIDE : OUTSIDE;
  }

  #column(lon: number): number {
    return this.#within((lon - this.#west) * this.#perLon);
  }

  #row(lat: number): number {
    return this.#within((lat - this.#south) * this.#perLat);
  }

  #within(cell: number): number {
    return Math.max(0, Math.min(this.#side - 1, Math.floor(cell)));
  }
}

/** Margin for the error of distances to edges (edge_chain.ts). */
const DISTANCE_ERROR = 1.02;

/** Margin for the rounding of coordinates and cells: a tenth of a millimeter. */
const ROUNDING_DEGREES = 1e-9;

/** Returns the cells of a row and a column: more for more corners, a kilobyte at most. */
function sideOf(rings: readonly Float64Array[]): number {
  const corners = rings.reduce((sum, ring) => sum + ring.length / 2, 0);
  return corners <= 32 ? 16 : corners <= 128 ? 32 : 64;
}
