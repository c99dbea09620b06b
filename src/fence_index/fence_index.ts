import { type Geos, openGeos } from '../../wasm/geos.ts';
import type { FenceIndex, Footprint, Nearby, Region } from '../core/fence/fence_index.ts';
import { SurfacePoint } from '../core/geo/ecef.ts';
import { DEGREES_PER_METER, RADIANS } from '../core/geo/ellipsoid.ts';
import { wrapLongitude } from '../core/geo/longitude.ts';
import { FenceTree } from './fence_tree.ts';
import { boxOfFootprint, boxOfRegion, type LonLatBox, overlap } from './lon_lat_box.ts';
import { CircleShape, LINE_SHAPE, PolygonShape, type Shape } from './shapes.ts';
import { ChangeLog, finestLevel, type Tile, TileCache, tileAt, tileSpot } from './tiles.ts';

/**
 * Opens the fence index of a thread. Candidates come from tiles that objects share (tiles.ts), filled from a tree over
 * H3 cells (fence_tree.ts); bounding boxes and rasters precede the exact tests with GEOS and on the ellipsoid (shapes.ts).
 */
export async function openFenceIndex(): Promise<FenceIndex> {
  return new OpenFenceIndex(await openGeos());
}

function shapeOf(region: Region, geos: Geos): Shape {
  if (region.kind === 'line') return LINE_SHAPE;
  return region.kind === 'circle' ? new CircleShape(region) : new PolygonShape(region, geos);
}

interface IndexedFence {
  readonly shape: Shape;
  readonly box: LonLatBox;
}

class OpenFenceIndex implements FenceIndex {
  readonly #geos: Geos;
  readonly #tree = new FenceTree();
  readonly #fences: (IndexedFence | undefined)[] = [];
  readonly #changes = new ChangeLog();
  readonly #tiles = new TileCache(TILE_WEIGHT);
  readonly #place = new SurfacePoint();
  readonly #point: LonLatBox = { lon: 0, halfWidth: 0, south: 0, north: 0 };
  readonly #found: number[] = [];

  constructor(geos: Geos) {
    this.#geos = geos;
  }

  set(slot: number, region: Region): void {
    this.delete(slot);
    const box = boxOfRegion(region);
    const shape = shapeOf(region, this.#geos);
    this.#tree.insert(slot, box);
    this.#fences[slot] = { shape, box };
    this.#changes.add(box);
  }

  delete(slot: number): void {
    const fence = this.#fences[slot];
    if (fence === undefined) return;
    this.#fences[slot] = undefined;
    this.#tree.remove(slot);
    this.#changes.add(fence.box);
    fence.shape.destroy();
  }

  // hot
  near(previous: Nearby | undefined, footprint: Footprint): Nearby {
    const tile = previous as Tile | undefined;
    if (tile?.version === this.#changes.version && tile.holds(footprint)) return tile;
    return this.#look(tile, footprint);
  }

  // hot
  overlapping({ slots }: Nearby, footprint: Footprint, found: Int32Array): number {
    return this.#tree.overlapping(slots, this.#boxAround(footprint), found);
  }

  // hot
  touches(slot: number, footprint: Footprint): boolean {
    const fence = this.#fences[slot];
    if (fence === undefined || !this.#isNear(slot, footprint)) return false;
    this.#place.set(footprint.lon, footprint.lat);
    return fence.shape.touches(footprint, this.#place);
  }

  /** Infinity for an unknown slot. */
  distanceMeters(slot: number, footprint: Footprint): number {
    const fence = this.#fences[slot];
    if (fence === undefined) return Number.POSITIVE_INFINITY;
    this.#place.set(footprint.lon, footprint.lat);
    return fence.shape.distanceMeters(footprint, this.#place);
  }

  /** Returns -Infinity for an unknown slot. */
  depthMeters(slot: number, footprint: Footprint): number {
    const fence = this.#fences[slot];
    if (fence === undefined) return Number.NEGATIVE_INFINITY;
    this.#place.set(footprint.lon, footprint.lat);
    return fence.shape.depthMeters(footprint, this.#place);
  }

  /** Returns the box around a footprint, valid until the next call. For a point it allocates nothing. */
  // hot
  #boxAround(footprint: Footprint): LonLatBox {
    const { lon, lat, radiusMeters, ring } = footprint;
    if (ring !== undefined || radiusMeters > 0) return boxOfFootprint(footprint);
    const box = this.#point;
    box.lon = wrapLongitude(lon);
    box.south = lat;
    box.north = lat;
    return box;
  }

  /** Whether the boxes of fence and footprint overlap. The box of a point or circle is computed inline. */
  // hot
  #isNear(slot: number, footprint: Footprint): boolean {
    if (footprint.ring !== undefined)
      return overlap(boxOfFootprint(footprint), (this.#fences[slot] as IndexedFence).box);
    const { boxes } = this.#tree;
    const at = slot * 4;
    const { lat, radiusMeters } = footprint;
    const margin = radiusMeters * DEGREES_PER_METER;
    if (lat + margin < boxes[at + 2]! || lat - margin > boxes[at + 3]!) return false;
    let apart = Math.abs(wrapLongitude(footprint.lon) - boxes[at]!);
    if (apart > 180) apart = 360 - apart;
    if (apart <= boxes[at + 1]!) return true;
    if (radiusMeters === 0) return false;
    const furthest = Math.abs(lat) + margin;
    return furthest >= 90 || apart <= boxes[at + 1]! + margin / Math.cos(furthest * RADIANS);
  }

  /**
   * Returns the tile of a footprint: the last one if it is still valid, otherwise the finest useful tile, at most one
   * level coarser than the last one.
   */
  #look(last: Tile | undefined, footprint: Footprint): Tile {
    if (last?.holds(footprint) && this.#changes.untouched(last, last.version)) {
      last.version = this.#changes.version;
      return last;
    }
    const finest = finestLevel(footprint.reachMeters);
    const { lon, lat } = footprint;
    let crowd = -1;
    for (let level = Math.max(0, Math.min(finest, (last?.level ?? 0) - 1)); ; level++) {
      const spot = tileSpot(level, lon, lat);
      const cached = this.#tiles.get(spot.key);
      if (cached !== undefined && this.#holds(cached) && (cached.filled || level < finest)) {
        if (cached.filled) return cached;
        continue;
      }
      const tile = tileAt(level, spot);
      if (crowd < 0) crowd = this.#tree.search(boxOfFootprint(footprint), this.#found, Infinity);
      const limit = level === finest ? Infinity : ROOMY + 2 * crowd;
      this.#fill(tile, limit);
      this.#tiles.set(spot.key, tile);
      if (tile.filled) return tile;
    }
  }

  #holds(tile: Tile): boolean {
    const { version } = this.#changes;
    if (tile.version === version) return true;
    if (!this.#changes.untouched(tile, tile.version)) return false;
    tile.version = version;
    return true;
  }

  #fill(tile: Tile, limit: number): void {
    tile.version = this.#changes.version;
    const count = this.#tree.search(tile, this.#found, limit);
    if (count >= limit) return;
    tile.slots = Int32Array.from(this.#found).sort();
    tile.filled = true;
  }
}

/**
 * Tiles are subdivided until they have fewer fences than this plus twice those at the position itself, because smaller
 * tiles do not separate overlapping fences.
 */
const ROOMY = 12;

/** Capacity of the tile cache: about 40 MB. */
const TILE_WEIGHT = 131_072;
