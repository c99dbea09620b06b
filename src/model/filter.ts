import Type, { type Static } from 'typebox';
import { Maybe, Named, OneOf } from './schema.ts';

/** `cv` is a Kalman filter for motion at constant velocity. */
const FILTER_KINDS = ['none', 'cv'] as const;
const FilterKind = OneOf(FILTER_KINDS, {
  title: 'FilterKind',
  description: 'Kind of filter: none, or cv for motion at constant velocity.',
});
export type FilterKind = Static<typeof FilterKind>;

/** Longest gap or hold, in milliseconds: an hour. */
const TIME_MAX_MS = 3_600_000;

/**
 * How positions are smoothed. The value of a provider overrides that of its only trackable, that of its type and that
 * of the configuration, member by member; null or absent falls through. core/handlers/filter_location.ts resolves it.
 */
export const Filter = Named('Filter', {
  kind: Maybe(FilterKind),
  default_accuracy: Maybe(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: 100_000,
      description: 'Standard deviation of locations without accuracy, in meters; by default 0.5.',
    }),
  ),
  process_noise: Maybe(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: 1000,
      description: 'Standard deviation of the acceleration, in meters per second squared; by default 1.',
    }),
  ),
  gate: Maybe(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: 1e9,
      description: 'Normalized innovation squared above which a location is an outlier; by default 13.8.',
    }),
  ),
  reset_after: Maybe(
    Type.Integer({
      minimum: 1,
      maximum: 10_000,
      description: 'Consecutive outliers in agreement after which the filter restarts there; by default 3.',
    }),
  ),
  max_gap: Maybe(
    Type.Integer({
      minimum: 0,
      maximum: TIME_MAX_MS,
      description: 'Time without accepted locations after which it restarts, in milliseconds; by default 5000.',
    }),
  ),
  max_speed: Maybe(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: 100_000,
      description: 'Maximum speed, in meters per second: a faster location is an outlier. By default any.',
    }),
  ),
  floor_hold: Maybe(
    Type.Integer({
      minimum: 0,
      maximum: TIME_MAX_MS,
      description: 'Time for which another floor must be reported, in milliseconds; by default 0.',
    }),
  ),
  fuse: Maybe(
    Type.Boolean({
      description: 'Whether all providers of a trackable feed one filter; by default false. No effect on a provider.',
    }),
  ),
});
export type Filter = Static<typeof Filter>;
