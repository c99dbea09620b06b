import { extname } from 'node:path';

/** Extensions of files of positions. */
const EXTENSIONS = ['.csv', '.ndjson', '.jsonl', '.parquet'] as const;

/** Whether a file contains positions, not entities. */
export function isPositionFile(path: string): boolean {
  return EXTENSIONS.some((extension) => extension === extname(path).toLowerCase());
}

/** Options of an import of positions. The first ones name columns, or members of lines of JSON. */
export interface PositionOptions {
  readonly hub: string;
  readonly id?: string;
  readonly x?: string;
  readonly y?: string;
  readonly z?: string;
  readonly time?: string;
  readonly timeUnit: 'iso' | 's' | 'ms';
  readonly timeZone?: string;
  readonly crs: string;
  readonly zone?: string;
  readonly type: string;
  readonly map?: string;
  readonly makeTrackables?: boolean;
  /** Writes to the history of a stopped hub, instead of sending the locations to a running one. */
  readonly intoHistory?: boolean;
  readonly speed: number;
  readonly batch: number;
}
