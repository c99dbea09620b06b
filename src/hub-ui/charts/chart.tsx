import { clockText, shortClockText } from '../languages/times.ts';
import 'uplot/dist/uPlot.min.css';
import { useEffect, useRef, useState } from 'preact/hooks';
import UPlot from 'uplot';
import { isDark } from '../controls/theme.ts';
import typography from '../controls/typography.module.css';
import styles from './chart.module.css';

export interface Line {
  readonly label: string;
  /** One value per time; null leaves a gap. */
  readonly values: readonly (number | null)[];
  /** Whether to hold each value until the next instead of connecting them by a slope. */
  readonly isStepped?: boolean;
}

interface ChartProps {
  /** Accessible name of the chart. */
  readonly label: string;
  /** Unix seconds, ascending. */
  readonly times: readonly number[];
  readonly lines: readonly Line[];
  /** Formats a value with its unit. */
  readonly format: (value: number) => string;
  /** Range in Unix seconds; undefined for the range of the values. */
  readonly range?: readonly [number, number];
  readonly height?: number;
}

/** Minimum range of a chart: on a page that was just opened, a line at the end of an empty hour would be hard to see. */
const SHORTEST_MS = 60_000;

/** Range of a chart: the last `minutes`, but not before the first value. */
export function rangeOf(minutes: number, nowMs: number, firstMs: number): readonly [number, number] {
  const fromMs = Math.min(Math.max(firstMs, nowMs - minutes * 60_000), nowMs - SHORTEST_MS);
  return [fromMs, nowMs];
}

/** Line colors, distinguishable with red-green color blindness. */
const LIGHT = ['#0b6e66', '#1c5fb8', '#b36b00', '#a3357a', '#5b4bb3', '#5d6974', '#9c2f1d', '#3f7d20'];
const DARK = ['#3bd0bd', '#86baff', '#f2b65c', '#f08fcb', '#b3a6ff', '#a2adb8', '#ff9087', '#a5d97a'];

const AXIS_FONT = '11px Inter, system-ui, sans-serif';
/** Width of a character on an axis, approximately, and the space between two labels. */
const CHARACTER_PIXELS = 6.5;
const LABEL_GAP_PIXELS = 16;

/** Line chart over time, with a legend that shows the values at the pointer, or the last ones. */
export function Chart({ label, times, lines, format, range, height = 150 }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot | null>(null);
  const [at, setAt] = useState<number>();
  const shape = lines.map((line) => `${line.label}${line.isStepped === true}`).join();
  const colors = lines.map((_, index) => lineColor(index));
  const frame = frameColors();
  // The drawing code reads the current props from here.
  const now = useRef({ range, format });
  now.current = { range, format };
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const made = new UPlot(
      {
        width: element.clientWidth,
        height,
        legend: { show: false },
        padding: [8, 26, 0, 0],
        cursor: { y: false, points: { size: 6 }, drag: { x: false, y: false } },
        hooks: { setCursor: [({ cursor }) => setAt(cursor.idx ?? undefined)] },
        scales: {
          x: { range: (_plot, min, max) => (now.current.range as [number, number] | undefined) ?? [min, max] },
          // Without values, or with zeros only, the axis goes to 1.
          y: { range: (_plot, _min, max) => [0, max > 0 ? max * 1.1 : 1] },
        },
        axes: [
          {
            stroke: frame.ink,
            font: AXIS_FONT,
            grid: { show: false },
            ticks: { show: false },
            size: 26,
            space: clockText(0).length * CHARACTER_PIXELS + LABEL_GAP_PIXELS,
            values: clockTexts,
          },
          {
            stroke: frame.ink,
            font: AXIS_FONT,
            size: 58,
            ticks: { show: false },
            grid: { stroke: frame.grid, width: 1 },
            values: (_plot, values) => values.map((value) => now.current.format(value)),
          },
        ],
        series: [
          {},
          ...lines.map((line, index) => ({
            label: line.label,
            stroke: colors[index] ?? '',
            width: 1.75,
            points: { show: false },
            ...(lines.length === 1 && { fill: `${colors[index]}1f` }),
            ...(line.isStepped && { paths: UPlot.paths.stepped?.({ align: 1 }) ?? null }),
          })),
        ],
      } as UPlot.Options,
      dataOf(times, lines),
      element,
    );
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [shape, frame.ink, height]);
  useEffect(() => plot.current?.setData(dataOf(times, lines)), [times, lines]);
  const index = at !== undefined && at < times.length ? at : undefined;
  const shown = lines.map(({ values }) => (index === undefined ? lastOf(values) : values[index]));
  return (
    <figure class={styles.chart} aria-label={label}>
      <figcaption class={styles.legend}>
        {lines.map((line, i) => (
          <span key={line.label}>
            <span class={styles.swatch} style={{ background: colors[i] }} />
            {line.label} <strong>{shown[i] == null ? '–' : format(shown[i])}</strong>
          </span>
        ))}
        {index !== undefined && <span class={typography.faint}>{clockText((times[index] ?? 0) * 1_000)}</span>}
      </figcaption>
      <div ref={box} class={styles.plot} style={{ height }} aria-hidden="true" />
    </figure>
  );
}

function dataOf(times: readonly number[], lines: readonly Line[]): UPlot.AlignedData {
  return [times, ...lines.map(({ values }) => values)] as unknown as UPlot.AlignedData;
}

function lastOf(values: readonly (number | null)[]): number | null {
  return values.at(-1) ?? null;
}

function clockTexts(_plot: unknown, seconds: readonly number[]): string[] {
  const isFine = (seconds[1] ?? 60) - (seconds[0] ?? 0) < 60;
  return seconds.map((second) => (isFine ? clockText(second * 1_000) : shortClockText(second * 1_000)));
}

/** Color of the line at an index; reads a signal. */
function lineColor(index: number): string {
  const colors = isDark() ? DARK : LIGHT;
  return colors[index % colors.length] ?? '';
}

/** Colors of the axes and the grid. */
function frameColors(): { readonly ink: string; readonly grid: string } {
  return isDark()
    ? { ink: '#929ea9', grid: 'rgb(233 237 240 / 0.07)' }
    : { ink: '#5d6974', grid: 'rgb(18 24 30 / 0.07)' };
}
