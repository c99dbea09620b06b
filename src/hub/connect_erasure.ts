import { randomUUID } from 'node:crypto';
import { hubError } from '../errors.ts';
import type { Erased, Erasure } from '../history/erasure.ts';
import type { History } from '../history/history.ts';
import { HISTORY_TOPICS } from '../model/history.ts';
import type { Log } from './log.ts';
import type { Parts } from './parts.ts';

/** A request to erase the history of an object. */
export type ErasureRequest = Omit<Erasure, 'id'>;

/** Result of an erasure at all hubs. */
export interface ErasedEverywhere extends Erased {
  /** Names of the hubs that did not reply, so that they may still have rows. */
  readonly missingHubs: readonly string[];
}

/** Erases the history of an object at all hubs. Rejects with HUB_UNAVAILABLE if this hub cannot. */
export type Erase = (request: ErasureRequest) => Promise<ErasedEverywhere>;

interface ErasureDeps extends Pick<Parts, 'cluster' | 'shards' | 'collisions'> {
  readonly history: Pick<History, 'erase' | 'recordedSince'>;
  readonly log: Pick<Log, 'warn'>;
  /** Returns the names of former members whose history may have rows since a time. */
  absentHubs(sinceMs: number): readonly string[];
}

/** Name of erasures between hubs. */
const ERASE = 'erase_history';
/** Time for the other hubs. */
const OTHERS_MS = 120_000;

/** Returns how histories are erased, and lets other hubs of the cluster erase at this one. */
export function erasing({ cluster, shards, collisions, history, log, absentHubs }: ErasureDeps): Erase {
  const eraseHere = async (request: ErasureRequest): Promise<Erased> => {
    // Locations that were accepted before are recorded once they are processed.
    await shards.committed().catch(() => undefined);
    await shards.settled().catch(() => undefined);
    await collisions.settled().catch(() => undefined);
    try {
      return await history.erase({ ...request, id: randomUUID() });
    } catch (cause) {
      log.warn('The history of an object cannot be erased', { id: request.of, error: String(cause) });
      throw hubError('erasure_failed', { kind: request.kind, id: request.of }, { cause });
    }
  };
  cluster?.gather.serve(ERASE, {
    answer: ({ about }) => eraseHere(JSON.parse(about) as ErasureRequest),
    problem: (_, value) => (isErased(value) ? undefined : 'rows of each topic, and damaged, are needed'),
  });
  return async (request) => {
    if (cluster === undefined) return { ...(await eraseHere(request)), missingHubs: [] };
    const [own, others] = await Promise.all([
      eraseHere(request),
      cluster.gather.askOthers({ ask: ERASE, about: JSON.stringify(request) }, OTHERS_MS),
    ]);
    const all = [own, ...others.answered.map(({ value }) => value as Erased)];
    const absent = absentHubs(Math.max(request.fromMs, history.recordedSince()));
    return {
      rows: Object.fromEntries(
        HISTORY_TOPICS.map((topic) => [topic, all.reduce((sum, { rows }) => sum + rows[topic], 0)]),
      ) as Erased['rows'],
      damaged: all.reduce((sum, { damaged }) => sum + damaged, 0),
      missingHubs: [...others.missing, ...absent],
    };
  };
}

function isErased(value: unknown): boolean {
  const { rows, damaged } = (value ?? {}) as { readonly rows?: Record<string, unknown>; readonly damaged?: unknown };
  return HISTORY_TOPICS.every((topic) => Number.isInteger(rows?.[topic])) && Number.isInteger(damaged);
}
