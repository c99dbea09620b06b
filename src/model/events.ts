import Type, { type Static } from 'typebox';
import { LineString, Point, Polygon } from './geojson.ts';
import { Location } from './location.ts';
import { Maybe, OneOf, Properties } from './schema.ts';

const Time = Type.String({ description: 'RFC 3339 date and time.' });

/** An object entered or left a fence. Exactly one of provider_id and trackable_id names the object. */
export const FenceEvent = Type.Object({
  id: Type.String(),
  fence_id: Type.String(),
  event_type: OneOf(['region_entry', 'region_exit'], 'What happened.'),
  provider_id: Maybe(Type.String()),
  trackable_id: Maybe(Type.String()),
  trackables: Maybe(Type.Array(Type.String())),
  foreign_id: Maybe(Type.String()),
  entry_time: Maybe(Time),
  exit_time: Maybe(Time),
  properties: Maybe(Properties),
});
export type FenceEvent = Static<typeof FenceEvent>;

/** The movement of a trackable, with its shape on the map. */
export const TrackableMotion = Type.Object({
  id: Type.String(),
  name: Maybe(Type.String()),
  extrusion: Maybe(Type.Number()),
  geometry: Maybe(Type.Union([Point, Polygon])),
  location: Location,
  properties: Maybe(Properties),
});
export type TrackableMotion = Static<typeof TrackableMotion>;

/** One of the two trackables of a collision. */
export const Collision = Type.Object({
  id: Type.String(),
  object_type: Type.Literal('trackable'),
  position: Point,
  geometry: Type.Union([Point, Polygon]),
  floor: Type.Number(),
});
export type Collision = Static<typeof Collision>;

/** What may happen between two trackables. */
export const COLLISION_TYPES = ['collision_start', 'colliding', 'collision_end'] as const;

/** Two trackables touch. The first of `collisions` is the one that moved. */
export const CollisionEvent = Type.Object({
  id: Type.String(),
  collision_type: OneOf(COLLISION_TYPES, 'What happened.'),
  start_time: Time,
  collision_time: Maybe(Time),
  end_time: Maybe(Time),
  collisions: Type.Array(Collision, { minItems: 2, maxItems: 2 }),
  collision_area: Maybe(Type.Union([LineString, Point])),
  center_distance: Type.Number({ description: 'Metres.' }),
});
export type CollisionEvent = Static<typeof CollisionEvent>;

/** An entity was created, updated or deleted. */
export const ChangeEvent = Type.Object({
  timestamp: Time,
  event_type: OneOf(['create', 'update', 'delete'], 'What happened.'),
  id: Type.String(),
  object: Type.Object({ id: Type.String() }, { description: 'The entity; for a deletion its id alone.' }),
});
export type ChangeEvent = Static<typeof ChangeEvent>;
