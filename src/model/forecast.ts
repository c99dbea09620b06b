import Type, { type Static } from 'typebox';
import { Point } from './geojson.ts';
import { ArrayOf, Maybe, Named, OneOf, Time } from './schema.ts';

/** Horizon of a forecast in milliseconds: bounds, and the default. */
export const [HORIZON_MIN_MS, HORIZON_MAX_MS, HORIZON_DEFAULT_MS] = [1000, 60_000, 10_000] as const;

/** Forecast of a trackable at one fence. */
const FenceForecast = Named('FenceForecast', {
  fence_id: Type.String({ description: 'The fence.' }),
  event: OneOf(['enter', 'exit', 'stay'], {
    title: 'ForecastEvent',
    description: 'What the trackable will do: enter, exit, or stay inside.',
  }),
  probability: Type.Number({ minimum: 0, maximum: 1, description: 'Probability of that within the horizon.' }),
  time: Maybe(Time('When, if it happens: the median. Absent for a stay.')),
});

/** Forecast of a trackable from its filtered velocity. */
export const TrackableForecast = Named('TrackableForecast', {
  trackable_id: Type.String({ description: 'The trackable.' }),
  timestamp: Time('Time of the forecast.'),
  horizon: Type.Integer({ description: 'Length of the forecast in milliseconds.' }),
  position: Point,
  accuracy: Type.Number({ description: 'Standard deviation of the position per axis, in meters.' }),
  fences: ArrayOf(FenceForecast),
});
export type TrackableForecast = Static<typeof TrackableForecast>;

/** Two trackables are expected to collide. */
export const CollisionForecast = Named('CollisionForecast', {
  trackable_id: Type.String({ description: 'The trackable with the smaller id.' }),
  other_trackable_id: Type.String({ description: 'The other trackable.' }),
  timestamp: Time('Time of the forecast.'),
  time: Time('Time of the closest approach.'),
  distance: Type.Number({ minimum: 0, description: 'Expected distance of the two positions then, in meters.' }),
  probability: Type.Number({ minimum: 0, maximum: 1, description: 'Probability that they touch then.' }),
  position: Point,
  floor: Type.Number({ description: 'The floor of both.' }),
});
export type CollisionForecast = Static<typeof CollisionForecast>;
