import { type OnScreen, type Scene, STALE_MS } from './moving_screen.ts';
import type { AlarmSeverity } from '../view/palette.ts';
import { ALARM_RADIUS, type Sprites, type SymbolName, spriteColumn, spritesOf } from './sprites.ts';

const LOST_MS = 60_000;
/** Number of symbols from which a bitmap is faster than the canvas. */
const CROWD = 1_500;

/** Whether `drawSymbols` draws a bitmap, because there are many symbols. The bitmap replaces the contents of the canvas. */
export function isCrowd({ drawn }: Pick<OnScreen, 'drawn'>): boolean {
  return drawn > CROWD;
}

/** Draws the symbols, fainter for objects without recent locations. */
export function drawSymbols({ frame, objects, look, screen, nowMs }: Scene): void {
  const { context, rotation, width, height } = frame;
  const { symbol, palette } = look;
  const isBitmap = isCrowd(screen);
  // Without clusters a crowd has no room for full symbols.
  const isSmall = screen.density === 'small' || (screen.density === 'clusters' && !look.clusters);
  const scale = isBitmap ? 1 : look.scale;
  const pixelRatio = isBitmap ? 1 : frame.pixelRatio * scale;
  const sheet = (name: SymbolName, color: string): Sprites =>
    spritesOf(name, { color, halo: palette.halo, pixelRatio, isSmall });
  const sprites = look.colors.map((color) => sheet(symbol, color));
  const [usual] = sprites;
  if (usual === undefined) return;
  const marked = look.marked && sheet(look.marked.symbol, palette[look.marked.symbol]);
  const side = usual.size * pixelRatio;
  const size = usual.size * scale;
  const turned = objects.north + (rotation * 180) / Math.PI;
  if (isBitmap) screen.crowd.begin(Math.round(width), Math.round(height));
  for (let s = 0; s < screen.drawn; s++) {
    const i = screen.indices[s]!;
    const x = screen.x[i]!;
    const y = screen.y[i]!;
    const alpha = alphaOf(nowMs - objects.lastSeenMs[i]!);
    const column = spriteColumn(objects.heading[i]! + turned);
    const own = sprites[objects.group[i]!] ?? usual;
    const its = marked !== undefined && objects.marked[i] === 1 ? marked : own;
    if (isBitmap) {
      screen.crowd.add(its, column, [x, y], alpha);
      continue;
    }
    if (context.globalAlpha !== alpha) context.globalAlpha = alpha;
    context.drawImage(its.image, column * side, 0, side, side, x - size / 2, y - size / 2, size, size);
  }
  context.globalAlpha = 1;
  drawAlarms({ frame, objects, look, screen }, { pixelRatio, isBitmap });
  if (isBitmap) screen.crowd.end(frame);
  drawCollisions({ frame, objects, look, screen }, pixelRatio);
}

/** Duration and width of the pulse around an object with a new critical alert. */
export const PULSE_MS = 900;
const PULSE_PIXELS = 18;

type Marked = Omit<Scene, 'nowMs'>;

/** Draws signs from cached images: hundreds of paths would dominate the frame. */
function drawSigns(
  { frame: { context }, look, screen }: Marked,
  signOf: (index: number) => Sprites | undefined,
  isBitmap: boolean,
): void {
  for (let s = 0; s < screen.drawn; s++) {
    const i = screen.indices[s]!;
    const sign = signOf(i);
    if (sign === undefined) continue;
    const [x, y] = [screen.x[i]!, screen.y[i]!];
    const side = sign.size * sign.pixelRatio;
    const size = sign.size * look.scale;
    if (isBitmap) screen.crowd.add(sign, 0, [x, y], 1);
    else context.drawImage(sign.image, 0, 0, side, side, x - size / 2, y - size / 2, size, size);
  }
}

/** Draws rings around objects with an alert, in the color of its severity. */
function drawAlarms(
  scene: Marked,
  { pixelRatio, isBitmap }: { readonly pixelRatio: number; readonly isBitmap: boolean },
) {
  const severities = severitiesOf(scene);
  if (severities.size === 0) return;
  const { palette } = scene.look;
  const spriteOf = (color: string): Sprites =>
    spritesOf('alarm', { color, halo: palette.halo, pixelRatio, isSmall: false });
  const rings = { critical: spriteOf(palette.critical), warning: spriteOf(palette.warning) };
  const ringOf = (i: number): Sprites | undefined => {
    const severity = severities.get(i);
    return severity && rings[severity];
  };
  drawSigns(scene, ringOf, isBitmap);
}

/** Draws crosses next to colliding objects. They overlap symbols, so the cached bitmap of dense objects has none. */
function drawCollisions(scene: Marked, pixelRatio: number): void {
  const { objects, look } = scene;
  if (look.colliding.size === 0) return;
  const indices = new Set<number | undefined>();
  for (const id of look.colliding) indices.add(objects.indexOf(id));
  const { critical: color, halo } = look.palette;
  const cross = spritesOf('collision', { color, halo, pixelRatio, isSmall: false });
  drawSigns(scene, (i) => (indices.has(i) ? cross : undefined), false);
}

/** Severities of the objects with an alert, by index. */
export function severitiesOf({ objects, look }: Pick<Scene, 'objects' | 'look'>): ReadonlyMap<number, AlarmSeverity> {
  const severities = new Map<number, AlarmSeverity>();
  for (const [id, severity] of look.alarms) {
    const index = objects.indexOf(id);
    if (index !== undefined) severities.set(index, severity);
  }
  return severities;
}

/** Draws a ring that grows once around each object with a new critical alert. */
export function drawPulses({ frame: { context }, objects, look, screen, nowMs }: Scene): void {
  for (const [id, startMs] of look.pulses ?? []) {
    const share = (nowMs - startMs) / PULSE_MS;
    const i = objects.indexOf(id);
    if (i === undefined || share < 0 || share >= 1 || !screen.indices.subarray(0, screen.drawn).includes(i)) continue;
    context.globalAlpha = 1 - share;
    context.beginPath();
    context.arc(screen.x[i]!, screen.y[i]!, (ALARM_RADIUS + share * PULSE_PIXELS) * look.scale, 0, 2 * Math.PI);
    context.strokeStyle = look.palette.critical;
    context.lineWidth = 3 * look.scale;
    context.stroke();
  }
  context.globalAlpha = 1;
}

function alphaOf(silentMs: number): number {
  if (silentMs > LOST_MS) return 0.35;
  return silentMs > STALE_MS ? 0.6 : 1;
}

/** Draws rings around selected objects. */
export function drawRings(scene: Scene): void {
  const { objects, look, screen } = scene;
  const { context } = scene.frame;
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
  drawMultiSelected(scene);
  if (look.selectedId !== undefined) ring(look.selectedId, look.palette.selected, 11);
}

/** Rings the objects of a multiple selection in one path, since there may be hundreds. */
function drawMultiSelected({ frame: { context }, objects, look, screen }: Scene): void {
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
