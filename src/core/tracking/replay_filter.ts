import { type Sighting, start, step } from './filter.ts';
import type { FilterSettings } from './filter_settings.ts';
import { MovingPlane } from './moving_plane.ts';
import { EAST, emptyTrack, hasFlag, LAT, LON, NORTH, STILL_UNKNOWN, TOO_FAST } from './track.ts';

/** A location to replay, with its time of measurement in milliseconds. */
interface ReplayedSighting extends Sighting {
  readonly timeMs: number;
}

/** Result of a filter for one location. */
interface ReplayedStep {
  /** The filtered position. */
  readonly lon: number;
  readonly lat: number;
  /** Member of the filter that the location exceeds; undefined if it is accepted. `late`: it is too old for the filter. */
  readonly rejected: 'gate' | 'max_speed' | 'late' | undefined;
}

/** Figures of a replayed filter. Undefined ones have too few locations. */
export interface ReplayFigures {
  readonly outliers: number;
  /** Standard deviation per axis, in meters, of the irregular part of the accepted and of the filtered positions. */
  readonly rawNoiseMeters: number | undefined;
  readonly noiseMeters: number | undefined;
  /** Mean time in milliseconds by which the filtered positions are behind the accepted ones of a moving object. */
  readonly lagMs: number | undefined;
}

const plane = new MovingPlane();

/**
 * Replays locations of one object, in the order of their receipt, with a filter of these settings. Returns a step for each, and
 * figures. The result depends on nothing else.
 */
export function replayFilter(
  sightings: readonly ReplayedSighting[],
  settings: FilterSettings,
): { readonly steps: readonly ReplayedStep[]; readonly figures: ReplayFigures } {
  const track = emptyTrack();
  const lag = { along: 0, squared: 0 };
  let lastMs: number | undefined;
  const steps = sightings.map((seen): ReplayedStep => {
    if (lastMs === undefined) start(track, seen, settings);
    const verdict = lastMs === undefined ? 'started' : step(track, seen, seen.timeMs - lastMs, settings);
    if (verdict !== 'late') lastMs = seen.timeMs;
    if (verdict === 'accepted' && !hasFlag(track, STILL_UNKNOWN)) {
      const [east, north] = [track[EAST] as number, track[NORTH] as number];
      plane.touch(track[LON] as number, track[LAT] as number);
      plane.measure(seen.lon, seen.lat);
      lag.along += plane.east * east + plane.north * north;
      lag.squared += east * east + north * north;
    }
    const outlier = hasFlag(track, TOO_FAST) ? 'max_speed' : 'gate';
    const rejected = verdict === 'late' ? 'late' : verdict === 'outlier' ? outlier : undefined;
    return { lon: track[LON] as number, lat: track[LAT] as number, rejected };
  });
  const accepted = sightings.filter((_, i) => steps[i]?.rejected === undefined);
  const filtered = steps.filter(({ rejected }) => rejected === undefined);
  return {
    steps,
    figures: {
      outliers: steps.filter(({ rejected }) => rejected === 'gate' || rejected === 'max_speed').length,
      rawNoiseMeters: noiseOf(accepted),
      noiseMeters: noiseOf(filtered),
      lagMs: lag.squared > SPEED_MIN ** 2 * steps.length ? (1000 * lag.along) / lag.squared : undefined,
    },
  };
}

/** Root mean square speed in m/s below which an object has no lag. */
const SPEED_MIN = 0.2;
/** Variance of a second difference of independent errors of variance 1. */
const OF_SECOND_DIFFERENCE = 6;

/** Returns the noise per axis from the second differences, in which an even movement has no part. */
function noiseOf(positions: readonly { readonly lon: number; readonly lat: number }[]): number | undefined {
  if (positions.length < 3) return undefined;
  let sum = 0;
  for (let i = 1; i + 1 < positions.length; i++) {
    const [before, at, after] = positions.slice(i - 1, i + 2) as [
      (typeof positions)[0],
      (typeof positions)[0],
      (typeof positions)[0],
    ];
    plane.touch(at.lon, at.lat);
    plane.measure(before.lon, before.lat);
    const [east, north] = [plane.east, plane.north];
    plane.measure(after.lon, after.lat);
    sum += (east + plane.east) ** 2 + (north + plane.north) ** 2;
  }
  return Math.sqrt(sum / (2 * OF_SECOND_DIFFERENCE * (positions.length - 2)));
}
