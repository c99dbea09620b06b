import assert from 'node:assert/strict';
import type { PlaneTransform } from '../../src/core/geo/crs.ts';
import { zoneTransform } from '../../src/core/zone/zone_transform.ts';
import type { Zone } from '../../src/model/zone.ts';

/** The example of the omlox API: the unit square represents a field of 65 m by 11 m. */
export const UNIT_SQUARE = [
  [7.815694, 48.130216],
  [0, 0],
  [7.8157249, 48.13031],
  [0, 1],
  [7.816582, 48.130188],
  [1, 1],
  [7.816551, 48.130094],
  [1, 0],
];

export function zoneOf(rows: number[][]): Zone {
  return { id: 'z', type: 'uwb', ground_control_points: rows };
}

export function transformOf(zone: Zone): PlaneTransform {
  const transform = zoneTransform(zone);
  assert.ok(transform !== undefined);
  return transform;
}

export function toWgs84(transform: PlaneTransform, x: number, y: number): [number, number] {
  const out: [number, number] = [0, 0];
  transform.toWgs84(x, y, out);
  return out;
}

export function fromWgs84(transform: PlaneTransform, lon: number, lat: number): [number, number] {
  const out: [number, number] = [0, 0];
  transform.fromWgs84(lon, lat, out);
  return out;
}
