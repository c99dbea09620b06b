import { problemOf, Problem } from '../problem.ts';
import { locationOfProximity, numberIn } from '../core/location/proximity.ts';
import { isProximityZone } from '../core/zone/zone_type.ts';
import { checker } from '../model/check.ts';
import { Proximity } from '../model/location.ts';
import { show } from '../model/error_value_text.ts';
import { type CheckedLocation, checkLocation, type CheckContext } from './check_location.ts';

const PROXIMITY = checker(Proximity);

/** A proximity resolved to the location of its zone. */
export interface CheckedProximity extends CheckedLocation {
  readonly proximity: Proximity & { provider_id: string };
}

/**
 * Validates a received proximity and resolves it to a location at the position of its zone. If it is invalid, returns
 * the problem with the field and the value found.
 */
export function checkProximity(value: unknown, context: CheckContext): CheckedProximity | Problem {
  const { at } = context;
  if (!PROXIMITY.fits(value)) return PROXIMITY.explain(value, at) ?? problemOf('no_proximity', { path: at });
  const source = at === '' ? 'source' : `${at}.source`;
  const zone = context.zone(value.source);
  if (zone === undefined) return problemOf('not_proximity_zone', { path: source, found: show(value.source) });
  if (!isProximityZone(zone)) {
    return problemOf('not_rfid_or_ibeacon', { path: source, found: show(value.source), type: zone.type });
  }
  if (zone.position == null) return problemOf('zone_without_position', { path: source, found: show(value.source) });
  const problem = zone.proximity_resolution == null ? undefined : checkSignal(value, at);
  if (problem !== undefined) return problem;
  const checked = checkLocation(locationOfProximity(value, zone), context);
  if (checked instanceof Problem) return checked;
  const { location } = checked;
  const proximity = { ...value, provider_id: location.provider_id };
  return { ...checked, location: { ...location, isProximity: true }, proximity };
}

/** Checks the properties by which a zone with `proximity_resolution` compares sightings. */
function checkSignal({ properties }: Proximity, at: string): Problem | undefined {
  const path = at === '' ? 'properties' : `${at}.properties`;
  const { rssi, confidence } = properties ?? {};
  if (rssi != null && numberIn(properties, 'rssi') === undefined) {
    return problemOf('not_a_number', { path: `${path}.rssi`, found: show(rssi) });
  }
  const sent = numberIn(properties, 'confidence') ?? Number.NaN;
  if (confidence == null || (sent >= 0 && sent <= 1)) return undefined;
  return problemOf('not_in_range', { path: `${path}.confidence`, minimum: 0, maximum: 1, found: show(confidence) });
}
