import Type, { type Static } from 'typebox';
import { Point } from './geojson.ts';
import { Maybe, OneOf, Properties } from './schema.ts';

/** Kinds of location providers. */
export const PROVIDER_TYPES = [
  'uwb',
  'gps',
  'wifi',
  'rfid',
  'ibeacon',
  'ble-aoa',
  'ble-mesh',
  'virtual',
  'unknown',
] as const;

export const ProviderType = OneOf(PROVIDER_TYPES, 'The kind of location provider.');
export type ProviderType = Static<typeof ProviderType>;

/** What a height is measured from: the floor, or the WGS 84 ellipsoid. */
export const ElevationRef = OneOf(['floor', 'wgs84'], 'What z is measured from.');

const Timestamp = Type.String({ description: 'RFC 3339 date and time.' });

/** A position of a location provider at a moment. */
export const Location = Type.Object({
  position: Point,
  source: Maybe(Type.String({ description: 'Id or foreign id of the zone, or any name of the source.' })),
  provider_type: ProviderType,
  provider_id: Maybe(Type.String({ description: 'Id of the location provider.' })),
  trackables: Maybe(Type.Array(Type.String(), { description: 'Ids of the trackables; set by the hub.' })),
  timestamp_generated: Maybe(Timestamp),
  timestamp_sent: Maybe(Timestamp),
  crs: Maybe(Type.String({ description: 'local (default), EPSG:4326, a UTM or a UPS code.' })),
  associated: Maybe(Type.Boolean()),
  accuracy: Maybe(Type.Number({ minimum: 0, description: 'Horizontal accuracy in metres.' })),
  floor: Maybe(Type.Number()),
  true_heading: Maybe(Type.Number({ description: 'Degrees clockwise from true north.' })),
  magnetic_heading: Maybe(Type.Number({ description: 'Degrees clockwise from magnetic north.' })),
  heading_accuracy: Maybe(Type.Number({ description: 'Degrees.' })),
  elevation_ref: Maybe(ElevationRef),
  speed: Maybe(Type.Number({ description: 'Metres per second.' })),
  course: Maybe(Type.Number({ description: 'Degrees clockwise from true north.' })),
  properties: Maybe(Properties),
});
export type Location = Static<typeof Location>;

/** What a proximity system sends: the provider is near the source, a proximity zone. */
export const Proximity = Type.Object({
  source: Type.String({ description: 'Id or foreign id of the proximity zone.' }),
  provider_type: ProviderType,
  provider_id: Maybe(Type.String()),
  timestamp_generated: Maybe(Timestamp),
  timestamp_sent: Maybe(Timestamp),
  accuracy: Maybe(Type.Number({ minimum: 0, description: 'Metres.' })),
  properties: Maybe(Properties),
});
export type Proximity = Static<typeof Proximity>;
