import Type, { type Static } from 'typebox';
import { Point } from './geojson.ts';
import { PROVIDER_TYPES } from './provider_type.ts';
import { Crs, Maybe, Named, OneOf, Properties, Time } from './schema.ts';

export const ProviderType = OneOf(PROVIDER_TYPES, {
  title: 'ProviderType',
  description: 'The kind of a location provider.',
});
export type ProviderType = Static<typeof ProviderType>;

/** Kinds of providers of which systems know that they are near, and no more: those of beacons and readers. */
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
  description: 'The kind of a provider that knows only what it is near.',
});

/** What a height is measured from: the floor, or the WGS 84 ellipsoid. */
export const ElevationRef = OneOf(['floor', 'wgs84'], {
  title: 'ElevationRef',
  description: 'What z is measured from: the floor, or the WGS 84 ellipsoid.',
});
export type ElevationRef = Static<typeof ElevationRef>;

const timestampGenerated = Time(
  'When it was true, as RFC 3339; the time of receipt when absent. One older than the last is outdated.',
);
const timestampSent = Time(
  'When it was sent, as RFC 3339: by the hub in what it publishes over the WebSocket, by its sender everywhere else.',
);

/** A position of a location provider at a moment. */
export const Location = Named('Location', {
  position: Point,
  source: Maybe(Type.String({ description: 'Id or foreign id of the zone, or any name of the source.' })),
  provider_type: ProviderType,
  provider_id: Maybe(Type.String({ description: 'Id of the location provider.' })),
  trackables: Maybe(Type.Array(Type.String(), { description: 'Ids of the trackables; set by the hub.' })),
  timestamp_generated: Maybe(timestampGenerated),
  timestamp_sent: Maybe(timestampSent),
  crs: Maybe(Crs('local (default), EPSG:4326, a UTM or a UPS code.', { orEmpty: true })),
  associated: Maybe(Type.Boolean({ description: 'Whether the provider has a connection to its network.' })),
  accuracy: Maybe(Type.Number({ minimum: 0, description: 'Horizontal accuracy in metres.' })),
  floor: Maybe(Type.Number({ description: 'Floor of the building; that of its zone when absent, else 0.' })),
  true_heading: Maybe(Type.Number({ description: 'Degrees clockwise from true north.' })),
  magnetic_heading: Maybe(Type.Number({ description: 'Degrees clockwise from magnetic north.' })),
  heading_accuracy: Maybe(Type.Number({ description: 'How far off a heading may be, in degrees.' })),
  elevation_ref: Maybe(ElevationRef),
  speed: Maybe(Type.Number({ description: 'Metres per second; from the last location when absent.' })),
  course: Maybe(Type.Number({ description: 'Degrees clockwise from true north; as speed when absent.' })),
  properties: Maybe(Properties),
});
export type Location = Static<typeof Location>;

/** What a proximity system sends: the provider is near the source, a proximity zone. */
export const Proximity = Named('Proximity', {
  source: Type.String({ description: 'Id or foreign id of the proximity zone.' }),
  provider_type: ProximityType,
  provider_id: Maybe(Type.String({ description: 'Id of the location provider.' })),
  timestamp_generated: Maybe(timestampGenerated),
  timestamp_sent: Maybe(timestampSent),
  accuracy: Maybe(Type.Number({ minimum: 0, description: "Metres; the zone's radius when absent." })),
  properties: Maybe(Properties),
});
export type Proximity = Static<typeof Proximity>;
