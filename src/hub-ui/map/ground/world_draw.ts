import fine from 'world-atlas/countries-50m.json?url';
import coarse from 'world-atlas/countries-110m.json?url';
import { t } from '../../languages/language.ts';
import { mapX, mapY } from '../plane/plane.ts';
import type { CanvasFrame } from '../view/canvas_layer.ts';
import type { Palette } from '../view/palette.ts';
import { drawNames, type NamedPlace } from './place_names.ts';
import places from './places.json';
import { type MapExtent, type Line, type Topology, type World, worldOf } from './world.ts';
import { EARTH_WIDTH, worldOpacity, zoomOf } from './world_fade.ts';

/** The world at two levels of detail: 33 KB and 205 KB compressed. */
const GRADES = [
  { fromZoom: 0, url: coarse },
  { fromZoom: 4, url: fine },
] as const;

/** Delay before a failed download is retried. The map requests the picture in every frame. */
const RETRY_MS = 5_000;

const loaded = new Map<string, WorldPicture>();
const loading = new Set<string>();
/** Callbacks to run after the next load. */
const waiting = new Set<() => void>();

/**
 * Returns the most detailed loaded picture of the world for a zoom level, or undefined. Requests a missing one, and calls
 * `onLoaded` when it has loaded.
 */
export function pictureAt(zoom: number, onLoaded: () => void): WorldPicture | undefined {
  const fitting = GRADES.findLast(({ fromZoom }) => zoom >= fromZoom) ?? GRADES[0];
  const picture = loaded.get(fitting.url);
  if (picture !== undefined) return picture;
  waiting.add(onLoaded);
  if (!loading.has(fitting.url)) void load(fitting.url);
  return GRADES.map(({ url }) => loaded.get(url)).find((other) => other !== undefined);
}

/** Loads one level of detail. After a failure, a later request retries it. */
async function load(url: string): Promise<void> {
  loading.add(url);
  try {
    const response = await fetch(url);
    if (!response.ok) throw new Error(t('The world map cannot be loaded: {status}', { status: response.status }));
    loaded.set(url, new WorldPicture(worldOf((await response.json()) as Topology)));
  } catch {
    setTimeout(() => loading.delete(url), RETRY_MS);
    return;
  }
  const called = [...waiting];
  waiting.clear();
  for (const onLoaded of called) onLoaded();
}

/** Minimum distance between drawn points of a line, in pixels. */
const STEP_PIXELS = 0.7;

const CITIES: readonly NamedPlace[] = places.places.map((row) => {
  const [name, longitude, latitude, rank, isCapital] = row as [string, number, number, number, number];
  return {
    name,
    at: [mapX(longitude), mapY(latitude)],
    fromZoom: 2.4 + rank * 0.55,
    mark: isCapital === 1 ? 'capital' : 'city',
  };
});

/** A city or country on the world map, in map units. */
export interface WorldPlace {
  readonly at: NamedPlace['at'];
  readonly kind: 'city' | 'country';
}

/** Finds a city or country by its displayed name, ignoring case. */
export async function placeNamed(text: string): Promise<WorldPlace | undefined> {
  const name = text.trim().toLowerCase();
  const city = CITIES.find((each) => each.name.toLowerCase() === name);
  if (city !== undefined) return { at: city.at, kind: 'city' };
  const { url } = GRADES[0];
  if (!loaded.has(url)) await load(url);
  const country = loaded.get(url)?.countries.find((each) => each.name.toLowerCase() === name);
  return country && { at: country.at, kind: 'country' };
}

/** Names of countries, the widest first. */
function countryNames(world: World): readonly NamedPlace[] {
  return [...world.countries]
    .sort((a, b) => b.width - a.width)
    .map(({ name, at, width }) => ({ name, at, fromZoom: 1.6, toZoom: 7, fits: width, mark: 'country' as const }));
}

/** Draws the world: water, land, coasts and borders, then countries and cities with their names. */
class WorldPicture {
  readonly #world: World;
  readonly countries: readonly NamedPlace[];

