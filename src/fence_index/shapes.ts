import type { Geos, PreparedPolygon } from '../../wasm/geos.ts';
import type { Footprint, Region } from '../core/fence/fence_index.ts';
import { chordMeters, longestArcMeters, SurfacePoint } from '../core/geo/ecef.ts';
import { geodesicMeters } from '../core/geo/geodesic.ts';
import { ringCovers } from '../core/geo/rings.ts';
import { EdgeChain } from './edge_chain.ts';
import { INSIDE, NEAR_EDGE, OUTSIDE, PolygonRaster } from './polygon_raster.ts';
import { boxOfRings, contains, LEAST_SLACK_METERS, widened } from './lon_lat_box.ts';

/** Exact tests of a region against a footprint, whose position is `place`. */
export interface Shape {
  touches(footprint: Footprint, place: SurfacePoint): boolean;
  distanceMeters(footprint: Footprint, place: SurfacePoint): number;
  depthMeters(footprint: Footprint, place: SurfacePoint): number;
  destroy(): void;
}

/** A line, which nothing touches and nothing is in. */
export const LINE_SHAPE: Shape = {
  touches: () => false,
  distanceMeters: () => Number.POSITIVE_INFINITY,
  depthMeters: () => Number.NEGATIVE_INFINITY,
  destroy: () => undefined,
};

type Circle = Extract<Region, { kind: 'circle' }>;

/** A circle on the ellipsoid: all positions whose geodesic distance from the center is at most the radius. */
export class CircleShape implements Shape {
  readonly #center = new SurfacePoint();
  readonly #radiusMeters: number;

  constructor({ lon, lat, radiusMeters }: Circle) {
    this.#center.set(lon, lat);
    this.#radiusMeters = radiusMeters;
  }

