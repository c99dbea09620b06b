/** Small charts as SVG: bars side by side, and lines. */

const WIDTH = 760;
const HEIGHT = 360;
const MARGIN = { left: 80, right: 20, top: 46, bottom: 56 };
const COLOURS = ['#2563a8', '#d97706', '#3f8f4f', '#9b3fa0', '#b83232', '#5b6472'];
const TICKS = 5;

/** Values of one color, by group label; undefined for missing ones. */
export interface Bars {
  readonly name: string;
  readonly values: readonly (number | undefined)[];
}

export interface Line {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}

interface Axes {
  readonly title: string;
  readonly x: string;
  readonly y: string;
}

/** Grouped bars, one group per label. */
export function barChart(axes: Axes, labels: readonly string[], bars: readonly Bars[]): string {
  const most = Math.max(...bars.flatMap(({ values }) => values.map((value) => value ?? 0)), 0);
  const scale = scaleTo(most);
  const group = (WIDTH - MARGIN.left - MARGIN.right) / labels.length;
  const width = (group * 0.8) / bars.length;
  const shapes = bars.flatMap(({ values }, kind) =>
    values.map((value, i) => {
      if (value === undefined) return '';
      const x = MARGIN.left + i * group + group * 0.1 + kind * width;
      const top = scale.at(value);
      const height = scale.at(0) - top;
      return (
        `<rect x="${px(x)}" y="${px(top)}" width="${px(width)}" height="${px(height)}" fill="${colour(kind)}"/>` +
        `<text x="${px(x + width / 2)}" y="${px(top - 3)}" text-anchor="middle" font-size="9">${short(value)}</text>`
      );
    }),
  );
  const names = labels.map((label, i) => below(MARGIN.left + (i + 0.5) * group, label));
  return svg(axes.title, [...frame(axes, scale), ...shapes, ...names, ...legend(bars)]);
}

/** Lines. The horizontal axis is logarithmic if it spans more than a factor of fifty. */
export function lineChart(axes: Axes, lines: readonly Line[]): string {
  const points = lines.flatMap(({ points }) => points);
  const xs = points.map(([x]) => x);
  const [least, most] = [Math.min(...xs), Math.max(...xs)];
  const isLogarithmic = least > 0 && most / least > 50;
  const along = (x: number): number => (isLogarithmic ? Math.log10(x) : x);
  const span = along(most) - along(least) || 1;
  const left = (x: number): number =>
    MARGIN.left + ((along(x) - along(least)) / span) * (WIDTH - MARGIN.left - MARGIN.right);
  const scale = scaleTo(Math.max(...points.map(([, y]) => y), 0));
  const shapes = lines.map(({ points: own }, kind) => {
    const path = own.map(([x, y]) => `${px(left(x))},${px(scale.at(y))}`).join(' ');
    const dots = own.map(
      ([x, y]) => `<circle cx="${px(left(x))}" cy="${px(scale.at(y))}" r="2.5" fill="${colour(kind)}"/>`,
    );
    return `<polyline points="${path}" fill="none" stroke="${colour(kind)}" stroke-width="2"/>${dots.join('')}`;
  });
  const all = [...new Set(xs)].sort((a, b) => a - b);
  const shown = isLogarithmic ? all : Array.from({ length: TICKS + 1 }, (_, i) => least + (span * i) / TICKS);
  return svg(axes.title, [
    ...frame(axes, scale),
    ...shapes,
    ...shown.map((x) => below(left(x), short(x))),
    ...legend(lines),
  ]);
}

interface Scale {
  readonly top: number;
  /** Pixels from the top of the image. */
  at(value: number): number;
}

/** A vertical axis from 0 to a round number. */
function scaleTo(most: number): Scale {
  const unit = 10 ** Math.floor(Math.log10(most || 1));
  const top = Math.ceil((most || 1) / (unit / 2)) * (unit / 2);
  const height = HEIGHT - MARGIN.top - MARGIN.bottom;
  return { top, at: (value) => MARGIN.top + height * (1 - value / top) };
}

function frame({ title, x, y }: Axes, scale: Scale): string[] {
  const right = WIDTH - MARGIN.right;
  const lines = Array.from({ length: TICKS + 1 }, (_, i) => {
    const value = (scale.top * i) / TICKS;
    const at = px(scale.at(value));
    return (
      `<line x1="${MARGIN.left}" x2="${right}" y1="${at}" y2="${at}" stroke="#d6dae0"/>` +
      `<text x="${MARGIN.left - 6}" y="${at}" text-anchor="end" dy="4">${short(value)}</text>`
    );
  });
  const middle = HEIGHT / 2;
  return [
    `<text x="${MARGIN.left}" y="16" font-size="14" font-weight="bold">${escaped(title)}</text>`,
    ...lines,
    `<text x="${(MARGIN.left + right) / 2}" y="${HEIGHT - 8}" text-anchor="middle">${escaped(x)}</text>`,
    `<text x="16" y="${middle}" text-anchor="middle" transform="rotate(-90 16 ${middle})">${escaped(y)}</text>`,
  ];
}

function legend(kinds: readonly { readonly name: string }[]): string[] {
  return kinds.map(({ name }, kind) => {
    const x = MARGIN.left + kind * 150;
    return (
      `<rect x="${x}" y="25" width="10" height="10" fill="${colour(kind)}"/>` +
      `<text x="${x + 15}" y="34">${escaped(name)}</text>`
    );
  });
}

function below(x: number, text: string): string {
  return `<text x="${px(x)}" y="${HEIGHT - MARGIN.bottom + 18}" text-anchor="middle">${escaped(text)}</text>`;
}

function svg(title: string, shapes: readonly string[]): string {
  const size = `width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}"`;
  const open = `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="sans-serif" font-size="11" fill="#1f2733">`;
  const made = '<!-- Made by `npm run bench` of bench/results.json. `npm run generate` redraws it. -->';
  const named = `<title>${escaped(title)}</title>`;
  return `${[open, made, named, `<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>`, ...shapes, '</svg>'].join('\n')}\n`;
}

function colour(kind: number): string {
  return COLOURS[kind % COLOURS.length] as string;
}

function px(value: number): string {
  return value.toFixed(1);
}

/** Formats such as 1.2k, 35, 0.04. */
function short(value: number): string {
  if (value >= 1e6) return `${Number((value / 1e6).toPrecision(3))}M`;
  if (value >= 1e4) return `${Number((value / 1e3).toPrecision(3))}k`;
  return String(Number(value.toPrecision(3)));
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
