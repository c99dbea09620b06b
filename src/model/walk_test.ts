import Type, { type Static } from 'typebox';
import { Point } from './geojson.ts';
import { OF_HUBS } from './history_replies.ts';
import { ArrayOf, Maybe, Meters, Named, OneOf, Time } from './schema.ts';

/** Maximum numbers of points and passes of a walk test. */
export const [WALK_POINTS_MAX, WALK_PASSES_MAX] = [500, 2000] as const;

/** Distance in meters within which an unmarked point counts as passed. */
export const REACH_METERS = 5;

const WalkPoint = Named('WalkPoint', {
  id: Type.String({ minLength: 1, maxLength: 200, description: 'Id of the point, unique in the walk test.' }),
  position: Point,
  floor: Maybe(Type.Number({ description: 'The floor of the point.' })),
});
export type WalkPoint = Static<typeof WalkPoint>;

/** A time at which the tag was at a point. */
export const WalkPass = Named('WalkPass', {
  point_id: Type.String({ description: 'Id of the point.' }),
  time: Maybe(Time('When the tag was at the point; now if absent.')),
});
export type WalkPass = Static<typeof WalkPass>;

/** A test of the accuracy of positions: a tag is carried past surveyed points. */
export const WalkTest = Named('WalkTest', {
  id: Type.String({ description: 'Id of the walk test. The hub makes it.' }),
  name: Type.String({ minLength: 1, maxLength: 200, description: 'Name for people.' }),
  object_type: OneOf(['trackable', 'provider'], {
    title: 'WalkObjectType',
    description: 'Kind of the object that is carried.',
  }),
  object_id: Type.String({ minLength: 1, maxLength: 1000, description: 'Id of the object that is carried.' }),
  zone_id: Maybe(
    Type.String({ description: 'Id or foreign id of a zone whose anchors are the points of a new test without any.' }),
  ),
  points: Maybe(Type.Array(WalkPoint, { maxItems: WALK_POINTS_MAX, description: 'Surveyed points, in EPSG:4326.' })),
  reach: Meters('Distance within which a point without a mark counts as passed; 5 if absent.'),
  passes: Maybe(Type.Array(WalkPass, { maxItems: WALK_PASSES_MAX, description: 'Marked passes of points.' })),
  started_at: Maybe(Time('Start; when it was created if absent.')),
  ended_at: Maybe(Time('End; absent while it runs.')),
});
export type WalkTest = Static<typeof WalkTest>;

const some = (description: string) => Type.Union([Type.Number(), Type.Null()], { description });

const MeasuredPass = Named('MeasuredPass', {
  point_id: Type.String({ description: 'Id of the point.' }),
  time: Time('When the tag was at the point.'),
  marked: Type.Boolean({ description: 'Whether a person has marked the pass; otherwise it is the nearest approach.' }),
  horizontal_error: some('Meters between point and position; null without a position within 2 s.'),
  vertical_error: some('Meters between the heights; null if one has none.'),
  floor_hit: Type.Union([Type.Boolean(), Type.Null()], {
    description: 'Whether the position has the floor of the point; null if one has none.',
  }),
});

const WalkZone = Named('WalkZone', {
  source: Type.String({ description: 'Source of the positions: the zone.' }),
  seconds: Type.Number({ description: 'Time in which it was the source of the last position.' }),
  availability: Type.Number({ description: 'Share of that time in which the last position was at most 2 s old.' }),
});

/** Figures of a walk test, by ISO/IEC 18305. */
export const WalkResult = Named('WalkResult', {
  ...OF_HUBS,
  id: Type.String({ description: 'Id of the walk test.' }),
  from: Time('Start of the test.'),
  to: Time('End of the test, or now.'),
  positions: Type.Integer({ minimum: 0, description: 'Number of recorded positions.' }),
  mean: some('Mean horizontal error in meters.'),
  rmse: some('Root mean square of the horizontal errors in meters.'),
  ce50: some('Median of the horizontal errors in meters.'),
  ce95: some('95th percentile of the horizontal errors in meters.'),
  ve95: some('95th percentile of the vertical errors in meters.'),
  floor_hit_rate: some('Share of passes with the right floor.'),
  latency_p95: some('95th percentile of the time from measurement to receipt, in milliseconds.'),
  update_rate: some('Positions per second.'),
  availability: some('Share of the time in which the last position was at most 2 s old.'),
  zones: ArrayOf(WalkZone),
  passes: ArrayOf(MeasuredPass),
  missed: Type.Array(Type.String(), { description: 'Ids of the points that were not passed.' }),
});
export type WalkResult = Static<typeof WalkResult>;
