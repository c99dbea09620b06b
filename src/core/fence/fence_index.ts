/**
 * Spatial index of fences: the core's only interface to geometry. src/fence_index/fence_index.ts implements it with H3
 * and GEOS, test/support/reference_fence_index.ts by brute force; both pass the same contract tests.
 *
 * Regions are in EPSG:4326. Polygon edges are straight in longitude and latitude. Edges of a region in a zone's plane
 * are subdivided so that they follow the straight edge of the plane to within `slackMeters`. Longitudes of a region are
 * unwrapped: a region across the antimeridian has longitudes beyond ±180.
 */
export interface FenceIndex {
  /** Adds or replaces the region of a slot. The caller chooses slots as small non-negative integers. */
  set(slot: number, region: Region): void;
  /** Removes a slot; unknown slots are ignored. */
  delete(slot: number): void;
  /**
   * Returns the candidate fences of a footprint: a superset of those that it touches. `previous` is the result of the
   * last call for the same object and is returned again while it is still valid.
   */
  near(previous: Nearby | undefined, footprint: Footprint): Nearby;
  /**
   * Writes the nearby slots whose boxes overlap the footprint into `found`, in ascending order, and returns their
   * number. Much cheaper than calling `touches` for each. `found` has room for all nearby slots.
   */
  overlapping(nearby: Nearby, footprint: Footprint, found: Int32Array): number;
  /** Whether the footprint is inside or touches the region; a region's edge counts as inside. */
  touches(slot: number, footprint: Footprint): boolean;
  /** Returns the shortest distance in meters between footprint and region; 0 if they touch. */
  distanceMeters(slot: number, footprint: Footprint): number;
  /**
   * Returns how deep the footprint is inside the region, in meters: the distance from its position to the nearest edge
   * (negative outside) plus its radius. For a ring, the maximum over its position and vertices.
   */
  depthMeters(slot: number, footprint: Footprint): number;
}

/** Region of a fence on the earth. */
export type Region =
  /** A line of lon, lat, lon, lat …, which no footprint touches: objects cross it (gate_crossings.ts). */
  | { readonly kind: 'line'; readonly positions: Float64Array }
  | { readonly kind: 'circle'; readonly lon: number; readonly lat: number; readonly radiusMeters: number }
  | {
      readonly kind: 'polygon';
      /** Closed rings of lon, lat, lon, lat …: the exterior counter-clockwise, then the holes. */
      readonly rings: readonly Float64Array[];
      /** Distance outside the edge within which a point counts as on the edge. */
      readonly slackMeters: number;
    };

/** The extent of an object on the earth: a point, a circle around it, or a ring of vertices. */
export interface Footprint {
  readonly lon: number;
  readonly lat: number;
  /** 0 for a point and a ring. */
  readonly radiusMeters: number;
  /** Closed ring of lon, lat, lon, lat …, counter-clockwise, unwrapped around `lon`; undefined for point and circle. */
  readonly ring: Float64Array | undefined;
  /** Maximum distance of any part of the footprint from its position. */
  readonly reachMeters: number;
}

/** Candidate fences of an object. The index decides how long they are valid. */
export interface Nearby {
  /** Slots in ascending order. */
  readonly slots: Int32Array;
}
