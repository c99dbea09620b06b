import { countText } from '../../languages/numbers.ts';
import { unitsPerMeter } from '../plane/plane.ts';
import type { CanvasFrame } from '../view/canvas_layer.ts';
import type { Palette } from '../view/palette.ts';
import { type Cluster, clusterObjects, radiusOf } from './clusters.ts';
import { type Density, densityOf } from './density.ts';
import { type MovingObjects, TAIL } from './moving_objects.ts';
import { type Sprites, type SymbolName, spriteColumn, spritesOf } from './sprites.ts';
import { SymbolRaster } from './symbol_raster.ts';
import type { Trail } from './trail.ts';

/** Appearance of moving objects. */
export interface MovingLook {
  readonly symbol: SymbolName;
  readonly palette: Palette;
  /** Default color, then the colors of groups by number. */
  readonly colors: readonly string[];
  /** Trail of the followed object. */
  readonly trail: Trail | undefined;
  /** Scale of symbols. */
  readonly scale: number;
  readonly tails: boolean;
  readonly accuracy: boolean;
  readonly clusters: boolean;
  readonly selectedId: string | undefined;
  /** Ids of the objects in a multiple selection. */
  readonly multiSelected?: ReadonlySet<string> | undefined;
  /** Ids of objects that collide or have an alert. */
  readonly colliding: ReadonlySet<string>;
  /** Symbol of marked objects, and whether only those are drawn. Undefined: marked objects look like all others. */
  readonly marked?: { readonly symbol: SymbolName; readonly isOnly: boolean } | undefined;
  /** Floor to show; undefined: all. */
  readonly floor: number | undefined;
}

/** Screen positions of the drawn objects, for hit tests. */
export interface OnScreen {
  x: Float32Array;
  y: Float32Array;
  /** Indices of the individually drawn objects; the first `drawn` are valid. The others are in clusters. */
  indices: Uint32Array;
  drawn: number;
  clusters: readonly Cluster[];
  /** Number of objects within the screen, and of those without recent locations. */
  seen: number;
  stale: number;
  density: Density;
  readonly crowd: SymbolRaster;
}

export function newScreen(): OnScreen {
  return { ...columns(256), drawn: 0, clusters: [], seen: 0, stale: 0, density: 'single', crowd: new SymbolRaster() };
}

function columns(length: number): Pick<OnScreen, 'x' | 'y' | 'indices'> {
  return { x: new Float32Array(length), y: new Float32Array(length), indices: new Uint32Array(length) };
}

const STALE_MS = 15_000;
const LOST_MS = 60_000;
/** Number of symbols from which a bitmap is faster than the canvas. */
const CROWD = 1_500;
const MARGIN = 20;
/** Pixels per meter below which the map counts as zoomed far out. */
const FAR = 1.2;
/** Limits above which tails and circles would hide each other, and cost time. */
const TAILS_MAX = 800;
const ACCURACY_MAX = 300;

/** Draws all objects of a layer. hot: once per frame, see bench/ui. */
export function drawMoving(
  frame: CanvasFrame,
  objects: MovingObjects,
  look: MovingLook,
  screen: OnScreen,
  nowMs: number,
): void {
  place(frame, objects, look, screen, nowMs);
  const pixelsPerMeter = unitsPerMeter(objects.plane, frame.center) / frame.resolution;
  const isFar = look.clusters && screen.seen > 1 && pixelsPerMeter < FAR;
  screen.density = densityOf(screen, { before: screen.density, isFar });
  if (look.clusters && screen.density === 'clusters') {
    const keep = look.selectedId === undefined ? undefined : objects.indexOf(look.selectedId);
    screen.clusters = clusterObjects(screen, { origin: [frame.toPixel[4] ?? 0, frame.toPixel[5] ?? 0], keep });
    drawClusters(frame, screen.clusters, { ...look, group: objects.group });
  } else {
    screen.clusters = [];
  }
  if (look.trail !== undefined) drawTrail(frame, look.trail, look);
  if (look.tails && screen.drawn <= TAILS_MAX) drawTails(frame, objects, look, screen);
  drawOutlines(frame, objects, look, screen);
  if (look.accuracy && screen.drawn <= ACCURACY_MAX) drawAccuracy(frame, objects, { look, screen, pixelsPerMeter });
  drawSymbols(frame, objects, { look, screen, nowMs });
  drawRings(frame, objects, look, screen);
}

