import { t } from '../languages/language.ts';
import { countText, metersText } from '../languages/numbers.ts';
import { thresholdsOfNumbers } from './heat.ts';
import type { QualityCell } from './history_api.ts';

/** A figure of the quality of positions; larger values are worse. */
export interface QualityFigure {
  readonly label: string;
  /** Title of a map, with the side of its cells. */
  readonly title: (length: string) => string;
  /** Value of a cell; 0 if it has none, and is not drawn. */
  readonly valueOf: (cell: QualityCell) => number;
  readonly text: (value: number) => string;
  readonly thresholdsOf: (values: readonly number[]) => readonly number[];
}

const counts = { text: countText, thresholdsOf: (values: readonly number[]) => thresholdsOfNumbers(values, 1) };

/** Figures by their name in the URL. A gap and a jump are those of `GET /analytics/quality`. */
const FIGURES = {
  accuracy: {
    label: t('Accuracy'),
    title: (length) => t('Median accuracy per {length} square', { length }),
    valueOf: ({ accuracy }) => accuracy ?? 0,
    text: metersText,
    thresholdsOf: (values) => thresholdsOfNumbers(values, 0.01),
  },
  gaps: {
    label: t('Gaps of more than 5 s'),
    title: (length) => t('Gaps per {length} square', { length }),
    valueOf: ({ gaps }) => gaps,
    ...counts,
  },
  jumps: {
    label: t('Jumps at more than 10 m/s'),
    title: (length) => t('Jumps per {length} square', { length }),
    valueOf: ({ jumps }) => jumps,
    ...counts,
  },
} as const satisfies Readonly<Record<string, QualityFigure>>;

export const QUALITY_FIGURES: ReadonlyMap<string, QualityFigure> = new Map(Object.entries(FIGURES));

/** CSV file of the quality of positions in cells. */
export function csvOfQuality(cells: readonly QualityCell[], cellMeters: number): string {
  const lines = cells.map(({ longitude, latitude, positions, accuracy, gaps, jumps }) => [
    ...[longitude, latitude, cellMeters, positions, accuracy ?? '', gaps, jumps],
  ]);
  const head = ['longitude', 'latitude', 'cell_meters', 'positions', 'accuracy', 'gaps', 'jumps'];
  return [head, ...lines].map((line) => `${line.join(',')}\r\n`).join('');
}
