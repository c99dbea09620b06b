import type { Filter, FilterKind } from '../../model/filter.ts';
import type { ProviderType } from '../../model/location.ts';

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

/** Filters that the configuration sets: for all objects, and for those with providers of a type. */
export interface FilterDefaults {
  readonly all: Filter | undefined;
  readonly types: Readonly<Partial<Record<ProviderType, Filter>>>;
}

/** Default of `gate`: 99.9 % of the locations with the stated accuracy pass (chi-square, two degrees of freedom). */
export const DEFAULT_GATE = 13.8;

/** Returns the settings of an object. Of each member the first level that sets it counts: the most specific is first. */
export function resolvedFilter(levels: readonly (Filter | null | undefined)[]): FilterSettings {
  const first = <K extends keyof Filter>(name: K): NonNullable<Filter[K]> | undefined => {
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