/** Computes which objects are on the screen, and their pixel positions. */
function place(frame: CanvasFrame, objects: MovingObjects, look: MovingLook, screen: OnScreen, nowMs: number): void {
  const { toPixel, width, height } = frame;
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = toPixel;
  const { count, x, y, removed: gone, marked, floor, lastSeenMs } = objects;
  const isOnlyMarked = look.marked?.isOnly === true;
  if (screen.x.length < count) {
    Object.assign(screen, columns(x.length));
  }
  let seen = 0;
  let stale = 0;
  for (let i = 0; i < count; i++) {
    if (gone[i] === 1) continue;
    if (isOnlyMarked && marked[i] === 0) continue;
    if (look.floor !== undefined && floor[i] !== look.floor) continue;
    const px = a * x[i]! + c * y[i]! + e;
    const py = b * x[i]! + d * y[i]! + f;
    if (px < -MARGIN || py < -MARGIN || px > width + MARGIN || py > height + MARGIN) continue;
    screen.x[i] = px;
    screen.y[i] = py;
    screen.indices[seen++] = i;
    if (nowMs - lastSeenMs[i]! > STALE_MS) stale++;
  }
  screen.drawn = seen;
  screen.seen = seen;
  screen.stale = stale;
}

/** Draws clusters with their counts. If objects have colors, a ring shows the share of each. */
function drawClusters(
  { context }: CanvasFrame,
  clusters: readonly Cluster[],
  {
    palette,
    colors,
    group,
  }: { readonly palette: Palette; readonly colors: readonly string[]; readonly group: ArrayLike<number> },
): void {
  const isColored = colors.length > 1;
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.font = '600 12px Inter, system-ui, sans-serif';
  for (const { x, y, count, members } of clusters) {
    const radius = radiusOf(count);
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fillStyle = isColored ? palette.halo : palette.cluster;
    context.fill();
    context.lineWidth = 4;
    context.strokeStyle = palette.halo;
    context.stroke();
    if (isColored) drawRing(context, { x, y, radius }, { counts: countsOf(members, group, colors.length), colors });
    context.fillStyle = isColored ? palette.ink : palette.clusterInk;
    context.fillText(countText(count), x, y + 0.5);
  }
  context.textAlign = 'start';
}

function countsOf(members: readonly number[], group: ArrayLike<number>, groups: number): Uint32Array {
  const counts = new Uint32Array(groups);
  for (const i of members) counts[group[i]!]!++;
  return counts;
}

function drawRing(
  context: CanvasRenderingContext2D,
  { x, y, radius }: { readonly x: number; readonly y: number; readonly radius: number },
  { counts, colors }: { readonly counts: Uint32Array; readonly colors: readonly string[] },
): void {
  const all = counts.reduce((sum, count) => sum + count, 0);
  let from = -Math.PI / 2;
  context.lineWidth = 4;
  for (let group = 0; group < counts.length; group++) {
    const count = counts[group]!;
    if (count === 0) continue;
    const to = from + (2 * Math.PI * count) / all;
    context.beginPath();
    context.arc(x, y, radius - 1, from, to);
    context.strokeStyle = colors[group] ?? '';
    context.stroke();
    from = to;
  }
}

/** Draws the trail of the followed object: in front of all other tails, and longer. */
function drawTrail({ context, toPixel }: CanvasFrame, { points }: Trail, { palette }: MovingLook): void {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = toPixel;
  context.beginPath();
  for (let k = 0; k < points.length; k += 2) {
    const [x, y] = [points[k]!, points[k + 1]!];
    if (k === 0) context.moveTo(a * x + c * y + e, b * x + d * y + f);
    else context.lineTo(a * x + c * y + e, b * x + d * y + f);
  }
  context.lineJoin = 'round';
  context.lineCap = 'round';
  context.strokeStyle = palette.halo;
  context.lineWidth = 6;
  context.stroke();
  context.strokeStyle = palette.selected;
  context.globalAlpha = 0.75;
  context.lineWidth = 2.5;
  context.stroke();
  context.globalAlpha = 1;
  context.lineCap = 'butt';
}

