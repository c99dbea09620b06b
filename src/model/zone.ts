import Type, { type Static } from 'typebox';
import { Point, Position } from './geojson.ts';
import { documented, Maybe, Meters, Named, OneOf, PlaneCrs, Properties } from './schema.ts';
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
  description: 'How a zone is placed on the earth.',
});

/** An installation with coordinates of its own, placed on the earth. */
export const Zone = Named('Zone', {
  id: Type.String({ description: 'Id of the zone.' }),
  foreign_id: Maybe(
    Type.String({
      description: 'Name of the zone in the system that it comes from; no other zone has it, nor has it as its id.',
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
    Type.Boolean({ description: 'Whether the zone is accepted without what would place it on the earth.' }),
  ),
  measurement_timestamp: Maybe(Type.String({ description: 'When the zone was measured.' })),
  site: Maybe(Type.String({ description: 'Name of the site.' })),
  building: Maybe(Type.String({ description: 'Name of the building.' })),
  floor: Maybe(Type.Number({ description: 'Floor of the locations of the zone that name none.' })),
  name: Maybe(Type.String({ description: 'Name for people.' })),
  description: Maybe(Type.String({ description: 'Text for people.' })),
  address: Maybe(Type.String({ description: 'Postal address.' })),
  wgs84_height: Maybe(Type.Number({ description: 'Height of the floor above the WGS 84 ellipsoid in metres.' })),
  exit_delay: exitDelay,
  easting_angle: Maybe(
    Type.Number({ description: 'Degrees by which the axes of a benchmark zone are turned clockwise from grid north.' }),
  ),
  meridian_convergence: Maybe(Type.Number({ description: 'Degrees that are added to the easting angle.' })),
  scale_factor: Maybe(
    Type.Number({ exclusiveMinimum: 0, description: 'Metres on the plane for a metre of the zone; 1 if absent.' }),
  ),
  local_origin: Maybe(Point),
  surface_projection: Maybe(PlaneCrs('UTM or UPS code of a benchmark zone.')),
  anchor_ids: Maybe(
    Type.Array(Type.String(), { description: 'Anchors that place the zone, where they are known in both planes.' }),
  ),
  parent: Maybe(
    Type.String({ description: 'Id of the trackable or the proximity zone that carries this proximity zone along.' }),
  ),
  properties: Maybe(Properties),
});
export type Zone = Static<typeof Zone>;

const TransformCrs = Type.String({
  title: 'SimpleTransformCrs',
  description: 'What a position is given in, local by default.',
  ...documented({ enum: ['local', 'EPSG:4326'] }),
});

/** A position to be moved between a zone's coordinates and EPSG:4326. */
export const SimpleTransform = Named('SimpleTransform', {
  position: Point,
  source: Maybe(Type.String({ description: 'Id of the zone; set by the hub.' })),
  crs: Maybe(TransformCrs),
});
export type SimpleTransform = Static<typeof SimpleTransform>;
