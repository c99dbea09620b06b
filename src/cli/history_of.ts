import type { HubClient } from './hub_client.ts';

/** What the hub says of its history. */
export interface HistoryOfHub {
  /** Undefined where the hub records none, or does not say. */
  readonly state: string | undefined;
  /** Older data is not recorded, in milliseconds since 1970; -Infinity where all is recorded, or nothing is. */
  readonly recordedSinceMs: number;
}

/** The end of a sentence about data that is older than the history retains. */
export const NOT_RECORDED =
  'will not be in the history: the hub retains less (history_retention_days; null retains history forever)';

export async function historyOf(client: HubClient): Promise<HistoryOfHub> {
  const { ok, text } = await client.send('GET', '/health/history');
  const { state, recorded_since: since } = (ok && text !== '' ? JSON.parse(text) : {}) as Record<
    string,
    string | undefined
  >;
  return { state, recordedSinceMs: since === undefined ? Number.NEGATIVE_INFINITY : Date.parse(since) };
}
