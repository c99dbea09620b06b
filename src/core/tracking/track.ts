/**
 * State of the filter of one object (filter.ts): a list of numbers, so that it is copied, stored and sent without
 * conversion. Ages count back from the event time of the object's last fix, in milliseconds, so that they need no
 * conversion when clocks step. NaN stands for unknown.
 */
export type Track = Float64Array;

/**
 * A motion at constant velocity: longitude and latitude in degrees; east and north velocity in m/s; variance of the
 * position in m², covariance of position and velocity in m²/s, variance of the velocity in m²/s². Both axes share the
 * variances, because their noise is equal. Then the age of the state.
 */
export const [LON, LAT, EAST, NORTH, P11, P12, P22, AGE] = [0, 1, 2, 3, 4, 5, 6, 7] as const;
/** Start of the motion that the object has, and of the candidate that outliers suggest. */
export const [MAIN, CANDIDATE] = [0, 8] as const;

/** Number of consecutive outliers that agree with the candidate. */
export const CANDIDATES = 16;
/** Height in meters, its variance in m², its age; and its reference: 0 the floor, 1 the ellipsoid. */
export const [Z, Z_VARIANCE, Z_AGE, Z_FROM] = [17, 18, 19, 20] as const;
/** Floor; the floor that it may change to, and for how long locations have reported that one. */
export const [FLOOR, NEXT_FLOOR, NEXT_FLOOR_AGE] = [21, 22, 23] as const;
/** Course in degrees clockwise from north; NaN while the object has not moved. */
export const COURSE = 24;
/** Sum of the flags below. */
export const FLAGS = 25;

export const TRACK_LENGTH = 26;
export const TRACK_BYTES = 8 * TRACK_LENGTH;

/**
 * OUTLIER: the last fix is an outlier, and the state that of an earlier one. STILL_UNKNOWN: the velocity is unknown,
 * because the track has just started. FUSED: several providers feed the track. TOO_FAST: the outlier exceeds the maximum
 * speed; else it is beyond the gate.
 */
export const [OUTLIER, STILL_UNKNOWN, FUSED, TOO_FAST] = [1, 2, 4, 8] as const;

/** Returns a track without state, to be started. */
export function emptyTrack(): Track {
  return new Float64Array(TRACK_LENGTH);
}

/** Whether the track has a flag. */
// hot
export function hasFlag(track: Track, flag: number): boolean {
  return ((track[FLAGS] as number) & flag) !== 0;
}

/** Sets or clears a flag. */
// hot
export function setFlag(track: Track, flag: number, on: boolean): void {
  const flags = track[FLAGS] as number;
  track[FLAGS] = on ? flags | flag : flags & ~flag;
}