  // hot
  touches(footprint: Footprint, place: SurfacePoint): boolean {
    if (footprint.ring !== undefined) {
      return this.#toRing(footprint.ring) <= this.#radiusMeters + LEAST_SLACK_METERS;
    }
    const limit = this.#radiusMeters + footprint.radiusMeters + LEAST_SLACK_METERS;
    const chord = chordMeters(place, this.#center);
    if (chord > limit + ROUNDING_METERS) return false;
    if (longestArcMeters(chord) + ROUNDING_METERS <= limit) return true;
    return this.#geodesic(place) <= limit;
  }

  distanceMeters(footprint: Footprint, place: SurfacePoint): number {
    const apart = footprint.ring === undefined ? this.#toPlace(place) : this.#toRing(footprint.ring);
    const meters = apart - this.#radiusMeters - footprint.radiusMeters;
    return this.touches(footprint, place) ? 0 : Math.max(meters, LEAST_SLACK_METERS);
  }

  depthMeters(footprint: Footprint, place: SurfacePoint): number {
    let nearest = this.#toPlace(place);
    const { ring } = footprint;
    for (let i = 0; ring !== undefined && i < ring.length; i += 2) {
      vertex.set(ring[i]!, ring[i + 1]!);
      nearest = Math.min(nearest, this.#toPlace(vertex));
    }
    const meters = this.#radiusMeters - nearest + footprint.radiusMeters;
    return this.touches(footprint, place) ? Math.max(meters, 0) : Math.min(meters, -LEAST_SLACK_METERS);
  }

  destroy(): void {}

  /**
   * Returns the distance from the center in meters, to 1 µm. The geodesic is computed only if its bounds, the chord and
   * the longest arc, are not sufficient.
   */
  #toPlace(place: SurfacePoint): number {
    const chord = chordMeters(place, this.#center);
    return longestArcMeters(chord) - chord < 1e-6 ? chord : this.#geodesic(place);
  }

  #geodesic({ lon, lat }: SurfacePoint): number {
    return geodesicMeters(lon, lat, this.#center.lon, this.#center.lat);
  }

  #toRing(ring: Float64Array): number {
    return ringCovers(ring, this.#center) ? 0 : new EdgeChain([ring]).nearest(this.#center, Number.POSITIVE_INFINITY);
  }
}

/** Upper bound of the rounding of chords. */
const ROUNDING_METERS = 1e-8;

type Polygon = Extract<Region, { kind: 'polygon' }>;

/**
 * A polygon with edges straight in longitude and latitude. GEOS decides what is inside; distances are measured to the
 * edges. Both structures are created on the first test, because most fences of a hub are never near an object of this
 * thread. A raster answers for positions away from the edges. Making it takes about as long as it saves in one test for
 * each corner, so a fence has one from that number of tests on.
 */
export class PolygonShape implements Shape {
  readonly #region: Polygon;
  readonly #geos: Geos;
  readonly #slackMeters: number;
  readonly #west: number;
  readonly #east: number;
  #prepared: PreparedPolygon | undefined;
  #edges: EdgeChain | undefined;
  #raster: PolygonRaster | undefined;
  #testsUntilRaster: number;

  constructor(region: Polygon, geos: Geos) {
    this.#region = region;
    this.#geos = geos;
    this.#slackMeters = Math.max(region.slackMeters, LEAST_SLACK_METERS);
    [this.#west, this.#east] = bounds(region.rings[0]!);
    this.#testsUntilRaster = region.rings.reduce((sum, ring) => sum + ring.length / 2, 0);
  }

  // hot
  touches(footprint: Footprint, place: SurfacePoint): boolean {
    if (footprint.ring !== undefined) return this.#touchesRing(footprint.ring);
    const { radiusMeters } = footprint;
    const side = this.#sideOf(place);
    if (side === INSIDE) return true;
    if (side === OUTSIDE && radiusMeters === 0) return false;
    if (side === NEAR_EDGE && this.#covers(place)) return true;
    const ceiling = radiusMeters + this.#slackMeters;
    return this.#edgeChain().nearest(place, ceiling) <= ceiling;
  }

  distanceMeters(footprint: Footprint, place: SurfacePoint): number {
    if (this.touches(footprint, place)) return 0;
    if (footprint.ring !== undefined) return Math.max(this.#toRing(footprint.ring, Infinity), LEAST_SLACK_METERS);
    return this.#edgeChain().nearest(place, Infinity) - footprint.radiusMeters;
  }

  depthMeters(footprint: Footprint, place: SurfacePoint): number {
    let deepest = this.#depth(place) + footprint.radiusMeters;
    const { ring } = footprint;
    for (let i = 0; ring !== undefined && i < ring.length; i += 2) {
      vertex.set(ring[i]!, ring[i + 1]!);
      deepest = Math.max(deepest, this.#depth(vertex));
    }
    if (this.touches(footprint, place)) return Math.max(deepest, 0);
    return Math.min(deepest, -LEAST_SLACK_METERS);
  }

  destroy(): void {
    if (this.#prepared !== undefined) this.#geos.destroy(this.#prepared);
    this.#prepared = undefined;
  }

  /** Returns the distance to the nearest edge in meters, negative outside. */
  #depth(place: SurfacePoint): number {
    const meters = this.#edgeChain().nearest(place, Infinity);
    return this.#covers(place) ? meters : -meters;
  }

  /** Returns the side of the edges that the position is on, if it is away from all of them; otherwise NEAR_EDGE. */
  // hot
  #sideOf({ lon, lat }: SurfacePoint): number {
    if (this.#raster === undefined) {
      if (--this.#testsUntilRaster > 0) return NEAR_EDGE;
      this.#raster = this.#newRaster();
    }
    return this.#raster.at(this.#unwrapped(lon), lat);
  }

  /** Returns the least of the equivalent longitudes that is not west of the polygon. */
  // hot
  #unwrapped(lon: number): number {
    return lon + 360 * Math.ceil((this.#west - lon) / 360 - 1e-12);
  }

  #newRaster(): PolygonRaster {
    const polygon = this.#polygon();
    return new PolygonRaster(this.#region.rings, this.#slackMeters, (x, y) => this.#geos.covers(polygon, x, y));
  }

  /** Whether the position, at any of its equivalent longitudes, is inside or on the edge. */
  // hot
  #covers({ lon, lat }: SurfacePoint): boolean {
    const polygon = this.#polygon();
    const first = this.#unwrapped(lon);
    for (let x = first; x <= this.#east + 1e-9; x += 360) {
      if (this.#geos.covers(polygon, x, lat)) return true;
    }
    return false;
  }

  #touchesRing(ring: Float64Array): boolean {
    const polygon = this.#polygon();
    const [west, east] = bounds(ring);
    const first = 360 * Math.ceil((this.#west - east) / 360 - 1e-12);
    for (let turn = first; west + turn <= this.#east + 1e-9; turn += 360) {
      if (this.#geos.intersects(polygon, ring, turn)) return true;
    }
    return this.#toRing(ring, this.#slackMeters) <= this.#slackMeters;
  }

  /**
   * Returns the distance in meters between the edges of polygon and ring, which do not cross; Infinity if it exceeds
   * the ceiling. Edges that do not cross are nearest to each other at an end of one of them.
   */
  #toRing(ring: Float64Array, ceilingMeters: number): number {
    let best = ceilingMeters;
    let found = Number.POSITIVE_INFINITY;
    for (let i = 0; i < ring.length; i += 2) {
      vertex.set(ring[i]!, ring[i + 1]!);
      found = Math.min(found, this.#edgeChain().nearest(vertex, best));
      best = Math.min(best, found);
    }
    const ringEdges = new EdgeChain([ring]);
    const around = best === Number.POSITIVE_INFINITY ? undefined : widened(boxOfRings([ring]), best);
    for (const corners of this.#region.rings) {
      for (let i = 0; i < corners.length; i += 2) {
        vertex.set(corners[i]!, corners[i + 1]!);
        if (around !== undefined && !contains(around, vertex)) continue;
        found = Math.min(found, ringEdges.nearest(vertex, best));
        best = Math.min(best, found);
      }
    }
    return found;
  }

  #polygon(): PreparedPolygon {
    this.#prepared ??= this.#geos.prepare(this.#region.rings);
    return this.#prepared;
  }

  #edgeChain(): EdgeChain {
    this.#edges ??= new EdgeChain(this.#region.rings);
    return this.#edges;
  }
}

/** Returns least and greatest longitude of a ring, unwrapped. */
function bounds(ring: Float64Array): [west: number, east: number] {
  let [west, east] = [Infinity, -Infinity];
  for (let i = 0; i < ring.length; i += 2) {
    west = Math.min(west, ring[i]!);
    east = Math.max(east, ring[i]!);
  }
  return [west, east];
}

const vertex = new SurfacePoint();
