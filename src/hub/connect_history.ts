import type { Cluster } from '../cluster/cluster.ts';
import type { Config } from '../config/schema.ts';
import { historySettings, postgresSettings } from '../config/settings.ts';
import type { History } from '../history/history.ts';
import type { Postgres } from '../history/postgres.ts';
import type { HistoryAnswer, QueryPool } from '../history/queries/query_pool.ts';
import type { HistoryQuery } from '../history/queries/query.ts';
import { CURRENT } from '../operation/usage.ts';
import { settingsByHub } from './connect_cluster.ts';
import { type Erase, erasing } from './connect_erasure.ts';
import type { Log } from './log.ts';
import type { Parts } from './parts.ts';

/** History: recording and queries. */
export interface Recording {
  readonly history: History;
  readonly pool: Pick<QueryPool, 'close'>;
  /** Answers queries; in a cluster, from the records of all hubs. */
  ask(question: HistoryQuery, gone: AbortSignal | undefined): Promise<HistoryAnswer>;
  readonly erase: Erase;
  /** Copies the history to a database, if one is configured. */
  readonly postgres: Postgres | undefined;
}

/** Starts recording. If history is off, returns undefined and loads no history code. */
export async function connectHistory(
  parts: Parts & { readonly hubId: string },
  config: Config,
  log: Log,
): Promise<Recording | undefined> {
  const settings = historySettings(config);
  if (settings === undefined) return undefined;
  const { History } = await import('../history/history.ts');
  const { QueryPool } = await import('../history/queries/query_pool.ts');
  const { fanout, cluster, machine, outcomes, shards } = parts;
  const history = new History(settings, {
    ...{ fanout, log, schedule: machine.schedule, now: parts.now },
    fenceProperties: (id) => parts.entities.get('fence', id)?.properties ?? undefined,
    forgetNames: (shard) => shards.forgetNames(shard),
    announces: (id) => cluster === undefined || cluster.serves(id),
  });
  // Discards positions computed by a hub that is out of its cluster.
  outcomes.recordTo((shard, places) => cluster?.isOut !== true && history.take(shard, places));
  history.start();
  const pool = new QueryPool(
    {
      processes: config.history_query_threads,
      memoryMb: config.history_query_memory,
      timeoutMs: config.history_query_timeout,
    },
    {
      ...{ schedule: machine.schedule, log },
      files: (wanted) => history.files(wanted),
      release: (lease) => history.release(lease),
      damaged: (path, why) => history.damaged(path, why),
    },
  );
  const toDatabase = postgresSettings(config, parts.hubId);
  const postgres =
    toDatabase &&
    new (await import('../history/postgres.ts')).Postgres(toDatabase, {
      ...{ log, schedule: machine.schedule },
      files: (wanted) => history.files(wanted),
      release: (lease) => history.release(lease),
    });
  postgres?.start();
  const absent = (sinceMs: number) => (cluster === undefined ? [] : absentHubs(cluster, sinceMs));
  const erase = erasing({ ...parts, history, log, absentHubs: absent });
  return { history, pool, postgres, erase, ask: await asking(parts, { history, pool }, config) };
}

/** Returns how queries are answered: by this hub alone, or from the rows of all hubs. */
async function asking(
  { cluster, machine, now }: Pick<Parts, 'cluster' | 'machine' | 'now'>,
  { history, pool }: { readonly history: History; readonly pool: QueryPool },
  { history_query_timeout: timeoutMs }: Config,
): Promise<Recording['ask']> {
  if (cluster === undefined) return (question, gone) => pool.ask(question, gone);
  const { ClusterHistory, sharedProblem } = await import('../history/queries/cluster_history.ts');
  const all = new ClusterHistory({
    pool,
    folder: history.settings.folder,
    ...{ now, timeoutMs, schedule: machine.schedule },
    async askOthers(selections, sinceMs) {
      const { answered, missing } = await cluster.gather.askOthers({ ask: HISTORY, about: selections }, timeoutMs);
      const values = answered.map(({ value }) => value);
      const recordedMs = Math.max(sinceMs, history.recordedSince());
      return { values, missing: [...missing, ...absentHubs(cluster, recordedMs)] };
    },
  });
  cluster.gather.serve(HISTORY, {
    answer: ({ about }) => all.share(about),
    problem: (_, value) => sharedProblem(value),
  });
  return (question, gone) => all.ask(question, gone);
}

/** Name of history requests between hubs. */
const HISTORY = 'history';

/** Returns the names of hubs that were members at or after a time and have left, so that their rows cannot be read. */
function absentHubs(cluster: Cluster, sinceMs: number): readonly string[] {
  const present = new Set(cluster.membership.members.map(({ name }) => name));
  return [...settingsByHub(cluster)]
    .filter(([hub, settings]) => !present.has(hub) && lastCountedMs(settings) >= sinceMs)
    .map(([hub]) => hub);
}

/** Returns the time at which a hub last stored its usage, which it does every minute. */
function lastCountedMs(settings: ReadonlyMap<string, string>): number {
  const text = settings.get(CURRENT);
  return text === undefined ? Number.NEGATIVE_INFINITY : (JSON.parse(text) as { readonly toMs: number }).toMs;
}
