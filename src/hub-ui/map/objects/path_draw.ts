import { TAIL } from './moving_objects.ts';
import type { Scene } from './moving_screen.ts';
import type { Trail } from './trail.ts';

/** Draws the trail of the followed object: in front of all other tails, and longer. */
export function drawTrail({ frame: { context, toPixel }, look: { palette } }: Scene, { points, head }: Trail): void {
  const [a, b, c, d, e, f] = toPixel;
  context.beginPath();
  for (let k = 0; k < points.length; k += 2) {
    const [x, y] = [points[k]!, points[k + 1]!];
    if (k === 0) context.moveTo(a * x + c * y + e, b * x + d * y + f);
    else context.lineTo(a * x + c * y + e, b * x + d * y + f);
  }
  if (points.length > 0) context.lineTo(a * head[0] + c * head[1] + e, b * head[0] + d * head[1] + f);
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

export function drawTails({ frame: { context, toPixel }, objects, look: { colors }, screen }: Scene): void {
  const [a, b, c, d, e, f] = toPixel;
  const { tails, tailAt, tailLength, group } = objects;
  context.lineWidth = 2;
  context.lineJoin = 'round';
  // The older half is fainter. One path per half and color, because a stroke per object would take most of the frame.
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
        if (to === 1 && length > 0) context.lineTo(screen.x[i]!, screen.y[i]!);
      }
      context.stroke();
    }
  }
  context.globalAlpha = 1;
}

/** Draws the outlines of trackables that are larger than the symbol. */
export function drawOutlines({ frame, objects, look: { colors }, screen }: Scene): void {
  const { context, toPixel, resolution } = frame;
  const [a, b, c, d, e, f] = toPixel;
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
      // An outline is around the reported position of an object that may not have arrived there.
      const [dx, dy] = objects.glides.ahead(i, objects);
      const left = e - a * dx - c * dy;
      const top = f - b * dx - d * dy;
      context.moveTo(a * ring[0]! + c * ring[1]! + left, b * ring[0]! + d * ring[1]! + top);
      for (let k = step; k < ring.length; k += step) {
        context.lineTo(a * ring[k]! + c * ring[k + 1]! + left, b * ring[k]! + d * ring[k + 1]! + top);
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

/** Draws the accuracy of objects as circles. */
export function drawAccuracy({ frame: { context }, objects, look, screen }: Scene, pixelsPerMeter: number): void {
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
