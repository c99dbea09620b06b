import { formatTime } from '../../model/time.ts';
import type { Zone } from '../../model/zone.ts';
import type { AcceptedLocation } from '../item.ts';
import type { Place } from '../state.ts';
import { projection } from '../zone/crs.ts';
import { roundDegrees } from '../zone/round.ts';
import type { PlaneTransform } from '../zone/transform.ts';
import { zoneTransform } from '../zone/zone_transform.ts';
import { speedAndCourse } from './speed_and_course.ts';

const scratch: [number, number] = [0, 0];

/** What a location is located with. */
export interface Surroundings {
  /** The zone that the location's source names, if any. */
  readonly zone: Zone | undefined;
  /** Ids of the trackables that the provider is assigned to. */
  readonly trackables: string[];
  /** Where the provider was before. */
  readonly previous: Place | undefined;
}

/**
 * Places an accepted location on the earth and fills in what it leaves open: timestamp_generated (the time of
 * receipt), floor (the zone's, else 0), elevation_ref (floor), speed and course (from the provider's previous place).
 * Returns undefined when its coordinates have no place: their zone is gone, has lost its transform, or has moved away.
 */
export function locate(
  location: AcceptedLocation,
  times: { readonly receivedMs: number; readonly generatedMs: number },
  around: Surroundings,
): Place | undefined {
  const { coordinates } = location.position;
  const z = coordinates[2];
  const { zone, previous } = around;
  let { position } = location;
  if (location.crs !== 'EPSG:4326') {
    const plane = planeOfInput(location.crs, zone);
    if (plane === undefined) return undefined;
    plane.toWgs84(coordinates[0] as number, coordinates[1] as number, scratch);
    if (!Number.isFinite(scratch[0]) || !Number.isFinite(scratch[1])) return undefined;
    const lonLat = [roundDegrees(scratch[0]), roundDegrees(scratch[1])];
    position = { type: 'Point', coordinates: z === undefined ? lonLat : [...lonLat, z] };
  }
  const lon = position.coordinates[0] as number;
  const lat = position.coordinates[1] as number;
  const keyMs = Math.min(times.generatedMs, times.receivedMs);
  const floor = location.floor ?? zone?.floor ?? 0;
  const { speed, course } = moving(location, previous, { lon, lat, keyMs });
  const served: AcceptedLocation = {
    ...location,
    position,
    crs: 'EPSG:4326',
    trackables: around.trackables,
    timestamp_generated: location.timestamp_generated ?? formatTime(times.generatedMs),
    floor,
    elevation_ref: location.elevation_ref ?? 'floor',
  };
  if (speed !== undefined) served.speed = speed;
  if (course !== undefined) served.course = course;
  const local = location.crs === 'local' ? coordinates : undefined;
  return { lon, lat, z, floor, zone, keyMs, receivedMs: times.receivedMs, location: served, local, text: undefined };
}

function planeOfInput(crs: string, zone: Zone | undefined): PlaneTransform | undefined {
  if (crs !== 'local') return projection(crs);
  return zone === undefined ? undefined : zoneTransform(zone);
}

function moving(
  location: AcceptedLocation,
  previous: Place | undefined,
  here: { readonly lon: number; readonly lat: number; readonly keyMs: number },
): { speed: number | undefined; course: number | undefined } {
  const speed = location.speed ?? undefined;
  const course = location.course ?? undefined;
  if (previous === undefined || (speed !== undefined && course !== undefined)) return { speed, course };
  const derived = speedAndCourse(previous, here);
  return { speed: speed ?? derived.speed, course: course ?? derived.course };
}
