import { distanceAndBearing } from '../geo/geodesic.ts';

/** Where an object was, and when: the order key of its location. */
export interface Sighting {
  readonly lon: number;
  readonly lat: number;
  readonly keyMs: number;
}

export interface Movement {
  /** Metres per second. */
  readonly speed: number | undefined;
  /** Degrees clockwise from true north, 0 to below 360. */
  readonly course: number | undefined;
}

const UNKNOWN: Movement = { speed: undefined, course: undefined };
const STILL: Movement = { speed: 0, course: undefined };

const scratch: [number, number] = [0, 0];

/** Mean speed and initial course between two sightings. Both are unknown when no time has passed. */
export function speedAndCourse(from: Sighting, to: Sighting): Movement {
  // hot
  const seconds = (to.keyMs - from.keyMs) / 1000;
  if (!(seconds > 0)) return UNKNOWN;
  if (from.lon === to.lon && from.lat === to.lat) return STILL;
  distanceAndBearing(from.lon, from.lat, to.lon, to.lat, scratch);
  const [metres, course] = scratch;
  // The two longitudes of the antimeridian, and all of a pole, are the same place.
  if (metres === 0) return STILL;
  return { speed: metres / seconds, course };
}
