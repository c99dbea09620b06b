import type { OperationDeps } from '../../src/api/deps.ts';
import type { Entities } from '../../src/entities/entities.ts';
import { Fanout } from '../../src/fanout/fanout.ts';
import type { SendQueue } from '../../src/fanout/send_queue.ts';
import { USAGE_COUNTERS, type UsageCounts } from '../../src/model/usage.ts';
import { Arrivals } from '../../src/operation/arrivals.ts';
import { snapshotOf } from '../../src/operation/consumption.ts';
import { Health } from '../../src/operation/health.ts';
import { License } from '../../src/operation/license.ts';
import { openMetrics } from '../../src/operation/metrics.ts';
import { Usage } from '../../src/operation/usage.ts';

export const NO_COUNTS = Object.fromEntries(USAGE_COUNTERS.map((name) => [name, 0])) as UsageCounts;

/** Health, usage, license and no metrics, over real entities, without threads and without a store. */
export function openTestOperation({ entities }: { readonly entities: Entities }) {
  const now = () => Date.UTC(2026, 10, 20);
  const arrivals = new Arrivals((id) => entities.zoneBy(id));
  const fanout = new Fanout({ variantsChanged: () => undefined, now });
  const open = new Set<SendQueue>();
  let ids = 0;
  const newId = () => `id-${++ids}`;
  const keep = async () => undefined;
  const config = () => {
    const [fences, zones] = [entities.list('fence'), entities.list('zone')];
    const [trackables, providers] = [entities.list('trackable'), entities.list('provider')];
    return snapshotOf({ fences, zones, trackables, providers }, arrivals.active);
  };
  const usage = {
    now,
    elapsed: now,
    newId,
    hubId: 'hub',
    counts: () => NO_COUNTS,
    config,
    keep,
    ended: new Map(),
    month: undefined,
  };
  const database = () => ({ state: 'ok', pending_rows: 0 }) as const;
  const operation: OperationDeps = {
    health: new Health({
      identity: { hub_id: 'id', hub_name: 'hub' },
      now,
      uptimeMs: () => 60_000,
      arrivals,
      fanout,
      open,
      configText: '',
      connections: () => [],
      database,
    }),
    usage: new Usage({ ...usage, monthBegun: () => arrivals.beginMonth() }),
    license: new License({ now, hubId: 'hub', configuredKey: undefined, publicKeys: [], stored: {}, keep }),
    metrics: openMetrics([]),
  };
  return { operation, arrivals };
}
