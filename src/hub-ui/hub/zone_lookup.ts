import type { Zone } from '../../model/zone.ts';

/** Finds the zone that a fence or anchor references by id or foreign id. */
export function zoneNamed(zones: Iterable<Zone>, name: string | null | undefined): Zone | undefined {
  if (name == null || name === '') return undefined;
  for (const zone of zones) if (zone.id === name || zone.foreign_id === name) return zone;
  return undefined;
}