  constructor(world: World) {
    this.#world = world;
    this.countries = countryNames(world);
  }

  draw(
    frame: CanvasFrame,
    { colors, covered }: { readonly colors: Palette; readonly covered: MapExtent | undefined },
  ): void {
    const { context, width, height, resolution } = frame;
    const opacity = worldOpacity(resolution);
    if (opacity === 0) return;
    const { land, coasts, borders } = this.#world;
    context.save();
    context.globalAlpha = opacity;
    context.fillStyle = colors.water;
    context.fillRect(0, 0, width, height);
    context.lineJoin = 'round';
    this.#trace(frame, land);
    // Land is always opaque, even after the water has faded.
    context.globalAlpha = 1;
    context.fillStyle = colors.ground;
    context.fill('evenodd');
    context.globalAlpha = opacity;
    this.#trace(frame, borders);
    context.lineWidth = 1;
    context.strokeStyle = colors.border;
    context.stroke();
    this.#trace(frame, coasts);
    context.strokeStyle = colors.coast;
    context.stroke();
    // Tiles have finer coastlines that would not match these.
    if (covered !== undefined) fillBox(frame, covered, colors.ground);
    drawNames(frame, [...CITIES, ...this.countries], { zoom: zoomOf(resolution), colors, turns: turnsIn(frame) });
    context.restore();
  }

  /** Adds the visible lines to the current path. hot: every frame while the map moves. */
  #trace(frame: CanvasFrame, lines: readonly Line[]): void {
    const { context, toPixel } = frame;
    const [a, b, c, d, e, f] = toPixel;
    const visible = visibleExtent(frame);
    context.beginPath();
    for (const turn of turnsIn(frame)) {
      const shift = turn * EARTH_WIDTH;
      for (const { points, box } of lines) {
        if (!meet(box, shift, visible)) continue;
        let [lastX, lastY] = [Number.NaN, 0];
        for (let i = 0; i < points.length; i += 2) {
          const x = points[i]! + shift;
          const y = points[i + 1]!;
          const pixelX = a * x + c * y + e;
          const pixelY = b * x + d * y + f;
          const isEnd = i + 2 === points.length;
          if (!isEnd && Math.abs(pixelX - lastX) < STEP_PIXELS && Math.abs(pixelY - lastY) < STEP_PIXELS) continue;
          if (i === 0) context.moveTo(pixelX, pixelY);
          else context.lineTo(pixelX, pixelY);
          lastX = pixelX;
          lastY = pixelY;
        }
      }
    }
  }
}

function fillBox({ context, toPixel }: CanvasFrame, [left, bottom, right, top]: MapExtent, color: string): void {
  const [a, b, c, d, e, f] = toPixel;
  context.beginPath();
  for (const [x, y] of [
    [left, bottom],
    [right, bottom],
    [right, top],
    [left, top],
  ] as const) {
    context.lineTo(a * x + c * y + e, b * x + d * y + f);
  }
  context.fillStyle = color;
  context.fill();
}

function visibleExtent({ width, height, resolution, center: [x = 0, y = 0] }: CanvasFrame): MapExtent {
  const reach = (Math.hypot(width, height) / 2) * resolution;
  return [x - reach, y - reach, x + reach, y + reach];
}

/** Repetitions of the earth in view, as turns around the globe; 0 is the one with the original longitudes. */
function turnsIn(frame: CanvasFrame): readonly number[] {
  const [left, , right] = visibleExtent(frame);
  const first = Math.floor(left / EARTH_WIDTH + 0.5);
  const last = Math.floor(right / EARTH_WIDTH + 0.5);
  // Shapes extend beyond the antimeridian on either side.
  return Array.from({ length: last - first + 3 }, (_, i) => first - 1 + i);
}

function meet(box: MapExtent, shift: number, visible: MapExtent): boolean {
  return box[0] + shift < visible[2] && box[2] + shift > visible[0] && box[1] < visible[3] && box[3] > visible[1];
}
