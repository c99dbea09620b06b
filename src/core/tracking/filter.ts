// hot: runs for each filtered location
import type { FilterSettings } from './filter_settings.ts';
import { MovingPlane } from './moving_plane.ts';
import {
  AGE,
  CANDIDATE,
  CANDIDATES,
  COURSE,
  EAST,
  FLAGS,
  FLOOR,
  LAT,
  LON,
  MAIN,
  NEXT_FLOOR,
  NEXT_FLOOR_AGE,
  NORTH,
  OUTLIER,
  P11,
  P12,
  P22,
  setFlag,
  STILL_UNKNOWN,
  TOO_FAST,
  type Track,
  Z,
  Z_AGE,
  Z_FROM,
  Z_VARIANCE,
} from './track.ts';

/**
 * Filter of positions: a Kalman filter for motion at constant velocity with random accelerations, in a tangent plane
 * that moves with the object (Bar-Shalom, Li, Kirubarajan: Estimation with Applications to Tracking and Navigation,
 * 2001, sections 5.2 and 6.3.2: discrete white noise acceleration).
 *
 * A fix is an outlier if its normalized innovation squared exceeds the gate (5.4), or if the object would have had to
 * move faster than its maximum speed. Outliers do not change the track. They feed a candidate, which is a track of the
 * same kind: each outlier either agrees with the candidate or starts it again. A candidate of enough consecutive
 * outliers replaces the track. So a single wrong position is ignored, and an object that is elsewhere is found there.
 *
 * The height is filtered apart, as a random walk. The floor changes once it was reported for long enough.
 *
 * No step allocates memory, and the result depends on nothing but its arguments.
 */

/** A located fix. Unknown numbers are NaN. */
export interface Sighting {
  readonly lon: number;
  readonly lat: number;
  /** Meters, above the floor or the ellipsoid. */
  readonly z: number;
  readonly isZFromEllipsoid: boolean;
  readonly floor: number;
  /** As sent, in meters: may be zero, negative, absurd or NaN. */
  readonly accuracy: number;
}

/** Result of a step. `late`: the fix is too old for the filter, which ignores it. */
export type Verdict = 'accepted' | 'started' | 'outlier' | 'late';

/** Accuracies are limited to this range, in meters: a smaller one would make every other location an outlier. */
const [ACCURACY_MIN, ACCURACY_MAX] = [0.01, 100_000] as const;
/** Standard deviation of the velocity at the start, in m/s, without a maximum speed: faster than most airplanes fly. */
const START_SPEED = 100;
/** Factor by which noise may exceed its standard deviation before it counts as movement. */
const NOISE_FACTOR = 3;
/** Distance from the plane beyond which a fix has no meaningful position in it, in meters. */
const REACH_METERS = 1_000_000;

const plane = new MovingPlane();

/** Returns the variance in m² of a fix with this accuracy. */
export function varianceOf(accuracy: number, { defaultAccuracyMeters }: FilterSettings): number {
  const sigma = accuracy > 0 ? accuracy : defaultAccuracyMeters;
  const limited = Math.min(Math.max(sigma, ACCURACY_MIN), ACCURACY_MAX);
  return limited * limited;
}

/** Starts the track at a fix, with unknown velocity. Of its earlier state only the flag FUSED remains. */
export function start(track: Track, seen: Sighting, settings: FilterSettings): void {
  const flags = track[FLAGS] as number;
  track.fill(0);
  track[FLAGS] = flags;
  startMotion(track, MAIN, seen, settings);
  startHeight(track, seen, settings);
  track[FLOOR] = seen.floor;
  track[NEXT_FLOOR] = Number.NaN;
  track[COURSE] = Number.NaN;
  setFlag(track, OUTLIER, false);
  setFlag(track, STILL_UNKNOWN, true);
}

/**
 * Advances the track to a fix. `elapsedMs` is the event time of the fix minus that of the last one; it is negative only
 * if several providers feed the track.
 */
