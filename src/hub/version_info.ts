import manifest from '../../package.json' with { type: 'json' };
import type { HubIdentity } from '../model/health.ts';

/** Versions of the hub and of its API, and its vendor. */
export const VERSION_INFO = { hub_version: manifest.version, vendor: 'omlox location hub', api_version: '2.0.0' };

/**
 * Returns the id of a hub, which is stored with its data, and its name: the setting, otherwise the name in the cluster.
 */
export function hubIdentity(
  hubId: string,
  names: { hub_name: string | null; inCluster: string | undefined },
): HubIdentity {
  return { hub_id: hubId, hub_name: names.hub_name ?? names.inCluster ?? 'location hub' };
}
