import { hubError } from '../../errors.ts';
import { show } from '../../model/error_value_text.ts';
import type { Location, Proximity } from '../../model/location.ts';
import { ExactNumber } from '../../model/lossless_numbers.ts';
import type { Zone } from '../../model/zone.ts';

/**
 * Returns the location of a proximity: the position and floor of its zone, with the accuracy of the proximity or else
 * the zone's radius. Throws HUB_BAD_REQUEST if the zone has no position yet.
 */
export function locationOfProximity(proximity: Proximity, zone: Zone): Location {
  if (zone.position == null) {
    throw hubError('zone_without_position', { path: 'source', found: show(proximity.source) });
  }
  const location: Location = {
    position: { type: 'Point', coordinates: [...zone.position.coordinates] },
    source: proximity.source,
    provider_type: proximity.provider_type,
    crs: 'EPSG:4326',
  };
  const accuracy = proximity.accuracy ?? zone.radius;
  if (proximity.provider_id != null) location.provider_id = proximity.provider_id;
  if (proximity.timestamp_generated != null) location.timestamp_generated = proximity.timestamp_generated;
  if (proximity.timestamp_sent != null) location.timestamp_sent = proximity.timestamp_sent;
  if (accuracy != null) location.accuracy = accuracy;
  if (zone.floor != null) location.floor = zone.floor;
  if (proximity.properties != null) location.properties = proximity.properties;
  return location;
}

/**
 * Returns a number of a proximity's properties, such as `rssi` (dBm) or `confidence` (0 to 1); undefined for anything
 * else.
 */
export function numberIn(properties: Proximity['properties'], name: 'rssi' | 'confidence'): number | undefined {
  const value = properties?.[name];
  const number = value instanceof ExactNumber ? Number(value.text) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}
