import Type, { type Static } from 'typebox';
import { LineString, Point, Polygon } from './geojson.ts';
import { Location } from './location.ts';
import { Maybe, Named, OneOf, Properties, Time } from './schema.ts';

const time = Time('RFC 3339 date and time.');

/** An object entered or left a fence. Exactly one of provider_id and trackable_id names the object. */
export const FenceEvent = Named('FenceEvent', {
  id: Type.String({ description: 'Id of the event.' }),
  fence_id: Type.String({ description: 'Id of the fence.' }),
  event_type: OneOf(['region_entry', 'region_exit'], 'What happened.'),
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
  extrusion: Maybe(Type.Number({ description: 'Height of the trackable in metres.' })),
  geometry: Maybe(Type.Union([Point, Polygon], { description: 'Its shape on the earth; a point without extent.' })),
  location: Location,
  properties: Maybe(Properties),
});
export type TrackableMotion = Static<typeof TrackableMotion>;

/** One of the two trackables of a collision. */
export const Collision = Named('Collision', {
  id: Type.String({ description: 'Id of the trackable.' }),
  object_type: Type.Literal('trackable', { description: 'Always trackable.' }),
  position: Point,
  geometry: Type.Union([Point, Polygon], { description: 'Its shape on the earth.' }),
  floor: Type.Number({ description: 'The floor that it is on.' }),
});
export type Collision = Static<typeof Collision>;

/** What may happen between two trackables. */
export const COLLISION_TYPES = ['collision_start', 'colliding', 'collision_end'] as const;

/** Two trackables touch. The first of `collisions` is the one that moved. */
export const CollisionEvent = Named('CollisionEvent', {
  id: Type.String({ description: 'Id of the event.' }),
  collision_type: OneOf(COLLISION_TYPES, 'What happened.'),
  start_time: time,
  collision_time: Maybe(time),
  end_time: Maybe(time),
  collisions: Type.Array(Collision, { minItems: 2, maxItems: 2, description: 'The one that moved, and the other.' }),
  collision_area: Maybe(Type.Union([LineString, Point])),
  center_distance: Type.Number({ description: 'Distance of the two positions in metres.' }),
});
export type CollisionEvent = Static<typeof CollisionEvent>;

/** An entity was created, updated or deleted. */
export const ChangeEvent = Named('ChangeEvent', {
  timestamp: time,
  event_type: OneOf(['create', 'update', 'delete'], 'What happened.'),
  id: Type.String({ description: 'Id of the entity.' }),
  object: Type.Object({ id: Type.String() }, { description: 'The entity; for a deletion its id alone.' }),
});
export type ChangeEvent = Static<typeof ChangeEvent>;
