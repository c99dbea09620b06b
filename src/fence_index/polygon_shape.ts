import type { Geos, PreparedPolygon } from '../../wasm/geos.ts';
import type { Footprint, Region } from '../core/fence/fence_index.ts';
import { Place } from '../core/geo/ecef.ts';
import { EdgeChain } from './edge_chain.ts';
import { boxOfRings, contains, LEAST_SLACK_METRES, widened } from './lon_lat_box.ts';
import type { Shape } from './shape.ts';

type Polygon = Extract<Region, { kind: 'polygon' }>;

/**
 * A polygon with edges straight in longitude and latitude. GEOS says what is inside; distances are those to the edges.
 * Both are made when the polygon is first tested, because most fences of a hub are never near an object of this thread.
 */
export class PolygonShape implements Shape {
  readonly #region: Polygon;
  readonly #geos: Geos;
  readonly #slackMetres: number;
  readonly #west: number;
  readonly #east: number;
  #prepared: PreparedPolygon | undefined;
  #edges: EdgeChain | undefined;

  constructor(region: Polygon, geos: Geos) {
    this.#region = region;
    this.#geos = geos;
    this.#slackMetres = Math.max(region.slackMetres, LEAST_SLACK_METRES);
    [this.#west, this.#east] = bounds(region.rings[0]!);
  }

  // hot
  touches(footprint: Footprint, place: Place): boolean {
    if (footprint.ring !== undefined) return this.#touchesRing(footprint.ring);
    if (this.#covers(place)) return true;
    const ceiling = footprint.radiusMetres + this.#slackMetres;
    return this.#edgeChain().nearest(place, ceiling) <= ceiling;
  }

  distanceMetres(footprint: Footprint, place: Place): number {
    if (this.touches(footprint, place)) return 0;
    if (footprint.ring !== undefined) return Math.max(this.#toRing(footprint.ring, Infinity), LEAST_SLACK_METRES);
    return this.#edgeChain().nearest(place, Infinity) - footprint.radiusMetres;
  }

  depthMetres(footprint: Footprint, place: Place): number {
    let deepest = this.#depth(place) + footprint.radiusMetres;
    const { ring } = footprint;
    for (let i = 0; ring !== undefined && i < ring.length; i += 2) {
      vertex.set(ring[i]!, ring[i + 1]!);
      deepest = Math.max(deepest, this.#depth(vertex));
    }
    if (this.touches(footprint, place)) return Math.max(deepest, 0);
    return Math.min(deepest, -LEAST_SLACK_METRES);
  }

  destroy(): void {
    if (this.#prepared !== undefined) this.#geos.destroy(this.#prepared);
    this.#prepared = undefined;
  }

  /** Metres from the nearest edge, negative outside. */
  #depth(place: Place): number {
    const metres = this.#edgeChain().nearest(place, Infinity);
    return this.#covers(place) ? metres : -metres;
  }

  /** Whether the place, at any of the longitudes that name it, is inside or on the edge. */
  // hot
  #covers({ lon, lat }: Place): boolean {
    const polygon = this.#polygon();
    const first = lon + 360 * Math.ceil((this.#west - lon) / 360 - 1e-12);
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
    return this.#toRing(ring, this.#slackMetres) <= this.#slackMetres;
  }

  /**
   * Metres between the edges of polygon and ring, which do not cross; Infinity when that is more than the ceiling. Two
   * edges that do not cross are nearest to each other at an end of one of them.
   */
  #toRing(ring: Float64Array, ceilingMetres: number): number {
    let best = ceilingMetres;
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

const vertex = new Place();

/** Least and greatest longitude of a ring, unwrapped. */
function bounds(ring: Float64Array): [west: number, east: number] {
  let [west, east] = [Infinity, -Infinity];
  for (let i = 0; i < ring.length; i += 2) {
    west = Math.min(west, ring[i]!);
    east = Math.max(east, ring[i]!);
  }
  return [west, east];
}
