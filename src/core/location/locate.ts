import { formatTime } from '../../model/time.ts';
import type { Zone } from '../../model/zone.ts';
import type { OwnTiming } from '../fence/timing.ts';
import type { AcceptedLocation } from '../item.ts';
import type { Place } from '../state.ts';
import { projection } from '../zone/crs.ts';
import { roundDegrees } from '../zone/round.ts';
import type { PlaneTransform } from '../zone/transform.ts';
import { zoneTransform } from '../zone/zone_transform.ts';
import { speedAndCourse } from './speed_and_course.ts';

const scratch: [number, number] = [0, 0];

/** A location as it is received. */
export interface Received {
  readonly seq: number;
  readonly location: AcceptedLocation;
  readonly generatedMs: number;
  readonly receivedMs: number;
}

/** What a location is located with. */
export interface Surroundings {
  /** The zone that the location's source names, if any. */
  readonly zone: Zone | undefined;
  /** Ids of the trackables that the provider is assigned to. */
  readonly trackables: string[];
  /** What the provider sets. */
  readonly timing: OwnTiming;
  /** Where the provider was before. */
  readonly previous: Place | undefined;
}

/**
 * Places an accepted location on the earth and fills in what it leaves open: timestamp_generated (the time of
 * receipt), floor (the zone's, else 0), elevation_ref (floor), speed and course (from the provider's previous place).
 * Returns undefined when its coordinates have no place: their zone is gone, has lost its transform, or has moved away.
 */
// hot
export function locate(received: Received, { zone, trackables, timing, previous }: Surroundings): Place | undefined {
  const { seq, location, generatedMs, receivedMs } = received;
  const { coordinates } = location.position;
  const z = coordinates[2];
  let { position } = location;
  if (location.crs !== 'EPSG:4326') {
    const plane = planeOfInput(location.crs, zone);
    if (plane === undefined) return undefined;
    plane.toWgs84(coordinates[0] as number, coordinates[1] as number, scratch);
    if (!Number.isFinite(scratch[0]) || !Number.isFinite(scratch[1])) return undefined;
    const lonLat = [roundDegrees(scratch[0]), roundDegrees(scratch[1])];
    position = { type: 'Point', coordinates: z === undefined ? lonLat : [...lonLat, z] };
  }
  const floor = location.floor ?? zone?.floor ?? 0;
  const served: AcceptedLocation = {
    ...location,
    position,
    crs: 'EPSG:4326',
    trackables,
    timestamp_generated: location.timestamp_generated ?? formatTime(generatedMs),
    floor,
    elevation_ref: location.elevation_ref ?? 'floor',
  };
  const place: Place = {
    seq,
    lon: position.coordinates[0] as number,
    lat: position.coordinates[1] as number,
    z,
    floor,
    zone,
    keyMs: Math.min(generatedMs, receivedMs),
    receivedMs,
    timing,
    location: served,
    local: location.crs === 'local' ? coordinates : undefined,
    text: undefined,
  };
  if (previous !== undefined) fillInMovement(served, previous, place);
  return place;
}

function planeOfInput(crs: string, zone: Zone | undefined): PlaneTransform | undefined {
  if (crs !== 'local') return projection(crs);
  return zone === undefined ? undefined : zoneTransform(zone);
}

function fillInMovement(served: AcceptedLocation, from: Place, to: Place): void {
  if (served.speed != null && served.course != null) return;
  const { speed, course } = speedAndCourse(from, to);
  if (served.speed == null && speed !== undefined) served.speed = round(speed);
  // What rounds up to a full turn is north.
  if (served.course == null && course !== undefined) served.course = round(course) % 360;
}

/** Derived speeds and courses have no meaning beyond a ten thousandth of a metre per second, or degree. */
function round(value: number): number {
  return Math.round(value * 1e4) / 1e4;
}