export function step(track: Track, seen: Sighting, elapsedMs: number, settings: FilterSettings): Verdict {
  const ageMs = (track[AGE] as number) + elapsedMs;
  if (ageMs < -settings.maxGapMs) return 'late';
  passTime(track, elapsedMs);
  if (ageMs > settings.maxGapMs) {
    start(track, seen, settings);
    return 'started';
  }
  const outcome = update(track, MAIN, seen, settings);
  if (outcome === 'accepted') {
    track[CANDIDATES] = 0;
    settle(track, seen, settings);
    setFlag(track, STILL_UNKNOWN, false);
    return 'accepted';
  }
  if (!isConfirmed(track, seen, settings)) {
    setFlag(track, OUTLIER, true);
    setFlag(track, TOO_FAST, outcome === 'too_fast');
    return 'outlier';
  }
  for (let i = LON; i <= AGE; i++) track[MAIN + i] = track[CANDIDATE + i] as number;
  setFlag(track, STILL_UNKNOWN, (track[CANDIDATES] as number) < 2);
  track[CANDIDATES] = 0;
  track[Z] = Number.NaN;
  settle(track, seen, settings);
  return 'started';
}

/** Sets the ages back by `elapsedMs`: the last fix remains the one that they count from. */
export function rebase(track: Track, elapsedMs: number): void {
  passTime(track, -elapsedMs);
}

function passTime(track: Track, elapsedMs: number): void {
  track[AGE] = (track[AGE] as number) + elapsedMs;
  track[CANDIDATE + AGE] = (track[CANDIDATE + AGE] as number) + elapsedMs;
  track[Z_AGE] = (track[Z_AGE] as number) + elapsedMs;
  track[NEXT_FLOOR_AGE] = (track[NEXT_FLOOR_AGE] as number) + elapsedMs;
}

function startMotion(track: Track, at: number, seen: Sighting, settings: FilterSettings): void {
  const speed = settings.maxSpeed ?? START_SPEED;
  track[at + LON] = seen.lon;
  track[at + LAT] = seen.lat;
  track[at + EAST] = 0;
  track[at + NORTH] = 0;
  track[at + P11] = varianceOf(seen.accuracy, settings);
  track[at + P12] = 0;
  track[at + P22] = speed * speed;
  track[at + AGE] = 0;
}

/** Adds an outlier to the candidate. Returns whether the candidate now has enough of them. */
function isConfirmed(track: Track, seen: Sighting, settings: FilterSettings): boolean {
  const count = track[CANDIDATES] as number;
  const isLost = (track[CANDIDATE + AGE] as number) > settings.maxGapMs;
  if (count > 0 && !isLost && update(track, CANDIDATE, seen, settings) === 'accepted') track[CANDIDATES] = count + 1;
  else {
    startMotion(track, CANDIDATE, seen, settings);
    track[CANDIDATES] = 1;
  }
  return (track[CANDIDATES] as number) >= settings.resetAfter;
}

/** Moves a motion to a fix. Changes nothing if the fix is an outlier, and returns why. */
function update(
  track: Track,
  at: number,
  seen: Sighting,
  settings: FilterSettings,
): 'accepted' | 'too_fast' | 'beyond_gate' {
  const seconds = (track[at + AGE] as number) / 1000;
  const vEast = track[at + EAST] as number;
  const vNorth = track[at + NORTH] as number;
  let p11 = track[at + P11] as number;
  let p12 = track[at + P12] as number;
  let p22 = track[at + P22] as number;
  let noise = varianceOf(seen.accuracy, settings);
  plane.touch(track[at + LON] as number, track[at + LAT] as number);
  plane.measure(seen.lon, seen.lat);
  let { east, north } = plane;
  if (isTooFast(seconds, p11 + noise, settings)) return 'too_fast';
  // Prediction, or for a fix from before the state its position at the time of the state.
  let eastNow = 0;
  let northNow = 0;
  if (seconds >= 0) {
    const acceleration = settings.processNoise * settings.processNoise;
    const squared = seconds * seconds;
    eastNow = vEast * seconds;
    northNow = vNorth * seconds;
    p11 += 2 * seconds * p12 + squared * p22 + (acceleration * squared * squared) / 4;
    p12 += seconds * p22 + (acceleration * squared * seconds) / 2;
    p22 += acceleration * squared;
  } else {
    east -= vEast * seconds;
    north -= vNorth * seconds;
    noise += p22 * seconds * seconds;
  }
  const eastOff = east - eastNow;
  const northOff = north - northNow;
  const { above } = plane;
  const variance = p11 + noise;
  const off = eastOff * eastOff + northOff * northOff + above * above;
  if (!(off <= settings.gate * variance && off < REACH_METERS * REACH_METERS)) return 'beyond_gate';
  const gain = p11 / variance;
  const velocityGain = p12 / variance;
  plane.toEarth(eastNow + gain * eastOff, northNow + gain * northOff);
  const turn = plane.turn();
  const sin = Math.sin(turn);
  const cos = Math.cos(turn);
  const eastAfter = vEast + velocityGain * eastOff;
  const northAfter = vNorth + velocityGain * northOff;
  const { position } = plane;
  track[at + LON] = position[0];
  track[at + LAT] = position[1];
  track[at + EAST] = eastAfter * cos + northAfter * sin;
  track[at + NORTH] = northAfter * cos - eastAfter * sin;
  // (1 - gain) without cancellation.
  const left = noise / variance;
  track[at + P11] = left * p11;
  track[at + P12] = left * p12;
  track[at + P22] = Math.max(0, p22 - velocityGain * p12);
  if (seconds >= 0) track[at + AGE] = 0;
  return 'accepted';
}

