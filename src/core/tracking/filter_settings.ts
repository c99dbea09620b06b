/** Settings of the filter of an object, all set. */
export interface FilterSettings {
  readonly kind: FilterKind;
  /** Standard deviation in meters, per axis, of locations without a usable accuracy. */
  readonly defaultAccuracyMeters: number;
  /** Standard deviation of the acceleration, in m/s². */
  readonly processNoise: number;
  /** Maximum normalized innovation squared of a location that is not an outlier. */
  readonly gate: number;
  /** Number of consecutive outliers in agreement after which the filter restarts. */
  readonly resetAfter: number;
  /** Time without accepted locations after which the filter restarts. */
  readonly maxGapMs: number;
  /** Maximum speed of the object in m/s; undefined for any. */
  readonly maxSpeed: number | undefined;
  /** Time for which locations must report another floor until the floor changes. */
  readonly floorHoldMs: number;
  /** Whether the locations of all providers of a trackable feed one filter. */
  readonly fuse: boolean;
}

/** `cv` is a Kalman filter for motion at constant velocity. */
export const FILTER_KINDS = ['none', 'cv'] as const;
export type FilterKind = (typeof FILTER_KINDS)[number];

/** Members of `filter` as an entity or the configuration sets them; null or absent members are not set. */
export interface FilterMembers {
  readonly kind?: FilterKind | null | undefined;
  readonly default_accuracy?: number | null | undefined;
  readonly process_noise?: number | null | undefined;
  readonly gate?: number | null | undefined;
  readonly reset_after?: number | null | undefined;
  readonly max_gap?: number | null | undefined;
  readonly max_speed?: number | null | undefined;
  readonly floor_hold?: number | null | undefined;
  readonly fuse?: boolean | null | undefined;
}

/** Default of `gate`: 99.9 % of the locations with the stated accuracy pass (chi-square, two degrees of freedom). */
export const DEFAULT_GATE = 13.8;

/** Returns the settings of an object. Of each member the first level that sets it counts: the most specific is first. */
export function resolvedFilter(levels: readonly (FilterMembers | null | undefined)[]): FilterSettings {
  const first = <K extends keyof FilterMembers>(name: K): NonNullable<FilterMembers[K]> | undefined => {
    for (const level of levels) {
      const value = level?.[name];
      if (value != null) return value;
    }
    return undefined;
  };
  return {
    kind: first('kind') ?? 'none',
    defaultAccuracyMeters: first('default_accuracy') ?? 0.5,
    processNoise: first('process_noise') ?? 1,
    gate: first('gate') ?? DEFAULT_GATE,
    resetAfter: first('reset_after') ?? 3,
    maxGapMs: first('max_gap') ?? 5000,
    maxSpeed: first('max_speed'),
    floorHoldMs: first('floor_hold') ?? 0,
    fuse: first('fuse') ?? false,
  };
}
