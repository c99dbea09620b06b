import type { Config } from '../config/schema.ts';
import { historySettings, postgresSettings } from '../config/settings.ts';
import type { History } from '../history/history.ts';
import type { Postgres } from '../history/postgres.ts';
import type { QueryPool } from '../history/queries/query_pool.ts';
import { partitionOf } from '../shards/affinity.ts';
import type { Log } from './log.ts';
import type { Parts } from './parts.ts';

/** The history: who records it, and who answers questions about it. */
export interface Recording {
  readonly history: History;
  readonly pool: QueryPool;
  /** Copies it to a database, where one is set. */
  readonly postgres: Postgres | undefined;
}

/** Starts to record; undefined where nothing is to be recorded, and then nothing of it is loaded. */
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
    forgetNames: (shard) => shards.forgetNames(shard),
    announces: (id) => cluster === undefined || cluster.serves(partitionOf(id)),
  });
  // What a hub that is out has made of locations is nobody's business.
  outcomes.recordTo((shard, places) => cluster?.isOut !== true && history.take(shard, places));
  history.start();
  const pool = new QueryPool(
    {
      threads: config.history_query_threads,
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
  return { history, pool, postgres };
}
