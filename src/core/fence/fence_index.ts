/**
 * Where fences are: the one question that the core asks of geometry. src/fence_index/fence_index.ts answers it with H3 and GEOS,
 * test/support/reference_fence_index.ts by brute force; both pass the same contract suite.
 *
 * Regions are in EPSG:4326. Polygon edges are straight in longitude and latitude; a region given in a zone's plane
 * arrives with edges cut so short that they follow the straight edge of the plane to within `slackMetres`.
 * Longitudes of a region are unwrapped: a region across the antimeridian has longitudes beyond ±180.
 */
export interface FenceIndex {
  /** Adds or replaces the region of a slot. Slots are small non-negative integers chosen by the caller. */
  set(slot: number, region: Region): void;
  /** Removes a slot; unknown slots are ignored. */
  delete(slot: number): void;
  /**
   * The fences that the footprint may touch: a superset, never missing one. `previous` is what the last call for the
   * same object returned, and is returned again while it still holds.
   */
  near(previous: Nearby | undefined, footprint: Footprint): Nearby;
  /**
   * Puts those of the nearby slots that the footprint may touch, by their boxes, into `found` in ascending order, and
   * returns how many they are: much quicker than to ask `touches` of each. `found` has room for all of them.
   */
  overlapping(nearby: Nearby, footprint: Footprint, found: Int32Array): number;
  /** Whether the footprint is inside or touches the region; a region's edge counts as inside. */
  touches(slot: number, footprint: Footprint): boolean;
  /** Shortest distance in metres between footprint and region; 0 when they touch. */
  distanceMetres(slot: number, footprint: Footprint): number;
  /**
   * How deep the footprint is inside the region, in metres: the distance of its position to the nearest edge (negative
   * outside), plus its radius; of a ring the deepest of position and vertices.
   */
  depthMetres(slot: number, footprint: Footprint): number;
}

/** A fence's region on the earth. */
export type Region =
  | { readonly kind: 'circle'; readonly lon: number; readonly lat: number; readonly radiusMetres: number }
  | {
      readonly kind: 'polygon';
      /** Closed rings of lon, lat, lon, lat …: the exterior counter-clockwise, then the holes. */
      readonly rings: readonly Float64Array[];
      /** How far outside its edge a point still counts as on the edge. */
      readonly slackMetres: number;
    };

/** The extent of an object on the earth: a point, a circle around it, or a ring of vertices. */
export interface Footprint {
  readonly lon: number;
  readonly lat: number;
  /** 0 for a point and for a ring. */
  readonly radiusMetres: number;
  /** Closed ring of lon, lat, lon, lat …, counter-clockwise, unwrapped around `lon`; undefined for point and circle. */
  readonly ring: Float64Array | undefined;
  /** Greatest distance of any part of the footprint from its position. */
  readonly reachMetres: number;
}

/** The fences near an object, valid for as long as the index says so. */
export interface Nearby {
  /** Slots in ascending order. */
  readonly slots: Int32Array;
}
