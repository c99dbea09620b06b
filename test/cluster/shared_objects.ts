import type { ClusterHealth } from '../../src/model/health.ts';

/** Whether all hubs own as many partitions, by what one of them says of its cluster, and nothing is on its way. */
export function isShared(cluster: ClusterHealth | undefined, hubs: number): boolean {
  if (cluster?.settled !== true || cluster.members.length !== hubs) return false;
  return cluster.members.every(({ partitions }) => partitions === 256 / hubs);
}
