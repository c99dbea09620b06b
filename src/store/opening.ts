import { formatTime } from '../model/time.ts';
import type { Stage } from '../wire/store_messages.ts';

/** What opening a database needs besides its path. */
export interface Opening {
  /** The time now, for the names of backups. */
  readonly nowMs: number;
  /** Told of what takes time. */
  stage?(stage: Stage): void;
  /** Told of what somebody should know of the database. */
  notice?(text: string): void;
  /** Whether to go on without what the database has lost, where it would be refused otherwise. */
  readonly acceptLoss?: boolean;
}

/** A time as it stands in names of files: 20261121T030452Z. */
export function timeInName(nowMs: number): string {
  return formatTime(nowMs).replace(/\.\d+/, '').replaceAll(/[-:]/g, '');
}
