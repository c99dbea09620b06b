import Type, { type Static } from 'typebox';
import { Point } from './geojson.ts';
import { PROVIDER_TYPES } from './provider_type.ts';
import { Crs, Maybe, Named, OneOf, Properties, Time } from './schema.ts';

export const ProviderType = OneOf(PROVIDER_TYPES, {
  title: 'ProviderType',
  description: 'The kind of a location provider.',
});
export type ProviderType = Static<typeof ProviderType>;

/** Provider types of systems that only detect proximity: beacons and readers. */
const PROXIMITY_TYPES = [
  'rfid',
  'ibeacon',
  'ble-aoa',
  'ble-mesh',
  'virtual',
  'unknown',
] as const satisfies readonly ProviderType[];

const ProximityType = OneOf(PROXIMITY_TYPES, {
  title: 'ProximityType',
  description: 'The kind of a provider that only reports proximity.',
});

/** Reference of heights: the floor or the WGS 84 ellipsoid. */
export const ElevationRef = OneOf(['floor', 'wgs84'], {
  title: 'ElevationRef',
  description: 'Reference of z: the floor, or the WGS 84 ellipsoid.',
});
export type ElevationRef = Static<typeof ElevationRef>;

const timestampGenerated = Time(
  'Time of measurement, RFC 3339; the time of receipt if absent. A location older than the last one is outdated.',
);
const timestampSent = Time('Time of sending, RFC 3339: by the hub in WebSocket events, by the sender everywhere else.');

/** A position of a location provider at a point in time. */
export const Location = Named('Location', {
  position: Point,
  source: Maybe(Type.String({ description: 'Id or foreign id of the zone, or any name of the source.' })),
  provider_type: ProviderType,
  provider_id: Maybe(Type.String({ description: 'Id of the location provider.' })),
  trackables: Maybe(Type.Array(Type.String(), { description: 'Ids of the trackables; set by the hub.' })),
  timestamp_generated: Maybe(timestampGenerated),
  timestamp_sent: Maybe(timestampSent),
  crs: Maybe(Crs('local (default), EPSG:4326, a UTM or a UPS code.', { orEmpty: true })),
  associated: Maybe(Type.Boolean({ description: 'Whether the provider is connected to its network.' })),
  accuracy: Maybe(Type.Number({ minimum: 0, description: 'Horizontal accuracy in meters.' })),
  floor: Maybe(Type.Number({ description: 'Floor of the building; if absent, that of the zone, else 0.' })),
  true_heading: Maybe(Type.Number({ description: 'Degrees clockwise from true north.' })),
  magnetic_heading: Maybe(Type.Number({ description: 'Degrees clockwise from magnetic north.' })),
  heading_accuracy: Maybe(Type.Number({ description: 'Accuracy of the heading in degrees.' })),
  elevation_ref: Maybe(ElevationRef),
  speed: Maybe(Type.Number({ description: 'Speed in meters per second; derived from the last location if absent.' })),
  course: Maybe(
    Type.Number({ description: 'Course in degrees clockwise from true north; derived like speed if absent.' }),
  ),
  properties: Maybe(Properties),
});
export type Location = Static<typeof Location>;

/** A proximity report: the provider is near the source, a proximity zone. */
export const Proximity = Named('Proximity', {
  source: Type.String({ description: 'Id or foreign id of the proximity zone.' }),
  provider_type: ProximityType,
  provider_id: Maybe(Type.String({ description: 'Id of the location provider.' })),
  timestamp_generated: Maybe(timestampGenerated),
  timestamp_sent: Maybe(timestampSent),
  accuracy: Maybe(Type.Number({ minimum: 0, description: "Meters; the zone's radius when absent." })),
  properties: Maybe(Properties),
});
export type Proximity = Static<typeof Proximity>;
