import type Polygon from 'ol/geom/Polygon.js';
import type { Position } from './plane.ts';

/** Distance of the first candidate row from the upper edge, and between further rows, in pixels. */
const FIRST_ROW_PIXELS = 13;
const ROWS = 8;

/** A horizontal line, in map units. */
export interface LabelLine {
  readonly left: number;
  readonly right: number;
  readonly y: number;
}

/**
 * Line for the label of an area, inside it and as near to its upper edge as it fits. A label in the middle would cover the
 * content of the area. Undefined if it fits nowhere.
 */
export function labelPosition(
  rings: readonly (readonly Position[])[],
  { widthPixels, resolution }: { readonly widthPixels: number; readonly resolution: number },
): LabelLine | undefined {
  const ys = (rings[0] ?? []).map(([, y = 0]) => y);
  const [top, bottom] = [Math.max(...ys), Math.min(...ys)];
  const first = top - FIRST_ROW_PIXELS * resolution;
  const middle = (top + bottom) / 2;
  if (!(first >= middle)) return undefined;
  for (let row = 0; row <= ROWS; row++) {
    const y = first + ((middle - first) * row) / ROWS;
    const span = widestAt(rings, y);
    if (span !== undefined && span[1] - span[0] >= widthPixels * resolution) {
      return { left: span[0], right: span[1], y };
    }
  }
  return undefined;
}

/** Average width of a letter of a label, and its distance from the edge. */
const LETTER_PIXELS = 6.5;
const MARGIN_PIXELS = 6;
/** Minimum size of a labeled area on the screen. */
const AREA_MIN_PIXELS = 46;

/** The name of an area, shortened to the available width, and its anchor point: the start, or the center. */
export interface AreaName {
  readonly text: string;
  readonly at: Position;
  readonly align: 'left' | 'center';
}

/**
 * The label of an area: centered for zones and left-aligned for fences, since many fences have the outline of their zone.
 * Undefined if the area is too small.
 */
export function areaName(
  polygon: Polygon,
  { text, isZone, resolution }: { readonly text: string; readonly isZone: boolean; readonly resolution: number },
): AreaName | undefined {
  const [left = 0, , right = 0] = polygon.getExtent();
  const width = (right - left) / resolution;
  if (width < AREA_MIN_PIXELS) return undefined;
  const shown = shortened(text, width);
  const widthPixels = shown.length * LETTER_PIXELS + 2 * MARGIN_PIXELS;
  const row = labelPosition(polygon.getCoordinates(), { widthPixels, resolution });
  if (row === undefined) return { text: shown, at: polygon.getInteriorPoint().getCoordinates(), align: 'center' };
  if (isZone) return { text: shown, at: [(row.left + row.right) / 2, row.y], align: 'center' };
  return { text: shown, at: [row.left + MARGIN_PIXELS * resolution, row.y], align: 'left' };
}

function shortened(text: string, widthPixels: number): string {
  const most = Math.max(4, Math.floor(widthPixels / LETTER_PIXELS));
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

/** Widest part of a horizontal line inside an area, excluding holes. */
function widestAt(rings: readonly (readonly Position[])[], y: number): readonly [number, number] | undefined {
  const crossings: number[] = [];
  for (const ring of rings) {
    for (let i = 0; i < ring.length; i++) {
      const [x0 = 0, y0 = 0] = ring[i] ?? [];
      const [x1 = 0, y1 = 0] = ring[(i + 1) % ring.length] ?? [];
      if (y0 > y !== y1 > y) crossings.push(x0 + ((y - y0) / (y1 - y0)) * (x1 - x0));
    }
  }
  crossings.sort((a, b) => a - b);
  let widest: readonly [number, number] | undefined;
  for (let i = 0; i + 1 < crossings.length; i += 2) {
    const span = [crossings[i] ?? 0, crossings[i + 1] ?? 0] as const;
    if (widest === undefined || span[1] - span[0] > widest[1] - widest[0]) widest = span;
  }
  return widest;
}

/** Font sizes of names, in pixels. Smaller names are hidden. */
const SIZE_MIN = 11;
const SIZE_MAX = 34;
/** Width of a letter, as a share of the font size. */
const LETTER_SHARE = 0.62;
/** Shares of the width and height of an area that its name may fill. */
const WIDTH_SHARE = 0.8;
const HEIGHT_SHARE = 0.3;

/** Font size of a name in an area of this size in pixels; undefined if it does not fit. */
export function nameSize(
  name: string,
  { width, height }: { readonly width: number; readonly height: number },
): number | undefined {
  const fitting = Math.min((width * WIDTH_SHARE) / (name.length * LETTER_SHARE), height * HEIGHT_SHARE, SIZE_MAX);
  return fitting < SIZE_MIN ? undefined : Math.round(fitting);
}

/** A side of a line at its middle. */
export interface LineSide {
  /** Direction away from the line, in radians clockwise from up. */
  readonly bearing: number;
  /** Point at a distance from the line. */
  readonly from: (distance: number) => [x: number, y: number];
}

/** Returns a side of a line, looking along it. */
export function sideOf(points: readonly Position[], side: 'left' | 'right'): LineSide {
  const [x0, y0, x1, y1, part] = middleOf(points);
  const length = Math.hypot(x1 - x0, y1 - y0) || 1;
  const turn = side === 'left' ? 1 : -1;
  const [east, north] = [(turn * (y0 - y1)) / length, (turn * (x1 - x0)) / length];
  const [x, y] = [x0 + part * (x1 - x0), y0 + part * (y1 - y0)];
  return { bearing: Math.atan2(east, north), from: (distance) => [x + distance * east, y + distance * north] };
}

type Segment = [x0: number, y0: number, x1: number, y1: number, part: number];

/** The segment that contains the middle of a line, and the part of it that is before the middle. */
function middleOf(points: readonly Position[]): Segment {
  const segments = points.slice(1).map((to, i): Segment => {
    const from = points[i] ?? to;
    return [from[0] ?? 0, from[1] ?? 0, to[0] ?? 0, to[1] ?? 0, 0];
  });
  const lengths = segments.map(([x0, y0, x1, y1]) => Math.hypot(x1 - x0, y1 - y0));
  let left = lengths.reduce((sum, each) => sum + each, 0) / 2;
  for (const [i, segment] of segments.entries()) {
    const length = lengths[i] ?? 0;
    if (left <= length && length > 0) return [segment[0], segment[1], segment[2], segment[3], left / length];
    left -= length;
  }
  return segments[0] ?? [0, 0, 0, 0, 0];
}
