import { countText } from '../../languages/numbers.ts';
import { unitsPerMeter } from '../plane/plane.ts';
import type { CanvasContext, CanvasFrame } from '../view/canvas_layer.ts';
import { clusterObjects, radiusOf } from './clusters.ts';
import { densityOf } from './density.ts';
import type { MovingObjects } from './moving_objects.ts';
import { locate, type MovingLook, type OnScreen, type Scene } from './moving_screen.ts';
import type { AlarmSeverity } from '../view/palette.ts';
import { drawAccuracy, drawOutlines, drawTails, drawTrail } from './path_draw.ts';
import { drawPulses, drawRings, drawSymbols, isCrowd, severitiesOf } from './symbol_draw.ts';

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
  }
  // The bitmap of a crowd replaces what is on the canvas.
  const isFirst = isCrowd(screen);
  if (isFirst) drawSymbols(scene);
  drawClusters(scene);
  if (look.trail !== undefined) drawTrail(scene, look.trail);
  if (look.tails && screen.drawn <= TAILS_MAX) drawTails(scene);
  drawOutlines(scene);
  if (look.accuracy && screen.drawn <= ACCURACY_MAX) drawAccuracy(scene, pixelsPerMeter);
  if (!isFirst) drawSymbols(scene);
  drawPulses(scene);
  drawRings(scene);
}

/**
 * Draws clusters with their counts. A ring shows the share of the members with alerts, by severity. If objects have colors, an
 * inner ring shows the share of each.
 */
function drawClusters(scene: Scene): void {
  const { frame, objects, look, screen } = scene;
  const { context } = frame;
  const { palette, colors } = look;
  const isColored = colors.length > 1;
  const severities = severitiesOf(scene);
  const severityColors = [palette.critical, palette.warning, palette.cluster];
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.font = '600 12px Inter, system-ui, sans-serif';
  for (const { x, y, count, members } of screen.clusters) {
    const radius = radiusOf(count);
    const alerts = alertsOf(members, severities);
    const isDonut = isColored || alerts !== undefined;
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fillStyle = isDonut ? palette.halo : palette.cluster;
    context.fill();
    context.lineWidth = 4;
    context.strokeStyle = palette.halo;
    context.stroke();
    if (isColored) {
      const counts = countsOf(members, objects.group, colors.length);
      drawRing(context, { x, y, radius: radius - 1 }, { counts, colors });
    }
    if (alerts !== undefined) {
      const ring = { x, y, radius: isColored ? radius + 3 : radius - 1 };
      drawRing(context, ring, { counts: alerts, colors: severityColors });
    }
    context.fillStyle = isDonut ? palette.ink : palette.clusterInk;
    context.fillText(countText(count), x, y + 0.5);
  }
  context.textAlign = 'start';
}

/** Number of members with a critical alert, with a warning, and without; undefined if none has an alert. */
function alertsOf(members: readonly number[], severities: ReadonlyMap<number, AlarmSeverity>): Uint32Array | undefined {
  if (severities.size === 0) return undefined;
  const counts = new Uint32Array(3);
  for (const i of members) {
    const severity = severities.get(i);
    counts[severity === 'critical' ? 0 : severity === 'warning' ? 1 : 2]!++;
  }
  return counts[2] === members.length ? undefined : counts;
}

function countsOf(members: readonly number[], group: ArrayLike<number>, groups: number): Uint32Array {
  const counts = new Uint32Array(groups);
  for (const i of members) counts[group[i]!]!++;
  return counts;
}

function drawRing(
  context: CanvasContext,
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
    context.arc(x, y, radius, from, to);
    context.strokeStyle = colors[group] ?? '';
    context.stroke();
    from = to;
  }
}
