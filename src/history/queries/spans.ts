import type { HistoryTopic } from '../../model/history.ts';
import type { HistoryFile } from '../files.ts';
import { HOUR_MS } from '../layout.ts';
import type { Span } from './query.ts';

/** Returns the files of a topic whose hours overlap with a span. */
export function filesOf(
  files: readonly HistoryFile[],
  topic: HistoryTopic,
  { fromMs, toMs }: Span,
): readonly HistoryFile[] {
  return files.filter((file) => file.topic === topic && file.hourMs < toMs && file.hourMs + HOUR_MS > fromMs);
}
