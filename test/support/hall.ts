import type { Fence } from '../../src/model/fence.ts';
import type { Zone } from '../../src/model/zone.ts';

/** A zone of 100 m by 100 m. In its plane, in meters, x points east and y north. */
export const HALL: Zone = {
  id: '6f1f4d3e-6a53-4a3e-9a43-0d8f4a4f2b11',
  type: 'uwb',
  foreign_id: 'hall',
  floor: 0,
  // UTM 32N: an easting of 500000 is 9° east. At 50° north, 100 m of easting and northing are 100 m on the ground
  // within 4 cm.
  ground_control_points: [
    [9, 50],
    [0, 0],
    [9.001394785, 50],
    [100, 0],
    [9.001394785, 50.000898919],
    [100, 100],
    [9, 50.000898919],
    [0, 100],
  ],
};

/** Creates a location in EPSG:4326 at a position in the hall. The provider is its own source. */
export function gps(provider: string) {
  return {
    provider_id: provider,
    provider_type: 'gps',
    source: provider,
    crs: 'EPSG:4326',
    position: { type: 'Point', coordinates: [9.0005, 50.00003] },
  };
}

/** A square of 10 m whose eastern edge is at x = 10, in the plane of the hall. */
export function square(more: Partial<Fence> = {}): Fence {
  const ring = [
    [0, 0],
    [10, 0],
    [10, 10],
    [0, 10],
    [0, 0],
  ];
  return {
    id: '00000000-0000-4000-8000-000000000001',
    region: { type: 'Polygon', coordinates: [ring] },
    crs: 'local',
    zone_id: HALL.id,
    ...more,
  };
}
