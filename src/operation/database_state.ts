import type { DatabaseHealth } from '../model/health.ts';
import { formatTime } from '../model/time.ts';
import { reasonOf } from '../store/start_errors.ts';

/** Tracks whether the database rejects writes, since when and why. */
export class DatabaseState {
  #failing: { readonly sinceMs: number; readonly error: unknown } | undefined;

  /** Records that the database starts or stops rejecting writes. */
  note(state: 'ok' | 'failing', { error, nowMs }: { readonly error: unknown; readonly nowMs: number }): void {
    this.#failing = state === 'ok' ? undefined : { sinceMs: nowMs, error };
  }

  health(pendingRows: number): DatabaseHealth {
    if (this.#failing === undefined) return { state: 'ok', pending_rows: pendingRows };
    const { sinceMs, error } = this.#failing;
    return {
      state: 'failing',
      pending_rows: pendingRows,
      failing_since: formatTime(sinceMs),
      error: reasonOf(error),
    };
  }
}
