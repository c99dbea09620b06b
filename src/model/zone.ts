import Type, { type Static } from 'typebox';
import { Point, Position } from './geojson.ts';
import { documented, DurationMs, Maybe, Meters, Named, OneOf, PlaneCrs, Properties } from './schema.ts';
import { exitDelay } from './timing.ts';

/** Kinds of zones. rfid and ibeacon are proximity zones. */
export const ZONE_TYPES = [
  'uwb',
  'wifi',
  'rfid',
  'ibeacon',
  'gps',
  'virtual',
  'unknown',
  'ble-aoa',
  'ble-mesh',
  'iso-24730',
  'generic',
  'none',
] as const;

export const ZoneType = OneOf(ZONE_TYPES, { title: 'ZoneType', description: 'The kind of a zone.' });

const TransformationType = OneOf(['gcp', 'proximity', 'benchmark', 'none'], {
  title: 'TransformationType',
  description: 'Method that georeferences the zone.',
});

/** Where a tag is that a proximity zone holds: at the zone's position, or between the readers that hear it. */
const PositionMode = OneOf(['zone_position', 'centroid'], {
  title: 'ProximityPositionMode',
  description: 'zone_position, or centroid of at least three readers.',
});

/**
 * When a tag changes from one proximity zone to another (core/location/proximity_arbitration.ts, which has the
 * defaults).
 */
export const ProximityResolution = Named('ProximityResolution', {
  entry_confidence_min: Maybe(
    Type.Number({ minimum: 0, maximum: 1, description: 'Confidence that a tag needs to enter from another zone; 0.' }),
  ),
  exit_grace_duration: DurationMs('Silence after which another zone takes the tag; 15,000.'),
  boundary_grace_distance: Meters(
    'Gap between two zones up to which exit_grace_duration applies; across a wider one, 3 s of silence suffice.',
  ),
  min_dwell_duration: DurationMs('How long a tag at least stays in the zone; 5,000.'),
  stale_state_ttl: DurationMs('Time without sightings after which the next one counts as the first; 600,000.'),
  position_mode: Maybe(PositionMode),
});
export type ProximityResolution = Static<typeof ProximityResolution>;

/** An installation with its own coordinate system, georeferenced. */
export const Zone = Named('Zone', {
  id: Type.String({ description: 'Id of the zone.' }),
  foreign_id: Maybe(
    Type.String({
      description: 'Id of the zone in its source system, unique among the ids and foreign ids of zones.',
    }),
  ),
  type: ZoneType,
  transformation_type: Maybe(TransformationType),
  position: Maybe(Point),
  radius: Meters('Radius of a proximity zone.'),
  ground_control_points: Maybe(
    Type.Array(Position, { description: 'Rows in pairs: longitude and latitude, then the local x and y.' }),
  ),
  incomplete_configuration: Maybe(
    Type.Boolean({ description: 'Whether the zone is accepted without georeferencing data.' }),
  ),
  measurement_timestamp: Maybe(Type.String({ description: 'When the zone was measured.' })),
  site: Maybe(Type.String({ description: 'Name of the site.' })),
  building: Maybe(Type.String({ description: 'Name of the building.' })),
  floor: Maybe(Type.Number({ description: 'Default floor of locations of the zone.' })),
  name: Maybe(Type.String({ description: 'Name for people.' })),
  description: Maybe(Type.String({ description: 'Text for people.' })),
  address: Maybe(Type.String({ description: 'Postal address.' })),
  wgs84_height: Maybe(Type.Number({ description: 'Height of the floor above the WGS 84 ellipsoid in meters.' })),
  exit_delay: exitDelay,
  easting_angle: Maybe(
    Type.Number({ description: 'Degrees by which the axes of a benchmark zone are turned clockwise from grid north.' }),
  ),
  meridian_convergence: Maybe(Type.Number({ description: 'Degrees that are added to the easting angle.' })),
  scale_factor: Maybe(
    Type.Number({ exclusiveMinimum: 0, description: 'Meters on the plane for a meter of the zone; 1 if absent.' }),
  ),
  local_origin: Maybe(Point),
  surface_projection: Maybe(PlaneCrs('UTM or UPS code of a benchmark zone.')),
  anchor_ids: Maybe(
    Type.Array(Type.String(), {
      description: 'Anchors that georeference the zone, as far as both of their positions are known.',
    }),
  ),
  parent: Maybe(
    Type.String({ description: 'Id of the trackable or proximity zone that carries this proximity zone.' }),
  ),
  proximity_resolution: Maybe(ProximityResolution),
  properties: Maybe(Properties),
});
export type Zone = Static<typeof Zone>;

const TransformCrs = Type.String({
  title: 'SimpleTransformCrs',
  description: 'CRS of the position; local by default.',
  ...documented({ enum: ['local', 'EPSG:4326'] }),
});

/** A position to transform between a zone's coordinates and EPSG:4326. */
export const SimpleTransform = Named('SimpleTransform', {
  position: Point,
  source: Maybe(Type.String({ description: 'Id of the zone; set by the hub.' })),
  crs: Maybe(TransformCrs),
});
export type SimpleTransform = Static<typeof SimpleTransform>;
