import Type from 'typebox';
import { OF_HUBS } from './history_replies.ts';
import { Point } from './geojson.ts';
import { ArrayOf, documented, Named, Time } from './schema.ts';

/** Documents of OGC API – Moving Features 1.0, as far as the hub supports it. */

const Href = Type.String({ description: 'URL of the document.' });

const DocumentLink = Named('DocumentLink', {
  href: Href,
  rel: Type.String({ description: 'Relation to this document.' }),
  type: Type.Optional(Type.String({ description: 'Its media type.' })),
});
const links = ArrayOf(DocumentLink);
const title = Type.String({ description: 'For people.' });
const description = Type.String({ description: 'The same in a sentence.' });
const numberReturned = Type.Integer({ minimum: 0, description: 'Number of elements in this document.' });

export const LandingPage = Named('LandingPage', { title, description, links });

export const Conformance = Named('Conformance', {
  conformsTo: Type.Array(Type.String(), { description: 'Classes of conformance.' }),
});

const Numbers = (what: string) => Type.Array(Type.Number(), { title: 'Numbers', description: what });

const SpatialExtent = Named('SpatialExtent', {
  bbox: Type.Array(Type.Array(Type.Number()), { description: 'Boxes: west, south, east, north in degrees.' }),
});
const TemporalExtent = Named('TemporalExtent', {
  interval: Type.Array(Type.Array(Type.Union([Type.String(), Type.Null()])), { description: 'Spans; null: open.' }),
});
const Extent = Named('Extent', { spatial: SpatialExtent, temporal: TemporalExtent });

export const MovingCollection = Named('MovingCollection', {
  id: Type.String({ description: 'trackables, or providers.' }),
  title,
  description,
  itemType: Type.String({ description: 'movingfeature' }),
  updateFrequency: Type.Number({ description: '0: whenever they are located.' }),
  crs: Type.Array(Type.String(), { description: 'CRS of its coordinates.' }),
  extent: Extent,
  links,
});

export const MovingCollections = Named('MovingCollections', { collections: ArrayOf(MovingCollection), links });

const MovingKind = Named('MovingKind', { kind: Type.String({ description: 'trackable, or provider.' }) });

const MOVING_FEATURE = {
  type: Type.String({ ...documented({ const: 'Feature' }), description: 'Feature' }),
  id: Type.String({ description: 'Id of the trackable or provider.' }),
  geometry: Type.Union([Point, Type.Null()], { description: 'null, since it moves: see tgsequence.' }),
  properties: MovingKind,
  bbox: Type.Optional(Numbers('Extent: west, south, east, north in degrees.')),
  time: Type.Optional(Type.Array(Time('First, or last.'), { description: 'First and last time.' })),
};
const MovingFeatureOfList = Named('MovingFeatureOfList', MOVING_FEATURE);

export const MovingFeature = Named('MovingFeature', { ...OF_HUBS, ...MOVING_FEATURE, links });

export const MovingFeatures = Named('MovingFeatures', {
  ...OF_HUBS,
  type: Type.String({ description: 'FeatureCollection' }),
  features: ArrayOf(MovingFeatureOfList),
  links,
  numberReturned,
});

const MovingPoint = Named('MovingPoint', {
  id: Type.String({ description: 'Its first time.' }),
  type: Type.String({ description: 'MovingPoint' }),
  datetimes: Type.Array(Time('When it was there.'), { description: 'In their order.' }),
  coordinates: Type.Array(Type.Array(Type.Number()), {
    description: 'Longitude and latitude in degrees, and the height in meters where it is known.',
  }),
  interpolation: Type.String({ description: 'Linear between its times, or Discrete.' }),
});

export const TemporalGeometrySequence = Named('TemporalGeometrySequence', {
  ...OF_HUBS,
  type: Type.String({ description: 'TemporalGeometrySequence' }),
  geometrySequence: ArrayOf(MovingPoint),
  links,
  numberReturned,
});
