import type { Location } from '../../model/location.ts';
import { parseLossless } from '../../model/lossless_numbers.ts';
import type { Zone } from '../../model/zone.ts';
import type { ShardContext } from '../context.ts';
import { accept, type AcceptedLocation } from '../location/accepted.ts';
import type { Fix } from '../location/fix.ts';
import {
  arbitrate,
  type Centroid,
  centroidOf,
  heldBy,
  type ProximityState,
} from '../location/proximity_arbitration.ts';
import { numberIn } from '../location/proximity.ts';
import { roundDegrees, roundMeters } from '../geo/rounding.ts';
import { received, type ReceivedLocation } from '../location/received.ts';
import type { ProviderState } from '../state.ts';
import { isProximityZone } from '../zone/zone_type.ts';

/** Member of the properties that names the reader of a sighting if the tag stays in another zone. */
const SIGHTING_SOURCE = 'hub.sighting_source';

type SentLocation = Omit<Location, 'position'>;

/**
 * Returns the location of a sighting: the sighting itself if neither its zone nor the zone that holds the tag has
 * `proximity_resolution`, or if it moves the tag as usual; otherwise the location in the zone that holds the tag.
 */
export function resolveProximity(
  { state, options }: ShardContext,
  provider: ProviderState,
  location: ReceivedLocation,
  eventTimeMs: number,
): ReceivedLocation {
  const { zones } = state;
  const { fix } = provider;
  const zone = zones.find(location.source);
  const before = fix && zones.find(fix.source);
  const last = before !== undefined && isProximityZone(before) ? before : undefined;
  if (zone === undefined || (zone.proximity_resolution == null && last?.proximity_resolution == null)) {
    provider.proximity = undefined;
    return location;
  }
  // The state may be older than the location that the tag has, or unknown to this worker: the location counts.
  const { proximity } = provider;
  const isCurrent = last !== undefined && proximity?.zoneId === last.id && proximity.lastMs === fix?.eventTimeMs;
  const tag = isCurrent ? proximity : (stateFrom(fix, last) ?? heldBy(zone, location.source, eventTimeMs));
  provider.proximity = tag;
  const sent = parseLossless(`{${location.text}}`) as SentLocation;
  const rssi = numberIn(sent.properties, 'rssi');
  const confidence = numberIn(sent.properties, 'confidence');
  const sighting = { zone, source: location.source, eventTimeMs, rssi, confidence };
  const held = arbitrate(tag, sighting, zones.find);
  const centroid = centroidOf(tag, held, zones.find);
  if (held.position == null || (held === zone && centroid === undefined)) return location;
  const sightingSource = held === zone ? undefined : location.source;
  const moved = inZone(
    held,
    { source: tag.source, position: held.position.coordinates, sent, centroid, sightingSource },
    location,
  );
  const { seq, receivedMs, generatedMs } = location;
  return received(moved, { seq, receivedMs, generatedMs }, options.newBuffer);
}

/** Returns the state of a tag of which only the last location is known. */
function stateFrom(fix: Fix | undefined, zone: Zone | undefined): ProximityState | undefined {
  return fix === undefined || zone === undefined ? undefined : heldBy(zone, fix.source, fix.eventTimeMs);
}

interface Resolved {
  readonly source: string;
  /** Position of the zone. */
  readonly position: readonly number[];
  readonly sent: SentLocation;
  readonly centroid: Centroid | undefined;
  /** Source of the sighting, if its zone does not hold the tag. */
  readonly sightingSource: string | undefined;
}

/** Returns the location of a sighting in the zone that holds the tag. */
function inZone(
  zone: Zone,
  { source, position, sent, centroid, sightingSource }: Resolved,
  { providerId, generatedMs }: ReceivedLocation,
): AcceptedLocation {
  const { accuracy: _accuracy, floor: _floor, ...members } = sent;
  const [lon, lat, ...height] = position as [number, number];
  const coordinates = centroid === undefined ? [lon, lat] : [roundDegrees(centroid.lon), roundDegrees(centroid.lat)];
  const accuracy = centroid === undefined ? zone.radius : roundMeters(centroid.accuracy);
  const properties =
    sightingSource === undefined ? sent.properties : { ...sent.properties, [SIGHTING_SOURCE]: sightingSource };
  const value: Location = {
    ...members,
    source,
    position: { type: 'Point', coordinates: [...coordinates, ...height] },
    ...(accuracy != null && { accuracy }),
    ...(zone.floor != null && { floor: zone.floor }),
    ...(properties != null && { properties }),
  };
  return accept(value, { providerId, source, crs: 'EPSG:4326', generatedMs });
}
