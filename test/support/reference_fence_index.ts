import geographiclib from 'geographiclib-geodesic';
import type { FenceIndex, Footprint, Nearby, Region } from '../../src/core/fence/fence_index.ts';

/**
 * A brute-force fence index. Every fence is a candidate; containment is decided by counting crossings, and distance by
 * geodesics to points on every edge. Slow, but simple enough to serve as an oracle.
 */
export class ReferenceFenceIndex implements FenceIndex {
  readonly #regions = new Map<number, Region>();

  set(slot: number, region: Region): void {
    this.#regions.set(slot, region);
  }

  delete(slot: number): void {
    this.#regions.delete(slot);
  }

  near(_previous: Nearby | undefined, _footprint: Footprint): Nearby {
    return { slots: Int32Array.from(this.#regions.keys()).sort() };
  }

  overlapping({ slots }: Nearby, _footprint: Footprint, found: Int32Array): number {
    found.set(slots);
    return slots.length;
  }

  touches(slot: number, footprint: Footprint): boolean {
    return this.distanceMeters(slot, footprint) === 0;
  }

  distanceMeters(slot: number, footprint: Footprint): number {
    const region = this.#regions.get(slot);
    if (region === undefined || region.kind === 'line') return Number.POSITIVE_INFINITY;
    const meters = gap(region, footprint) - footprint.radiusMeters;
    return meters <= slackOf(region) ? 0 : meters;
  }

  depthMeters(slot: number, footprint: Footprint): number {
    const region = this.#regions.get(slot);
    if (region === undefined || region.kind === 'line') return Number.NEGATIVE_INFINITY;
    const places: Lonlat[] = [[footprint.lon, footprint.lat], ...pairs(footprint.ring ?? new Float64Array(0))];
    const deepest = Math.max(...places.map((place) => depth(region, place))) + footprint.radiusMeters;
    return this.touches(slot, footprint) ? Math.max(deepest, 0) : deepest;
  }
}

type Lonlat = readonly [lon: number, lat: number];
type Edge = readonly [Lonlat, Lonlat];

const { WGS84 } = geographiclib.Geodesic;

function meters(a: Lonlat, b: Lonlat): number {
  return WGS84.Inverse(a[1], a[0], b[1], b[0]).s12 as number;
}

/** A region with an inside. */
type Area = Exclude<Region, { kind: 'line' }>;

function slackOf(region: Area): number {
  return region.kind === 'circle' ? 1e-6 : Math.max(region.slackMeters, 1e-6);
}

/** Distance in meters between the region and the footprint, ignoring its radius. */
function gap(region: Area, { lon, lat, ring }: Footprint): number {
  const centre: Lonlat = [lon, lat];
  if (region.kind === 'circle') {
    const middle: Lonlat = [region.lon, region.lat];
    const apart = ring === undefined ? meters(middle, centre) : toPolygon([ring], middle);
    return Math.max(0, apart - region.radiusMeters);
  }
  if (ring === undefined) return toPolygon(region.rings, centre);
  for (const turn of [-720, -360, 0, 360, 720]) {
    const moved = ring.map((value, i) => (i % 2 === 0 ? value + turn : value));
    if (edges(region.rings).some((a) => edges([moved]).some((b) => cross(a, b)))) return 0;
  }
  const ofRing = pairs(ring).map((place) => toPolygon(region.rings, place));
  const ofRegion = region.rings.flatMap(pairs).map((place) => toPolygon([ring], place));
  return Math.min(...ofRing, ...ofRegion);
}

function depth(region: Area, place: Lonlat): number {
  if (region.kind === 'circle') return region.radiusMeters - meters([region.lon, region.lat], place);
  const toEdge = toEdges(region.rings, place);
  return covers(region.rings, place) ? toEdge : -toEdge;
}

function toPolygon(rings: readonly Float64Array[], place: Lonlat): number {
  return covers(rings, place) ? 0 : toEdges(rings, place);
}

function toEdges(rings: readonly Float64Array[], place: Lonlat): number {
  return Math.min(...edges(rings).map((edge) => toEdge(edge, place)));
}

/** Finds the nearest of evenly spaced points on the edge, then refines between its neighbors. */
function toEdge([a, b]: Edge, place: Lonlat): number {
  const at = (t: number): number => meters(place, [a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])]);
  const steps = Math.max(8, Math.ceil(Math.max(Math.abs(b[0] - a[0]), Math.abs(b[1] - a[1]))));
  let best = 0;
  for (let i = 1; i <= steps; i++) if (at(i / steps) < at(best / steps)) best = i;
  let low = Math.max(0, best - 1) / steps;
  let high = Math.min(steps, best + 1) / steps;
  for (let round = 0; round < 60; round++) {
    const third = (high - low) / 3;
    if (at(low + third) < at(high - third)) high -= third;
    else low += third;
  }
  return Math.min(at(low), at(best / steps));
}

/** Even-odd rule, tested at every longitude equivalent to that of the point. */
function covers(rings: readonly Float64Array[], [lon, lat]: Lonlat): boolean {
  return [-720, -360, 0, 360, 720].some((turn) => {
    let inside = false;
    for (const [[ax, ay], [bx, by]] of edges(rings)) {
      if (ay > lat === by > lat) continue;
      if (lon + turn < ax + ((lat - ay) / (by - ay)) * (bx - ax)) inside = !inside;
    }
    return inside;
  });
}

function cross([a, b]: Edge, [c, d]: Edge): boolean {
  return side(a, b, c) * side(a, b, d) < 0 && side(c, d, a) * side(c, d, b) < 0;
}

function side(a: Lonlat, b: Lonlat, c: Lonlat): number {
  return Math.sign((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]));
}

function edges(rings: readonly Float64Array[]): Edge[] {
  return rings.flatMap((ring) => {
    const places = pairs(ring);
    return places.slice(1).map((place, i): Edge => [places[i] as Lonlat, place]);
  });
}

function pairs(ring: Float64Array): Lonlat[] {
  const places: Lonlat[] = [];
  for (let i = 0; i + 1 < ring.length; i += 2) places.push([ring[i] as number, ring[i + 1] as number]);
  return places;
}
