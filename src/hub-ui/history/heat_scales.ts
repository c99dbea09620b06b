import { isDark } from '../controls/theme.ts';
import { t } from '../languages/language.ts';
import { lengthOfTime } from '../languages/times.ts';
import type { LegendEntry } from '../map/view/map_image.ts';
import { type Cell, HEAT_DARK, HEAT_LIGHT, levelOf, thresholdsOf } from './heat.ts';
import {
  type ComparedCell,
  compareCells,
  csvOfCells,
  DIFFERENCE_DARK,
  DIFFERENCE_LIGHT,
  differenceLevel,
  differenceSteps,
} from './heat_difference.ts';
import { fetchHeatmap, fetchQuality, type Grid, type HeatCell, type QualityCell, type Range } from './history_api.ts';
import { csvOfQuality, type QualityFigure } from './quality_cells.ts';

/** Cells by color, the meaning of the colors, and the cells as a table. */
export interface Scale {
  readonly levels: readonly (readonly Cell[])[];
  readonly legend: readonly LegendEntry[];
  readonly csv: () => string;
}

/** Reply of the history about the cells of a grid. */
export type Recorded = { readonly meters: number } & (
  | { readonly is: 'time'; readonly cells: readonly HeatCell[] }
  | { readonly is: 'difference'; readonly cells: readonly ComparedCell[] }
  | { readonly is: 'quality'; readonly cells: readonly QualityCell[] }
);

/** Fetches the times or the quality of the cells of a grid. Rejects like every query of the history. */
export async function recordedIn(
  grid: Grid,
  { versus, isQuality }: { readonly versus: Range | undefined; readonly isQuality: boolean },
  signal: AbortSignal,
): Promise<{ readonly value: Recorded; readonly isIncomplete: boolean }> {
  if (isQuality) {
    const { value, isIncomplete } = await fetchQuality(grid, signal);
    return { value: { is: 'quality', meters: value.cell_metres, cells: value.cells }, isIncomplete };
  }
  const earlier = versus && fetchHeatmap({ ...grid, ...versus }, signal);
  const [now, before] = await Promise.all([fetchHeatmap(grid, signal), earlier]);
  const isIncomplete = now.isIncomplete || before?.isIncomplete === true;
  const { cells, cell_metres: meters = grid.cellMeters } = now.value;
  if (before === undefined) return { value: { is: 'time', meters, cells }, isIncomplete };
  return { value: { is: 'difference', meters, cells: compareCells(cells, before.value.cells) }, isIncomplete };
}

/** Returns the cells by color. The scale has no cells until the reply for the chosen figure arrives. */
export function scaleOf(recorded: Recorded | undefined, figure: QualityFigure | undefined): Scale {
  if (recorded?.is === 'quality') return figure === undefined ? heatScale([], 1) : qualityScale(recorded, figure);
  if (figure !== undefined || recorded === undefined) return heatScale([], 1);
  return recorded.is === 'time'
    ? heatScale(recorded.cells, recorded.meters)
    : differenceScale(recorded.cells, recorded.meters);
}

function heatScale(cells: readonly HeatCell[], meters: number): Scale {
  const thresholds = thresholdsOf(cells.map(({ seconds }) => seconds));
  return {
    levels: byLevel(cells, thresholds.length + 1, ({ seconds }) => levelOf(seconds, thresholds)),
    legend: legendOf(thresholds, (seconds) => lengthOfTime(seconds * 1_000)),
    csv: () => csvOfCells(cells, meters),
  };
}

function qualityScale(
  { cells, meters }: { readonly cells: readonly QualityCell[]; readonly meters: number },
  figure: QualityFigure,
): Scale {
  const drawn = cells.filter((cell) => figure.valueOf(cell) > 0);
  const thresholds = figure.thresholdsOf(drawn.map(figure.valueOf));
  return {
    levels: byLevel(drawn, thresholds.length + 1, (cell) => levelOf(figure.valueOf(cell), thresholds)),
    legend: legendOf(thresholds, figure.text),
    csv: () => csvOfQuality(cells, meters),
  };
}

function legendOf(thresholds: readonly number[], text: (value: number) => string): readonly LegendEntry[] {
  const colors = isDark() ? HEAT_DARK : HEAT_LIGHT;
  return [...thresholds, undefined].map((threshold, level) => ({
    color: colors[level] ?? '',
    text:
      threshold === undefined
        ? t('{long} or more', { long: text(thresholds.at(-1) ?? 0) })
        : t('less than {long}', { long: text(threshold) }),
  }));
}

function byLevel<C extends Cell>(cells: readonly C[], count: number, of: (cell: C) => number): readonly C[][] {
  const levels = Array.from({ length: count }, (): C[] => []);
  for (const cell of cells) levels[of(cell)]?.push(cell);
  return levels;
}

function differenceScale(cells: readonly ComparedCell[], meters: number): Scale {
  const steps = differenceSteps(cells);
  const colors = isDark() ? DIFFERENCE_DARK : DIFFERENCE_LIGHT;
  const [small = '', large = ''] = steps.map((seconds) => lengthOfTime(seconds * 1_000));
  const texts = [
    t('at least {long} less', { long: large }),
    t('at least {long} less', { long: small }),
    t('about the same'),
    t('at least {long} more', { long: small }),
    t('at least {long} more', { long: large }),
  ];
  return {
    levels: byLevel(cells, texts.length, (cell) => differenceLevel(cell.seconds - cell.secondsBefore, steps)),
    legend: texts.map((text, level) => ({ color: colors[level] ?? '', text })),
    csv: () => csvOfCells(cells, meters),
  };
}
