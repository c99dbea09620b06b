import { CALM_PER_HUB, KINDS, nameOf, PROJECTED } from '../cluster/clusters.ts';
import { costsOf } from '../cluster/costs.ts';
import { mostOf } from '../cluster/most.ts';
import { simulateCluster } from '../cluster/simulation.ts';
import type { Result } from '../report/result.ts';
import { savedResults } from '../report/write.ts';
import { commandOf } from './load_run.ts';
import type { Asked, Profile } from './profile.ts';

const SEED = 1;

export const PROJECTION: Profile = {
  name: 'projection',
  summary: 'computes the throughput of hubs on separate machines from the saved costs of the profile cluster',
  needs: () => (measured() === undefined ? 'there is no saved result of the cluster profile' : undefined),
  async run(asked: Asked): Promise<Result> {
    const result = measured();
    if (result === undefined) throw new Error('Cannot compute: there is no saved result of the cluster profile');
    const hubsMax = 64 * asked.scale;
    const more: Record<string, number> = {};
    for (const kind of KINDS) {
      const costs = costsOf(result, { isLean: kind === 'lean' });
      for (const projected of PROJECTED.filter(({ hubs }) => hubs <= hubsMax)) {
        const { hubs, servers, cores } = projected;
        asked.progress(`${kind}, ${hubs} hubs, ${servers} servers`);
        const cluster = { hubs, nats: servers === 0 ? undefined : { servers, cores }, costs, seed: SEED };
        const most = mostOf(cluster);
        const calm = simulateCluster({ ...cluster, perHub: CALM_PER_HUB });
        more[nameOf(kind, projected, 'per_hub')] = most.perHub;
        more[nameOf(kind, projected, 'front')] = most.front;
        more[nameOf(kind, projected, 'nats_cores')] = most.natsCores;
        more[nameOf(kind, projected, 'messages')] = most.messages;
        more[nameOf(kind, projected, 'per_append')] = most.perAppend;
        more[nameOf(kind, projected, 'p50_ms')] = calm.p50Ms;
        more[nameOf(kind, projected, 'p99_ms')] = calm.p99Ms;
      }
    }
    return { profile: 'projection', command: commandOf('projection', asked), more };
  },
};

function measured(): Result | undefined {
  return savedResults().find(({ profile }) => profile === 'cluster');
}
