import { createHash, randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { Cluster } from '../cluster/cluster.ts';
import type { Config } from '../config/schema.ts';
import { clusterSettings } from '../config/settings.ts';
import type { EntityWrite } from '../core/entity_write.ts';
import { ALERT_RULES } from '../entities/alert_rules.ts';
import { ALERT_SNOOZES } from '../entities/alert_snoozes.ts';
import { API_KEYS } from '../entities/api_keys.ts';
import { LINKS } from '../entities/links.ts';
import { RULES_SETTING } from '../entities/locating_rules.ts';
import { MAP_VIEWS } from '../entities/map_views.ts';
import { SINKS } from '../entities/sinks.ts';
import { LINK_PROGRESS_PREFIX } from '../model/link.ts';
import { WALK_TESTS } from '../entities/walk_tests.ts';
import { SOURCES } from '../entities/sources.ts';
import { UNS_OWNER_PREFIX } from '../model/mqtt.ts';
import { DatabaseState } from '../operation/database_state.ts';
import { LICENSE_SETTING } from '../operation/operation.ts';
import { ownRows, rowsToStore } from '../shards/row_times.ts';
import { loadedFrom, type Store } from '../store/store.ts';
import { type EventPositions, StoreWriter } from '../store/writer.ts';
import { type Clock, schedule } from '../time/clock.ts';
import { TaskScheduler } from '../time/task_scheduler.ts';
import { packedRows } from '../wire/store_messages.ts';
import { AUDIT_SETTING, auditSetting } from './connect_audit.ts';
import type { Database } from './connect_database.ts';
import type { Log } from './log.ts';

const RETRY_MS = [100, 500, 2000];
const INCARNATION_BYTES = 16;
/** Settings shared by all hubs of a cluster. */
const SHARED: readonly string[] = [RULES_SETTING, LICENSE_SETTING, AUDIT_SETTING];
/** Prefixes of other shared settings. */
const SHARED_PREFIXES = [
  ...[
    UNS_OWNER_PREFIX,
    'alert ',
    'alert_act ',
    ALERT_RULES.prefix,
    ALERT_SNOOZES.prefix,
    LINKS.prefix,
    MAP_VIEWS.prefix,
  ],
  ...[SINKS.prefix, 'sink_command ', 'sink_progress ', LINK_PROGRESS_PREFIX, WALK_TESTS.prefix],
  ...[SOURCES.prefix, 'source_token ', API_KEYS.prefix],
];

interface ClusterDeps {
  readonly config: Config;
  readonly log: Log;
  readonly clock: Clock;
}

/** Returns the cluster, which is not open yet, or undefined for a single hub, which loads no cluster code. */
export async function connectCluster({ config, log, clock }: ClusterDeps): Promise<Cluster | undefined> {
  const settings = clusterSettings(config, hostname());
  if (settings === undefined) return undefined;
  const [{ Cluster }, { openNatsBus }] = await Promise.all([
    import('../cluster/cluster.ts'),
    import('../cluster/nats/nats_bus.ts'),
  ]);
  const { bus, ...rest } = settings;
  const notice = (text: string, level: 'info' | 'warn' = 'warn'): void => log[level](text);
  return new Cluster({
    ...rest,
    bus: openNatsBus(bus, notice),
    incarnation: randomBytes(INCARNATION_BYTES).toString('base64url'),
    digest: createHash('sha256').update(rest.alike.join('\n')).digest('base64url'),
    turns: new TaskScheduler(),
    capacity: config.lane_capacity,
    notice,
    schedule,
    now: clock.now,
    elapsed: clock.elapsed,
  });
}

function isShared(name: string): boolean {
  return SHARED.includes(name) || SHARED_PREFIXES.some((prefix) => name.startsWith(prefix));
}

/** Suffix of per-hub settings in the cluster's settings. */
const OWN = ' of hub ';

/** Returns a store for settings in a cluster. Entities and rows are stored elsewhere. */
export function clusterStore(cluster: Cluster): Store {
  const own = (name: string): string => (isShared(name) ? name : `${name}${OWN}${cluster.hubName}`);
  const store: Store = {
    load: () => loadedFrom(store),
    async read(take) {
      const entities: EntityWrite[] = [];
      for (const [name, text] of cluster.config.settings) {
        const [plain = '', hub] = name.split(OWN);
        if (hub === undefined || hub === cluster.hubName) entities.push({ kind: 'setting', id: plain, text });
      }
      take({ entities, rows: packedRows([]) });
      return cluster.config.id;
    },
    async commit({ entities, audit }) {
      const settings = entities.map(({ id, text }) => [own(id), text ?? null] as const);
      const logged = audit === undefined ? [] : [[AUDIT_SETTING, auditSetting(audit)] as const];
      if (settings.length > 0) await cluster.config.keepSettings([...settings, ...logged]);
    },
    close: async () => undefined,
  };
  return store;
}

/** Returns per-hub settings by hub name, including those of hubs that have left. */
export function settingsByHub(cluster: Pick<Cluster, 'config'>): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const byHub = new Map<string, Map<string, string>>();
  for (const [name, text] of cluster.config.settings) {
    const [plain = '', hub] = name.split(OWN);
    if (hub === undefined) continue;
    const own = byHub.get(hub) ?? new Map<string, string>();
    byHub.set(hub, own.set(plain, text));
  }
  return byHub;
}

/** The log of the cluster positions audit entries. */
const UNPOSITIONED: EventPositions = {
  block: ({ count, bytes }) => ({ first: 0, count, timeMs: 0, bytes }),
  committed: () => undefined,
};

/**
 * Returns the store of a cluster member for other parts. Rows go to the replicated state, and nothing waits for them.
 */
export function clusterDatabase(
  cluster: Cluster,
  { store, clock, log }: Pick<ClusterDeps, 'clock' | 'log'> & { readonly store: Store },
): Database {
  const state = new DatabaseState();
  let wasUp: boolean | undefined;
  cluster.watch((status) => {
    const isUp = status.at === 'up';
    if (isUp && wasUp === false) log.info('NATS can be reached again');
    if (!isUp && wasUp === true && !cluster.isOut) log.error('NATS cannot be reached', { error: status.why });
    // The start fails if there never is a connection.
    if (isUp || wasUp !== undefined) wasUp = isUp;
    const error = isUp ? undefined : new Error(`NATS cannot be reached: ${status.why}`);
    state.note(isUp ? 'ok' : 'failing', { error, nowMs: clock.now() });
  });
  return {
    writer: new StoreWriter(store, { retryMs: RETRY_MS, schedule, audit: UNPOSITIONED, state: () => undefined }),
    state,
    keep(rows) {
      cluster.durability.noteRows(rowsToStore(rows, clock));
      return undefined;
    },
    keepPairs: (rows) => cluster.durability.pairs(rowsToStore(rows, clock)),
    lastRows: async (hasAdopted) => ownRows(await cluster.durability.rows(hasAdopted), clock),
    isBehind: () => false,
    refusesRows: () => !cluster.canKeep,
  };
}
