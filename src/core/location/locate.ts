import type { Zone } from '../../model/zone.ts';
import type { OwnTiming } from '../fence/timing.ts';
import { projection } from '../geo/crs.ts';
import { distanceAndBearing } from '../geo/geodesic.ts';
import { roundDegrees } from '../geo/rounding.ts';
import { zoneTransform } from '../zone/zone_transform.ts';
import type { Place } from './fix.ts';
import type { Places } from './fix_slab.ts';
import type { ReceivedLocation } from './received.ts';
import { orUndefined } from './record.ts';

const scratch: [number, number] = [0, 0];

/** What a location is located with. */
export interface Surroundings {
  readonly providerId: string;
  /** The zone that the location's source names, if any. */
  readonly zone: Zone | undefined;
  /** Ids of the trackables that the provider is assigned to. */
  readonly trackables: readonly string[];
  /** What the provider sets. */
  readonly timing: OwnTiming;
  /** Where the provider was before. */
  readonly previous: Place | undefined;
}

/**
 * Places an accepted location on the earth and finds what it leaves open: floor (the zone's, else 0), speed and course
 * (from the provider's previous place). Returns undefined when its coordinates have no place: their zone is gone, has
 * lost its transform, or has moved away.
 */
// hot
export function locate(location: ReceivedLocation, places: Places, surroundings: Surroundings): Place | undefined {
  const { providerId, zone, trackables, timing, previous } = surroundings;
  const { crs, sentFloor, sentSpeed, sentCourse } = location;
  let lon = location.sentX;
  let lat = location.sentY;
  if (crs !== 'EPSG:4326') {
    const plane = crs === 'local' ? zone && zoneTransform(zone) : projection(crs);
    if (plane === undefined) return undefined;
    plane.toWgs84(lon, lat, scratch);
    if (!Number.isFinite(scratch[0]) || !Number.isFinite(scratch[1])) return undefined;
    lon = roundDegrees(scratch[0]);
    lat = roundDegrees(scratch[1]);
  }
  const keyMs = Math.min(location.generatedMs, location.receivedMs);
  let speed = orUndefined(sentSpeed);
  let course = orUndefined(sentCourse);
  if (previous !== undefined && (speed === undefined || course === undefined)) {
    const moved = speedAndCourse(previous, { lon, lat, keyMs });
    speed ??= rounded(moved.speed);
    // What rounds up to a full turn is north.
    if (course === undefined && moved.course !== undefined) course = round(moved.course) % 360;
  }
  const floor = Number.isNaN(sentFloor) ? (zone?.floor ?? 0) : sentFloor;
  const { source } = location;
  const isLocal = crs === 'local';
  return places.take(
    location,
    { lon, lat, floor, keyMs, speed, course },
    { providerId, source, zone, timing, trackables, isLocal },
  );
}

/**
 * A place whose zone was replaced: what was sent in its metres is where these are now, and everything else stays. The same
 * numbers while the zone is not placed, or does not reach there. Nobody is at it yet.
 */
export function placeInZone(places: Places, place: Place, zone: Zone): Place {
  const plane = place.isLocal ? zoneTransform(zone) : undefined;
  scratch[0] = Number.NaN;
  plane?.toWgs84(place.sentX, place.sentY, scratch);
  const [x, y] = scratch;
  const isPlaced = Number.isFinite(x) && Number.isFinite(y);
  return places.inZone(place, zone, isPlaced ? roundDegrees(x) : place.lon, isPlaced ? roundDegrees(y) : place.lat);
}

function rounded(value: number | undefined): number | undefined {
  return value === undefined ? undefined : round(value);
}

/** Derived speeds and courses have no meaning beyond a ten thousandth of a metre per second, or degree. */
function round(value: number): number {
  return Math.round(value * 1e4) / 1e4;
}

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
