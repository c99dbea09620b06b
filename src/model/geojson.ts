import Type, { type Static } from 'typebox';
import { Choice, Named, Properties } from './schema.ts';

function kind<const K extends string>(word: K) {
  return Type.Literal(word, { description: `Always ${word}.` });
}

/** A position: x, y and perhaps z. Longitude, latitude (degrees) and height for EPSG:4326; metres otherwise. */
export const Position = Type.Array(Type.Number(), {
  title: 'Position',
  description: 'x, y and perhaps z: longitude, latitude (degrees) and height (metres) in EPSG:4326, else metres.',
  minItems: 2,
  maxItems: 3,
});

export const Point = Named('Point', { type: kind('Point'), coordinates: Position });
export type Point = Static<typeof Point>;

/** Rings of positions; the first ring is the exterior, the others are holes. */
export const Polygon = Named('Polygon', {
  type: kind('Polygon'),
  coordinates: Type.Array(Type.Array(Position, { minItems: 3 }), { minItems: 1, description: 'The rings.' }),
});
export type Polygon = Static<typeof Polygon>;

export const LineString = Named('LineString', {
  type: kind('LineString'),
  coordinates: Type.Array(Position, { minItems: 2, description: 'The positions in their order.' }),
});
export type LineString = Static<typeof LineString>;

export const PointOrPolygon = Choice([Point, Polygon], {
  title: 'PointOrPolygon',
  description: 'A place without or with an extent.',
  discriminatedBy: 'type',
});

export const LineStringOrPoint = Choice([LineString, Point], {
  title: 'LineStringOrPoint',
  description: 'Where two shapes meet.',
  discriminatedBy: 'type',
});

const Geometry = Choice([Point, Polygon, LineString], {
  title: 'Geometry',
  description: 'A GeoJSON geometry.',
  discriminatedBy: 'type',
});

/** What the hub makes of an object for clients that draw maps. Its properties are the members but the geometry. */
export const Feature = Named('Feature', { type: kind('Feature'), geometry: Geometry, properties: Properties });

export const FeatureCollection = Named('FeatureCollection', {
  type: kind('FeatureCollection'),
  features: Type.Array(Feature, { description: 'One for each object.' }),
});

/** The same of fence events: where a fence is may be hidden from who owns it, with its zone. */
export const FenceEventCollection = Named('FenceEventCollection', {
  type: kind('FeatureCollection'),
  features: Type.Array(
    Named('FenceEventFeature', {
      type: kind('Feature'),
      geometry: Type.Union([Geometry, Type.Null()], { description: 'Null where it may not be read.' }),
      properties: Properties,
    }),
    { description: 'One for each event.' },
  ),
});
