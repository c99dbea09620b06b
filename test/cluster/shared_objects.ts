import type { ClusterHealth } from '../../src/model/health.ts';

/** Whether all hubs own the same share, according to one of them, and nothing is migrating. */
export function isShared(cluster: ClusterHealth | undefined, hubs: number): boolean {
  if (cluster?.settled !== true || cluster.members.length !== hubs) return false;
  return cluster.members.every(({ partitions }) => partitions === 256 / hubs);
}