function drawTails(frame: CanvasFrame, objects: MovingObjects, { colors }: MovingLook, screen: OnScreen): void {
  const { context, toPixel } = frame;
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = toPixel;
  const { tails, tailAt, tailLength, group } = objects;
  context.lineWidth = 2;
  context.lineJoin = 'round';
  // The older half is fainter. Each half of all tails of a color is one path: a stroke per object would take most of the frame.
  for (const [from, to, alpha] of [[0, 0.5, 0.18] as const, [0.5, 1, 0.42] as const]) {
    context.globalAlpha = alpha;
    for (let color = 0; color < colors.length; color++) {
      context.strokeStyle = colors[color]!;
      context.beginPath();
      for (let s = 0; s < screen.drawn; s++) {
        const i = screen.indices[s]!;
        if (colors.length > 1 && group[i] !== color) continue;
        const length = tailLength[i]!;
        const first = Math.floor(length * from);
        const last = Math.floor(length * to);
        for (let k = first; k < Math.min(length, last + 1); k++) {
          const at = (i * TAIL + ((tailAt[i]! + TAIL - length + k) % TAIL)) * 2;
          const px = a * tails[at]! + c * tails[at + 1]! + e;
          const py = b * tails[at]! + d * tails[at + 1]! + f;
          if (k === first) context.moveTo(px, py);
          else context.lineTo(px, py);
        }
      }
      context.stroke();
    }
  }
  context.globalAlpha = 1;
}

/** Draws the outlines of trackables that are larger than the symbol. */
function drawOutlines(frame: CanvasFrame, objects: MovingObjects, { colors }: MovingLook, screen: OnScreen): void {
  const { context, toPixel, resolution } = frame;
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = toPixel;
  context.lineWidth = 1.25;
  for (let color = 0; color < colors.length; color++) {
    let isEmpty = true;
    context.beginPath();
    for (let s = 0; s < screen.drawn; s++) {
      const i = screen.indices[s]!;
      const ring = objects.outlines[i];
      if (ring === undefined || ring.length < 6 || (colors.length > 1 && objects.group[i] !== color)) continue;
      const half = ring.length >> 2;
      const across = Math.hypot(ring[0]! - ring[half * 2]!, ring[1]! - ring[half * 2 + 1]!) / resolution;
      if (across < 12) continue;
      // A small circle of 64 edges still looks round with a quarter of them.
      const step = across < 40 && ring.length > 60 ? 8 : 2;
      context.moveTo(a * ring[0]! + c * ring[1]! + e, b * ring[0]! + d * ring[1]! + f);
      for (let k = step; k < ring.length; k += step) {
        context.lineTo(a * ring[k]! + c * ring[k + 1]! + e, b * ring[k]! + d * ring[k + 1]! + f);
      }
      context.closePath();
      isEmpty = false;
    }
    if (isEmpty) continue;
    context.fillStyle = colors[color]!;
    context.strokeStyle = colors[color]!;
    context.globalAlpha = 0.16;
    context.fill();
    context.globalAlpha = 0.75;
    context.stroke();
  }
  context.globalAlpha = 1;
}

interface Accuracy {
  readonly look: MovingLook;
  readonly screen: OnScreen;
  readonly pixelsPerMeter: number;
}

function drawAccuracy(
  { context }: CanvasFrame,
  objects: MovingObjects,
  { look, screen, pixelsPerMeter }: Accuracy,
): void {
  context.strokeStyle = look.palette[look.symbol];
  context.setLineDash([2, 3]);
  context.lineWidth = 1;
  context.globalAlpha = 0.7;
  context.beginPath();
  for (let s = 0; s < screen.drawn; s++) {
    const i = screen.indices[s]!;
    const radius = objects.accuracy[i]! * pixelsPerMeter;
    if (!(radius > 8 && radius < 2_000)) continue;
    context.moveTo(screen.x[i]! + radius, screen.y[i]!);
    context.arc(screen.x[i]!, screen.y[i]!, radius, 0, 2 * Math.PI);
  }
  context.stroke();
  context.setLineDash([]);
  context.globalAlpha = 1;
}

interface Symbols {
  readonly look: MovingLook;
  readonly screen: OnScreen;
  readonly nowMs: number;
}

