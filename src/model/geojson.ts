import Type, { type Static } from 'typebox';
import { Choice, Named, Properties } from './schema.ts';

function kind<const K extends string>(word: K) {
  return Type.Literal(word, { description: `Always ${word}.` });
}

/** A position: x, y and perhaps z. Longitude, latitude (degrees) and height for EPSG:4326; meters otherwise. */
export const Position = Type.Array(Type.Number(), {
  title: 'Position',
  description: 'x, y and perhaps z: longitude, latitude (degrees) and height (meters) in EPSG:4326, else meters.',
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
  description: 'A point or a polygon.',
  discriminatedBy: 'type',
});

export const LineStringOrPoint = Choice([LineString, Point], {
  title: 'LineStringOrPoint',
  description: 'Intersection of two shapes.',
  discriminatedBy: 'type',
});

export const Geometry = Choice([Point, Polygon, LineString], {
  title: 'Geometry',
  description: 'A GeoJSON geometry.',
  discriminatedBy: 'type',
});

export type Geometry = Static<typeof Geometry>;

/** GeoJSON feature of an object for clients that draw maps. Its properties are the members except the geometry. */
export const Feature = Named('Feature', { type: kind('Feature'), geometry: Geometry, properties: Properties });

export const FeatureCollection = Named('FeatureCollection', {
  type: kind('FeatureCollection'),
  features: Type.Array(Feature, { description: 'One for each object.' }),
});

/** FeatureCollection of fence events. The geometry of a fence may be hidden from its owner, as may its zone. */
export const FenceEventCollection = Named('FenceEventCollection', {
  type: kind('FeatureCollection'),
  features: Type.Array(
    Named('FenceEventFeature', {
      type: kind('Feature'),
      geometry: Type.Union([Geometry, Type.Null()], { description: 'Null if the reader may not see it.' }),
      properties: Properties,
    }),
    { description: 'One for each event.' },
  ),
});
