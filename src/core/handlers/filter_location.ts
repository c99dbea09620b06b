import type { Filter } from '../../model/filter.ts';
import type { LocationProvider } from '../../model/provider.ts';
import type { Trackable } from '../../model/trackable.ts';
import { assignedTo } from '../assignments.ts';
import type { ShardContext } from '../context.ts';
import type { Derived } from '../location/fix.ts';
import type { ReceivedLocation } from '../location/received.ts';
import type { ProviderState, ShardState } from '../state.ts';
import { type Sighting, start, step } from '../tracking/filter.ts';
import { type FilterSettings, resolvedFilter } from '../tracking/filter_settings.ts';
import { emptyTrack, FLAGS, type Track } from '../tracking/track.ts';

/**
 * Filters of providers. The state of a filter is part of the provider's fix (Fix.readTrack), so it is stored, replayed
 * and moved with it.
 */

/** Reused, so that a location allocates nothing. */
const track = emptyTrack();
const seen = { lon: 0, lat: 0, z: 0, isZFromEllipsoid: false, floor: 0, accuracy: 0 };

/** Notes that an entity has changed, and whether it sets a filter. */
export function noteFilter(state: ShardState, { filter }: Pick<LocationProvider | Trackable, 'filter'>): void {
  state.filterVersion++;
  if (filter != null) state.isFiltering = true;
}

/**
 * Advances the filter of a provider to a location. Returns its state, valid until the next call; undefined without a
 * filter.
 */
// hot
export function filterLocation(
  context: ShardContext,
  provider: ProviderState,
  location: ReceivedLocation,
  derived: Derived,
): Track | undefined {
  const settings = providerFilter(context, provider, location.providerType);
  if (settings === undefined) return undefined;
  const sighting = sightingOf(location, derived);
  const { fix } = provider;
  if (fix?.readTrack(track) === true) step(track, sighting, derived.eventTimeMs - fix.eventTimeMs, settings);
  else {
    track[FLAGS] = 0;
    start(track, sighting, settings);
  }
  return track;
}

/** Returns the location as a sighting, valid until the next call. */
// hot
export function sightingOf(
  location: Pick<ReceivedLocation, 'sentZ' | 'sentElevationRef' | 'accuracy'>,
  { lon, lat, floor }: Pick<Derived, 'lon' | 'lat' | 'floor'>,
): typeof seen & Sighting {
  seen.lon = lon;
  seen.lat = lat;
  seen.z = location.sentZ;
  seen.isZFromEllipsoid = location.sentElevationRef === 'wgs84';
  seen.floor = floor;
  seen.accuracy = location.accuracy ?? Number.NaN;
  return seen;
}

/**
 * Returns the settings of a provider's filter; undefined without one. The members of the provider override those of its
 * only trackable, of the type of provider, and of the configuration, in this order.
 */
// hot
export function providerFilter(
  { state, options }: ShardContext,
  provider: ProviderState,
  type: ReceivedLocation['providerType'],
): FilterSettings | undefined {
  const { filterVersion: version } = state;
  let found = provider.filter;
  if (found?.version !== version || found.type !== type) {
    const { filters } = options;
    const { trackables } = assignedTo(state, provider.id);
    const only = trackables.length === 1 ? trackables[0]?.entity.filter : undefined;
    const settings = activeFilter([provider.entity?.filter, only, filters?.types[type], filters?.all]);
    found = { version, type, settings };
    provider.filter = found;
  }
  return found.settings;
}

/** Returns the settings at these levels, the most specific one first; undefined without a filter. */
export function activeFilter(levels: readonly (Filter | null | undefined)[]): FilterSettings | undefined {
  const settings = resolvedFilter(levels);
  return settings.kind === 'none' ? undefined : settings;
}