/** Whether the measured position is farther away than the object could move, by more than noise explains. */
function isTooFast(seconds: number, variance: number, { maxSpeed }: FilterSettings): boolean {
  if (maxSpeed === undefined) return false;
  const meters = Math.sqrt(plane.east * plane.east + plane.north * plane.north + plane.above * plane.above);
  return meters - NOISE_FACTOR * Math.sqrt(variance) > maxSpeed * Math.abs(seconds);
}

/** Takes height, floor and course from an accepted fix. */
function settle(track: Track, seen: Sighting, settings: FilterSettings): void {
  setFlag(track, OUTLIER, false);
  settleFloor(track, seen, settings);
  settleHeight(track, seen, settings);
  const east = track[EAST] as number;
  const north = track[NORTH] as number;
  // The direction of a velocity below its own standard deviation is noise.
  if (east * east + north * north > (track[P22] as number)) {
    track[COURSE] = (Math.atan2(east, north) * 180) / Math.PI;
  }
}

function settleFloor(track: Track, { floor }: Sighting, { floorHoldMs }: FilterSettings): void {
  if (floor === track[FLOOR]) {
    track[NEXT_FLOOR] = Number.NaN;
    return;
  }
  if (floor !== track[NEXT_FLOOR]) {
    track[NEXT_FLOOR] = floor;
    track[NEXT_FLOOR_AGE] = 0;
  }
  if ((track[NEXT_FLOOR_AGE] as number) < floorHoldMs) return;
  track[FLOOR] = floor;
  track[NEXT_FLOOR] = Number.NaN;
  // Heights above another floor do not continue.
  if (track[Z_FROM] === 0) track[Z] = Number.NaN;
}

function startHeight(track: Track, seen: Sighting, settings: FilterSettings): void {
  track[Z] = seen.z;
  track[Z_VARIANCE] = varianceOf(seen.accuracy, settings);
  track[Z_AGE] = 0;
  track[Z_FROM] = seen.isZFromEllipsoid ? 1 : 0;
}

/** Random walk: the height changes by the process noise times the elapsed time, once a second. */
function settleHeight(track: Track, seen: Sighting, settings: FilterSettings): void {
  // A height above a floor that the object has not changed to yet.
  if (!Number.isNaN(track[NEXT_FLOOR] as number) && !seen.isZFromEllipsoid) return;
  const isSame = track[Z_FROM] === (seen.isZFromEllipsoid ? 1 : 0);
  const before = track[Z] as number;
  if (!isSame || Number.isNaN(before) || Number.isNaN(seen.z)) {
    startHeight(track, seen, settings);
    return;
  }
  const drift = (settings.processNoise * Math.max(0, track[Z_AGE] as number)) / 1000;
  const variance = (track[Z_VARIANCE] as number) + drift * drift;
  const gain = variance / (variance + varianceOf(seen.accuracy, settings));
  track[Z] = before + gain * (seen.z - before);
  track[Z_VARIANCE] = (1 - gain) * variance;
  track[Z_AGE] = 0;
}
