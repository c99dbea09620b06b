import { countText } from '../../languages/numbers.ts';
import { unitsPerMeter } from '../plane/plane.ts';
import type { CanvasFrame } from '../view/canvas_layer.ts';
import { clusterObjects, radiusOf } from './clusters.ts';
import { densityOf } from './density.ts';
import type { MovingObjects } from './moving_objects.ts';
import { locate, type MovingLook, type OnScreen, type Scene } from './moving_screen.ts';
import { drawAccuracy, drawOutlines, drawTails, drawTrail } from './path_draw.ts';
import { drawRings, drawSymbols } from './symbol_draw.ts';

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
  const scene = { frame, objects, look, screen, nowMs };
  locate(scene);
  const pixelsPerMeter = unitsPerMeter(objects.plane, frame.center) / frame.resolution;
  const isFar = look.clusters && screen.seen > 1 && pixelsPerMeter < FAR;
  screen.density = densityOf(screen, { before: screen.density, isFar });
  screen.clusters = [];
  if (look.clusters && screen.density === 'clusters') {
    const keep = look.selectedId === undefined ? undefined : objects.indexOf(look.selectedId);
    screen.clusters = clusterObjects(screen, { origin: [frame.toPixel[4], frame.toPixel[5]], keep });
    drawClusters(scene);
  }
  if (look.trail !== undefined) drawTrail(scene, look.trail);
  if (look.tails && screen.drawn <= TAILS_MAX) drawTails(scene);
  drawOutlines(scene);
  if (look.accuracy && screen.drawn <= ACCURACY_MAX) drawAccuracy(scene, pixelsPerMeter);
  drawSymbols(scene);
  drawRings(scene);
}

/** Draws clusters with their counts. If objects have colors, a ring shows the share of each. */
function drawClusters({ frame: { context }, objects: { group }, look, screen }: Scene): void {
  const { palette, colors } = look;
  const isColored = colors.length > 1;
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.font = '600 12px Inter, system-ui, sans-serif';
  for (const { x, y, count, members } of screen.clusters) {
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
