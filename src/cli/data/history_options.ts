import type { HistoryTopic } from '../../model/history.ts';

export const EXPORT_FORMATS = ['parquet', 'csv', 'geojson'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** Times in milliseconds since 1970; a missing one is unbounded. */
export interface ExportOptions {
  readonly out: string;
  readonly topic: HistoryTopic;
  readonly from?: number;
  readonly to?: number;
  readonly format?: ExportFormat;
  readonly force?: boolean;
  /** Replace ids by pseudonyms: with the key in that file, or with a random key. */
  readonly pseudonymize?: string | true;
}

export interface PruneOptions {
  /** In milliseconds since 1970. */
  readonly before?: number;
  /** In MiB. */
  readonly maxSize?: number;
  readonly dryRun?: boolean;
  readonly stopped?: boolean;
}
