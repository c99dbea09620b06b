import type { Footprint, Nearby } from '../core/fence/fence_index.ts';
import { DEGREES_PER_METER, RADIANS } from '../core/geo/ellipsoid.ts';
import { wrapLongitude } from '../core/geo/longitude.ts';
import { type LonLatBox, overlap } from './lon_lat_box.ts';

/**
 * A tile of the earth. At each level, the earth is divided into rows of 180°/2^level, and each row into columns of
 * about that width. A tile lists the fences of a box that extends beyond it by a quarter on each side, so that objects
 * moving along its border do not change tiles constantly, and objects with an extent fit in.
 */
export class Tile implements Nearby, LonLatBox {
  readonly level: number;
  readonly lon: number;
  readonly halfWidth: number;
  readonly south: number;
  readonly north: number;
  /** Version of the index for which `slots` was last confirmed. */
  version = -1;
  slots: Int32Array = NO_SLOTS;
  /** Whether `slots` is filled. False if smaller tiles are better, because many fences are near. */
  filled = false;
  readonly #lonPerMeter: number;

  constructor(level: number, { lon, halfWidth, south, north }: LonLatBox) {
    this.level = level;
    this.lon = lon;
    this.halfWidth = halfWidth;
    this.south = south;
    this.north = north;
    const furthest = Math.max(-south, north);
    this.#lonPerMeter = halfWidth === Infinity ? 0 : REACH_DEGREES / Math.cos(furthest * RADIANS);
  }

  /** Whether the whole footprint is in the box. */
  // hot
  holds(footprint: Footprint): boolean {
    const { lat, reachMeters } = footprint;
    const margin = reachMeters * REACH_DEGREES;
    if (lat - margin < this.south || lat + margin > this.north) return false;
    let apart = Math.abs(footprint.lon - this.lon);
    if (apart > 180) apart = Math.abs(360 - apart);
    return apart + reachMeters * this.#lonPerMeter <= this.halfWidth;
  }
}

/**
 * Cache of recently used tiles, by key, in two halves. When the half of new tiles is full, the older half is dropped. A
 * tile that is used again counts as new.
 */
export class TileCache {
  readonly #halfWeight: number;
  #young = new Map<number, Tile>();
  #old = new Map<number, Tile>();
  #weight = 0;

  /** `weight` is the capacity: a tile counts 1, plus 1 for every sixteen slots. */
  constructor(weight: number) {
    this.#halfWeight = weight / 2;
  }

  get(key: number): Tile | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: number, tile: Tile): void {
    if (this.#weight >= this.#halfWeight) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#weight = 0;
    }
    this.#young.set(key, tile);
    this.#weight += 1 + tile.slots.length / 16;
  }
}

/**
 * Log of the latest fence changes, as boxes. A tile filled before a change is still valid if the change does not
 * overlap it, so that one changed fence does not require a new search for every object.
 */
export class ChangeLog {
  readonly #boxes: LonLatBox[] = [];
  #version = 0;

  /** Number of changes so far. */
  get version(): number {
    return this.#version;
  }

  add(box: LonLatBox): void {
    this.#boxes[this.#version++ % REMEMBERED] = box;
  }

  /** Whether nothing has changed in the box since a version. False if the log does not reach back that far. */
  untouched(box: LonLatBox, since: number): boolean {
    if (this.#version - since > REMEMBERED) return false;
    for (let change = since; change < this.#version; change++) {
      if (overlap(box, this.#boxes[change % REMEMBERED] as LonLatBox)) return false;
    }
    return true;
  }
}

const REMEMBERED = 64;

/** Finest level: rows of 1.2 m. */
export const FINEST_LEVEL = 24;

/** Returns the finest level at which the margin of tiles covers a reach. */
export function finestLevel(reachMeters: number): number {
  if (!(reachMeters > 0)) return FINEST_LEVEL;
  const level = Math.floor(Math.log2((180 * MARGIN) / (reachMeters * REACH_DEGREES)));
  return Math.max(0, Math.min(FINEST_LEVEL, level));
}

/** Row and column of a position at a level. The key is unique among all tiles of all levels. */
export interface TileSpot {
  readonly key: number;
  readonly row: number;
  readonly column: number;
  readonly columns: number;
}

export function tileSpot(level: number, lon: number, lat: number): TileSpot {
  const rows = 2 ** level;
  const row = Math.max(0, Math.min(rows - 1, Math.floor(((lat + 90) / 180) * rows)));
  const columns = columnsOf(level, row);
  const column = Math.min(columns - 1, Math.floor(((wrapLongitude(lon) + 180) / 360) * columns));
  // A row has at most 2 * rows columns, so a level has at most 2 * rows² tiles. The offset is the sum over all coarser
  // levels.
  const offset = (2 * (rows * rows - 1)) / 3;
  return { key: offset + row * 2 * rows + column, row, column, columns };
}

/** Returns the tile of a spot, without fences. */
export function tileAt(level: number, { row, column, columns }: TileSpot): Tile {
  if (level === 0) return new Tile(0, { lon: 0, halfWidth: Infinity, south: -Infinity, north: Infinity });
  const { south, north } = rowBounds(level, row);
  const width = 360 / columns;
  const halfWidth = width * (0.5 + MARGIN);
  const lon = -180 + (column + 0.5) * width;
  return new Tile(level, { lon, halfWidth: halfWidth >= 180 ? Infinity : halfWidth, south, north });
}

/** Fraction of a tile by which its box is larger on each side. */
const MARGIN = 0.25;

/** Degrees of latitude per meter of reach, with 0.1 % margin for another formula of the reach. */
const REACH_DEGREES = DEGREES_PER_METER * 1.001;

const NO_SLOTS = new Int32Array(0);

/**
 * Returns the number of columns of a row. Columns are at least as wide as rows are high, even at the end of the box
 * nearest to the pole.
 */
function columnsOf(level: number, row: number): number {
  const { south, north } = rowBounds(level, row);
  const furthest = Math.max(-south, north);
  if (furthest >= 90) return 1;
  return Math.max(1, Math.floor(2 * 2 ** level * Math.cos(furthest * RADIANS)));
}

function rowBounds(level: number, row: number): { south: number; north: number } {
  const height = 180 / 2 ** level;
  return { south: -90 + (row - MARGIN) * height, north: -90 + (row + 1 + MARGIN) * height };
}
