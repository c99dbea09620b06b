import Type, { type Static } from 'typebox';

/** A position: x, y and perhaps z. Longitude, latitude (degrees) and height for EPSG:4326; metres otherwise. */
export const Position = Type.Array(Type.Number(), { minItems: 2, maxItems: 3 });

export const Point = Type.Object({ type: Type.Literal('Point'), coordinates: Position });
export type Point = Static<typeof Point>;

/** Rings of positions; the first ring is the exterior, the others are holes. */
export const Polygon = Type.Object({
  type: Type.Literal('Polygon'),
  coordinates: Type.Array(Type.Array(Position, { minItems: 3 }), { minItems: 1 }),
});
export type Polygon = Static<typeof Polygon>;

export const LineString = Type.Object({
  type: Type.Literal('LineString'),
  coordinates: Type.Array(Position, { minItems: 2 }),
});
export type LineString = Static<typeof LineString>;