/** Draws the symbols, fainter for objects without recent locations. A crowd is drawn as a bitmap that looks the same. */
function drawSymbols(frame: CanvasFrame, objects: MovingObjects, { look, screen, nowMs }: Symbols): void {
  const { context, rotation, width, height } = frame;
  const { symbol, palette } = look;
  const isCrowd = screen.drawn > CROWD;
  // Without clusters a crowd has no room for full symbols.
  const isSmall = screen.density === 'small' || (screen.density === 'clusters' && !look.clusters);
  const scale = isCrowd ? 1 : look.scale;
  const pixelRatio = isCrowd ? 1 : frame.pixelRatio * scale;
  const sheet = (name: SymbolName, color: string): Sprites =>
    spritesOf(name, { color, halo: palette.halo, pixelRatio, isSmall });
  const sprites = look.colors.map((color) => sheet(symbol, color));
  const [usual] = sprites;
  if (usual === undefined) return;
  const marked = look.marked && sheet(look.marked.symbol, palette[look.marked.symbol]);
  const side = usual.size * pixelRatio;
  const size = usual.size * scale;
  const turned = objects.north + (rotation * 180) / Math.PI;
  if (isCrowd) screen.crowd.begin(Math.round(width), Math.round(height));
  for (let s = 0; s < screen.drawn; s++) {
    const i = screen.indices[s]!;
    const x = screen.x[i]!;
    const y = screen.y[i]!;
    const alpha = alphaOf(nowMs - objects.lastSeenMs[i]!);
    const column = spriteColumn(objects.heading[i]! + turned);
    const own = sprites[objects.group[i]!] ?? usual;
    const its = marked !== undefined && objects.marked[i] === 1 ? marked : own;
    if (isCrowd) {
      screen.crowd.add(its, column, [x, y], alpha);
      continue;
    }
    if (context.globalAlpha !== alpha) context.globalAlpha = alpha;
    context.drawImage(its.image, column * side, 0, side, side, x - size / 2, y - size / 2, size, size);
  }
  context.globalAlpha = 1;
  drawAlarms(context, objects, { look, screen, pixelRatio, isCrowd });
  if (isCrowd) screen.crowd.end(context);
}

/** Draws rings around objects with an alert, from one cached image: hundreds of paths would dominate the frame. */
function drawAlarms(
  context: CanvasFrame['context'],
  objects: MovingObjects,
  {
    look,
    screen,
    pixelRatio,
    isCrowd,
  }: { readonly look: MovingLook; readonly screen: OnScreen; readonly pixelRatio: number; readonly isCrowd: boolean },
): void {
  const { colliding, palette, scale } = look;
  if (colliding.size === 0) return;
  const alarmed = new Set<number | undefined>();
  for (const id of colliding) alarmed.add(objects.indexOf(id));
  const ring = spritesOf('alarm', { color: palette.danger, halo: palette.halo, pixelRatio, isSmall: false });
  const side = ring.size * pixelRatio;
  const size = ring.size * scale;
  for (let s = 0; s < screen.drawn; s++) {
    const i = screen.indices[s]!;
    if (!alarmed.has(i)) continue;
    const [x, y] = [screen.x[i]!, screen.y[i]!];
    if (isCrowd) screen.crowd.add(ring, 0, [x, y], 1);
    else context.drawImage(ring.image, 0, 0, side, side, x - size / 2, y - size / 2, size, size);
  }
}

function alphaOf(silentMs: number): number {
  if (silentMs > LOST_MS) return 0.35;
  return silentMs > STALE_MS ? 0.6 : 1;
}

function drawRings({ context }: CanvasFrame, objects: MovingObjects, look: MovingLook, screen: OnScreen): void {
  const ring = (id: string, color: string, radius: number): void => {
    const i = objects.indexOf(id);
    if (i === undefined || objects.removed[i] === 1 || !screen.indices.subarray(0, screen.drawn).includes(i)) return;
    context.beginPath();
    context.arc(screen.x[i]!, screen.y[i]!, radius * look.scale, 0, 2 * Math.PI);
    context.strokeStyle = look.palette.halo;
    context.lineWidth = 5 * look.scale;
    context.stroke();
    context.strokeStyle = color;
    context.lineWidth = 2.5 * look.scale;
    context.stroke();
  };
  drawMultiSelected(context, objects, look, screen);
  if (look.selectedId !== undefined) ring(look.selectedId, look.palette.selected, 11);
}

/** Rings the objects of a multiple selection in one path, since there may be hundreds. */
function drawMultiSelected(
  context: CanvasFrame['context'],
  objects: MovingObjects,
  look: MovingLook,
  screen: OnScreen,
): void {
  const { multiSelected } = look;
  if (multiSelected === undefined || multiSelected.size === 0) return;
  context.beginPath();
  for (let s = 0; s < screen.drawn; s++) {
    const i = screen.indices[s]!;
    if (!multiSelected.has(objects.facts[i]?.id ?? '')) continue;
    context.moveTo(screen.x[i]! + 10, screen.y[i]!);
    context.arc(screen.x[i]!, screen.y[i]!, 10, 0, 2 * Math.PI);
  }
  context.strokeStyle = look.palette.selected;
  context.lineWidth = 2.5;
  context.stroke();
}
