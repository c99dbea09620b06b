import { formatTime } from '../model/time.ts';
import type { Stage } from '../wire/store_messages.ts';

/** Options for opening a database. */
export interface Opening {
  /** Current time, for the names of backups. */
  readonly nowMs: number;
  /** Called with the progress of long operations. */
  stage?(stage: Stage): void;
  /** Called with warnings about the database. */
  notice?(text: string): void;
  /** Whether to accept lost data instead of rejecting the database. */
  readonly acceptLoss?: boolean;
}

/** Returns a time for file names, such as 20261121T030452Z. */
export function timeInName(nowMs: number): string {
  return formatTime(nowMs).replace(/\.\d+/, '').replaceAll(/[-:]/g, '');
}
