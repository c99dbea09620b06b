import { start, step } from '../../src/core/tracking/filter.ts';
import { resolvedFilter } from '../../src/core/tracking/filter_settings.ts';
import { MovingPlane } from '../../src/core/tracking/moving_plane.ts';
import { emptyTrack, LAT, LON } from '../../src/core/tracking/track.ts';
import type { Filter } from '../../src/model/filter.ts';
import { SIGMA_METERS, type TrueFix } from './uwb_track.ts';

/** An estimate after a fix, in meters; `isAccepted` is false if the filter rejected the fix. */
export interface Estimate {
  readonly east: number;
  readonly north: number;
  readonly isAccepted: boolean;
}

/** A filter of one track. */
export type PlaneFilter = (fix: TrueFix) => Estimate;

/** No filter. */
export function raw(): PlaneFilter {
  return ({ east, north }) => ({ east, north, isAccepted: true });
}

/** The filter of this hub, at 50 degrees north. */
export function cv(members: Filter = {}): PlaneFilter {
  const settings = resolvedFilter([members, { kind: 'cv' }]);
  const [track, plane] = [emptyTrack(), new MovingPlane()];
  let lastMs: number | undefined;
  return (fix) => {
    plane.touch(8, 50);
    plane.toEarth(fix.east, fix.north);
    const [lon, lat] = plane.position;
    const seen = { lon, lat, z: Number.NaN, isZFromEllipsoid: false, floor: 0, accuracy: SIGMA_METERS };
    let isAccepted = true;
    if (lastMs === undefined) start(track, seen, settings);
    else isAccepted = step(track, seen, fix.ms - lastMs, settings) !== 'outlier';
    lastMs = fix.ms;
    plane.measure(track[LON] as number, track[LAT] as number);
    return { east: plane.east, north: plane.north, isAccepted };
  };
}

/**
 * A scalar Kalman filter for each axis, without velocity and without gate, as Open Location Hub describes its own. It
 * does not publish its process variance, in m² per fix.
 */
export function perAxis(processVariance: number): PlaneFilter {
  let [east, north, variance] = [0, 0, -1];
  return (fix) => {
    if (variance < 0) [east, north, variance] = [fix.east, fix.north, SIGMA_METERS ** 2];
    else {
      variance += processVariance;
      const gain = variance / (variance + SIGMA_METERS ** 2);
      east += gain * (fix.east - east);
      north += gain * (fix.north - north);
      variance *= 1 - gain;
    }
    return { east, north, isAccepted: true };
  };
}
