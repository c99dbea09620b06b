import type { Footprint, Region } from '../core/fence/fence_index.ts';
import { chordMetres, geodesicMetres, longestArcMetres, Place } from '../core/geo/ecef.ts';
import { ringCovers } from '../core/geo/ring_covers.ts';
import { EdgeChain } from './edge_chain.ts';
import { LEAST_SLACK_METRES } from './lon_lat_box.ts';
import type { Shape } from './shape.ts';

type Circle = Extract<Region, { kind: 'circle' }>;

/** A circle on the ellipsoid: all places whose geodesic distance from the centre is at most the radius. */
export class CircleShape implements Shape {
  readonly #centre = new Place();
  readonly #radiusMetres: number;

  constructor({ lon, lat, radiusMetres }: Circle) {
    this.#centre.set(lon, lat);
    this.#radiusMetres = radiusMetres;
  }

  // hot
  touches(footprint: Footprint, place: Place): boolean {
    if (footprint.ring !== undefined) {
      return this.#toRing(footprint.ring) <= this.#radiusMetres + LEAST_SLACK_METRES;
    }
    const limit = this.#radiusMetres + footprint.radiusMetres + LEAST_SLACK_METRES;
    const chord = chordMetres(place, this.#centre);
    if (chord > limit + ROUNDING_METRES) return false;
    if (longestArcMetres(chord) + ROUNDING_METRES <= limit) return true;
    return geodesicMetres(place, this.#centre) <= limit;
  }

  distanceMetres(footprint: Footprint, place: Place): number {
    const apart = footprint.ring === undefined ? this.#toPlace(place) : this.#toRing(footprint.ring);
    const metres = apart - this.#radiusMetres - footprint.radiusMetres;
    return this.touches(footprint, place) ? 0 : Math.max(metres, LEAST_SLACK_METRES);
  }

  depthMetres(footprint: Footprint, place: Place): number {
    let nearest = this.#toPlace(place);
    const { ring } = footprint;
    for (let i = 0; ring !== undefined && i < ring.length; i += 2) {
      vertex.set(ring[i]!, ring[i + 1]!);
      nearest = Math.min(nearest, this.#toPlace(vertex));
    }
    const metres = this.#radiusMetres - nearest + footprint.radiusMetres;
    return this.touches(footprint, place) ? Math.max(metres, 0) : Math.min(metres, -LEAST_SLACK_METRES);
  }

  destroy(): void {}

  /** Metres from the centre, to 1 µm. Between its bounds, chord and longest arc, the geodesic is found only if need be. */
  #toPlace(place: Place): number {
    const chord = chordMetres(place, this.#centre);
    return longestArcMetres(chord) - chord < 1e-6 ? chord : geodesicMetres(place, this.#centre);
  }

  #toRing(ring: Float64Array): number {
    return ringCovers(ring, this.#centre) ? 0 : new EdgeChain([ring]).nearest(this.#centre, Number.POSITIVE_INFINITY);
  }
}

/** Rounding of chords of places on the earth, generously. */
const ROUNDING_METRES = 1e-8;

const vertex = new Place();
