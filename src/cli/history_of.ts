import type { HubClient } from './hub_client.ts';

/** History settings of the hub. */
export interface HistoryOfHub {
  /** Undefined if history is off, or unknown. */
  readonly state: string | undefined;
  /** Older data is not recorded, in milliseconds since 1970; -Infinity if everything is recorded, or nothing. */
  readonly recordedSinceMs: number;
}

/** Predicate of a sentence about data older than the retention period. */
export const NOT_RECORDED =
  'will not be in the history: they exceed its retention (history_retention_days; null is unlimited)';

export async function historyOf(client: HubClient): Promise<HistoryOfHub> {
  const { ok, text } = await client.send('GET', '/health/history');
  const { state, recorded_since: since } = (ok && text !== '' ? JSON.parse(text) : {}) as Record<
    string,
    string | undefined
  >;
  return { state, recordedSinceMs: since === undefined ? Number.NEGATIVE_INFINITY : Date.parse(since) };
}
