import { locationOfProximity } from '../core/location/proximity.ts';
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
 * Checks a received proximity and resolves it to a location at the position of its proximity zone. Returns a message
 * with the field and the value found if it is invalid.
 */
export function checkProximity(value: unknown, context: CheckContext): CheckedProximity | string {
  const { at } = context;
  if (!PROXIMITY.fits(value)) return PROXIMITY.explain(value, at) ?? `${at}: is no proximity`;
  const source = at === '' ? 'source' : `${at}.source`;
  const zone = context.zone(value.source);
  if (zone === undefined) return `${source}: must name a proximity zone, found ${show(value.source)}`;
  if (!isProximityZone(zone)) {
    return `${source}: must name a proximity zone (rfid or ibeacon), found ${show(value.source)} of type ${zone.type}`;
  }
  if (zone.position == null) return `${source}: must name a zone with a position, found ${show(value.source)}`;
  const checked = checkLocation(locationOfProximity(value, zone), context);
  if (typeof checked === 'string') return checked;
  return { ...checked, proximity: { ...value, provider_id: checked.location.provider_id } };
}
