import { zoneSquareMetres } from '../core/zone/outline.ts';
import { type KeptFence, shownFence } from '../model/fence.ts';
import { PROVIDER_TYPES, type ProviderType } from '../model/location.ts';
import type { LocationProvider } from '../model/provider.ts';
import type { Trackable } from '../model/trackable.ts';
import type { Consumption } from '../model/usage.ts';
import type { Zone } from '../model/zone.ts';

/** What is configured. */
export interface Configured {
  readonly fences: readonly KeptFence[];
  readonly zones: readonly Zone[];
  readonly trackables: readonly Trackable[];
  readonly providers: readonly LocationProvider[];
}

/**
 * What is configured, and how much of it is in use: a provider that has sent locations in the month is active, and so is
 * a trackable that such a provider is assigned to.
 */
export function snapshotOf(configured: Configured, active: ReadonlySet<string>): Consumption['config'] {
  const { fences, zones, trackables, providers } = configured;
  const activeProviders = providers.filter(({ id }) => active.has(id));
  const activeTrackables = trackables.filter(({ location_providers }) =>
    location_providers?.some((id) => active.has(id)),
  );
  return {
    fences: fences.map(shownFence),
    zones: zones.map((zone) => ({ ...zone, sqm: zoneSquareMetres(zone) })),
    trackables_no: trackables.length,
    trackables_no_active: activeTrackables.length,
    locationproviders_no: providers.length,
    locationproviders_no_active: activeProviders.length,
    locationproviders_by_type_no: byType(providers),
    locationproviders_by_type_no_active: byType(activeProviders),
  };
}

function byType(providers: readonly LocationProvider[]): Record<ProviderType, number> {
  const counts = Object.fromEntries(PROVIDER_TYPES.map((type) => [type, 0])) as Record<ProviderType, number>;
  for (const { type } of providers) counts[type]++;
  return counts;
}
