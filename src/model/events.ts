import Type, { type Static } from 'typebox';
import { LineStringOrPoint, Point, PointOrPolygon } from './geojson.ts';
import { Location } from './location.ts';
import { Maybe, Named, OneOf, Properties, Time } from './schema.ts';

const time = Time('RFC 3339 date and time.');

const FenceEventType = OneOf(['region_entry', 'region_exit'], {
  title: 'FenceEventType',
  description: 'Whether the object entered or left the fence.',
});

/**
 * An object entered or left a fence. Exactly one of provider_id and trackable_id names the object; neither if the
 * reader may not see it.
 */
export const FenceEvent = Named('FenceEvent', {
  id: Type.String({ description: 'Id of the event.' }),
  fence_id: Type.String({ description: 'Id of the fence.' }),
  event_type: FenceEventType,
  provider_id: Maybe(Type.String({ description: 'The provider that entered or left; null for a trackable.' })),
  trackable_id: Maybe(Type.String({ description: 'The trackable that entered or left; null for a provider.' })),
  trackables: Maybe(Type.Array(Type.String(), { description: 'Ids of the trackables of the object.' })),
  foreign_id: Maybe(Type.String({ description: 'foreign_id of the fence.' })),
  entry_time: Maybe(time),
  exit_time: Maybe(time),
  properties: Maybe(Properties),
});
export type FenceEvent = Static<typeof FenceEvent>;

/** The movement of a trackable, with its shape on the map. */
export const TrackableMotion = Named('TrackableMotion', {
  id: Type.String({ description: 'Id of the trackable.' }),
  name: Maybe(Type.String({ description: 'Name of the trackable.' })),
  extrusion: Maybe(Type.Number({ description: 'Height of the trackable in meters.' })),
  geometry: Type.Optional(PointOrPolygon),
  location: Location,
  properties: Maybe(Properties),
});
export type TrackableMotion = Static<typeof TrackableMotion>;

/** One of the two trackables of a collision. */
export const Collision = Named('Collision', {
  id: Type.String({
    description: 'Id of the trackable; empty, without other members, if the reader may not see it.',
  }),
  object_type: Type.Literal('trackable', { description: 'Always trackable.' }),
  position: Type.Optional(Point),
  geometry: Type.Optional(PointOrPolygon),
  floor: Type.Optional(Type.Number({ description: 'The floor that it is on.' })),
});
export type Collision = Static<typeof Collision>;

/** Phases of a collision between two trackables. */
export const COLLISION_TYPES = ['collision_start', 'colliding', 'collision_end'] as const;

const CollisionType = OneOf(COLLISION_TYPES, {
  title: 'CollisionType',
  description: 'What happened between two trackables.',
});

/** Two trackables touch. The first of `collisions` is the one that moved. */
export const CollisionEvent = Named('CollisionEvent', {
  id: Type.String({ description: 'Id of the event.' }),
  collision_type: CollisionType,
  start_time: time,
  collision_time: Maybe(time),
  end_time: Maybe(time),
  collisions: Type.Array(Collision, { minItems: 2, maxItems: 2, description: 'The one that moved, and the other.' }),
  collision_area: Maybe(LineStringOrPoint),
  center_distance: Type.Number({ description: 'Distance of the two positions in meters.' }),
});
export type CollisionEvent = Static<typeof CollisionEvent>;

/** Kinds of changes of an entity. */
export const CHANGE_TYPES = ['create', 'update', 'delete'] as const;

const ChangeType = OneOf(CHANGE_TYPES, {
  title: 'ChangeType',
  description: 'What happened to an entity.',
});

/** An entity was created, updated or deleted. */
export const ChangeEvent = Named('ChangeEvent', {
  timestamp: time,
  event_type: ChangeType,
  id: Type.String({ description: 'Id of the entity.' }),
  object: Type.Object({ id: Type.String() }, { description: 'The entity; for a deletion its id alone.' }),
});
export type ChangeEvent = Static<typeof ChangeEvent>;
