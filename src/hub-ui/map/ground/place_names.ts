import type { MapPoint } from '../plane/plane.ts';
import type { CanvasContext, CanvasFrame } from '../view/canvas_layer.ts';
import type { Palette } from '../view/palette.ts';
import { EARTH_WIDTH } from './world_fade.ts';

/** A name on the world map. */
export interface NamedPlace {
  readonly name: string;
  readonly at: MapPoint;
  readonly mark: 'city' | 'capital' | 'country';
  /** Zoom levels between which the name is visible. */
  readonly fromZoom: number;
  readonly toZoom?: number;
  /** Available width in map units. The name is omitted if it does not fit. */
  readonly fits?: number;
}

export interface NameOptions {
  readonly zoom: number;
  readonly colors: Palette;
  /** Repetitions of the earth in view, as numbers of turns around the globe. */
  readonly turns: readonly number[];
}

const FAMILY = 'Inter, system-ui, sans-serif';
const LINE_PIXELS = 15;
const GAP_PIXELS = 6;
/** Distance between a dot and its name. */
const ASIDE_PIXELS = 6;

type Area = readonly [left: number, top: number, right: number, bottom: number];

/** Draws names in order, skipping each that would overlap an earlier one. */
export function drawNames(
  frame: CanvasFrame,
  places: readonly NamedPlace[],
  { zoom, colors, turns }: NameOptions,
): void {
  const { context, width, height, resolution } = frame;
  const [a, b, c, d, e, f] = frame.toPixel;
  const taken: Area[] = [];
  context.textBaseline = 'middle';
  context.lineJoin = 'round';
  for (const place of places) {
    const { at, fromZoom, toZoom = Infinity, fits = Infinity } = place;
    if (zoom < fromZoom || zoom > toZoom) continue;
    for (const turn of turns) {
      const mapX = at[0] + turn * EARTH_WIDTH;
      const x = a * mapX + c * at[1] + e;
      const y = b * mapX + d * at[1] + f;
      if (x < 0 || y < 0 || x > width || y > height) continue;
      const text = textOf(place);
      context.font = fontOf(place);
      context.letterSpacing = place.mark === 'country' ? '1.2px' : '0px';
      const textWidth = context.measureText(text).width;
      if (textWidth > fits / resolution) continue;
      const area = areaOf({ x, y, textWidth, place });
      if (taken.some((other) => overlap(area, other))) continue;
      taken.push(area);
      if (place.mark !== 'country') drawDot(context, { x, y, isCapital: place.mark === 'capital', colors });
      drawText(context, {
        text,
        x: area[0] + GAP_PIXELS / 2 + (place.mark === 'country' ? 0 : ASIDE_PIXELS),
        y,
        colors,
        place,
      });
    }
  }
  context.letterSpacing = '0px';
}

function textOf({ name, mark }: NamedPlace): string {
  return mark === 'country' ? name.toUpperCase() : name;
}

function fontOf({ mark }: NamedPlace): string {
  return mark === 'country' ? `600 10px ${FAMILY}` : `500 11px ${FAMILY}`;
}

interface Spot {
  readonly x: number;
  readonly y: number;
}

function areaOf({ x, y, textWidth, place }: Spot & { textWidth: number; place: NamedPlace }): Area {
  const half = LINE_PIXELS / 2 + 1;
  const left = place.mark === 'country' ? x - textWidth / 2 : x;
  const right = left + textWidth + (place.mark === 'country' ? 0 : ASIDE_PIXELS);
  return [left - GAP_PIXELS / 2, y - half, right + GAP_PIXELS / 2, y + half];
}

function overlap(one: Area, other: Area): boolean {
  return one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3];
}

function drawDot(
  context: CanvasContext,
  { x, y, isCapital, colors }: Spot & { readonly isCapital: boolean; readonly colors: Palette },
): void {
  context.beginPath();
  context.arc(x, y, isCapital ? 2.5 : 2, 0, 2 * Math.PI);
  context.fillStyle = isCapital ? colors.ground : colors.place;
  context.fill();
  if (!isCapital) return;
  context.lineWidth = 1.25;
  context.strokeStyle = colors.place;
  context.stroke();
}

function drawText(
  context: CanvasContext,
  { text, x, y, colors, place }: Spot & { readonly text: string; readonly colors: Palette; readonly place: NamedPlace },
): void {
  context.lineWidth = 3;
  context.strokeStyle = colors.placeHalo;
  context.strokeText(text, x, y);
  context.fillStyle = place.mark === 'country' ? colors.country : colors.place;
  context.fillText(text, x, y);
}
