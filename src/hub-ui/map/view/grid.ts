import { type Plane, unitsPerMeter } from '../plane/plane.ts';
import type { CanvasFrame } from './canvas_layer.ts';
import type { Palette } from './palette.ts';

/** Distance between grid lines in meters: 1, 2 or 5 times a power of ten, and at least `pixels` wide. */
export function gridStep(metersPerPixel: number, pixels = 40): number {
  const least = metersPerPixel * pixels;
  const power = 10 ** Math.floor(Math.log10(least));
  const factor = [1, 2, 5, 10].find((f) => f * power >= least) ?? 10;
  return factor * power;
}

/** Draws a grid in meters. Its scale is that of the map's center, so it suits sites, not continents. */
export function drawGrid(frame: CanvasFrame, plane: Plane, colors: Palette): void {
  const { context, width, height, toPixel, resolution, center } = frame;
  const units = unitsPerMeter(plane, center);
  const step = gridStep(resolution / units) * units;
  if (step > 2e6) return;
  const [a, b, c, d, e, f] = toPixel;
  const reach = (Math.hypot(width, height) / 2) * resolution;
  const [x0 = 0, y0 = 0] = center;
  const line = (from: readonly [number, number], to: readonly [number, number], isStrong: boolean): void => {
    context.beginPath();
    context.strokeStyle = isStrong ? colors.gridStrong : colors.grid;
    context.moveTo(a * from[0] + c * from[1] + e, b * from[0] + d * from[1] + f);
    context.lineTo(a * to[0] + c * to[1] + e, b * to[0] + d * to[1] + f);
    context.stroke();
  };
  context.lineWidth = 1;
  for (let i = Math.ceil((x0 - reach) / step); i * step < x0 + reach; i++) {
    line([i * step, y0 - reach], [i * step, y0 + reach], i % 5 === 0);
  }
  for (let i = Math.ceil((y0 - reach) / step); i * step < y0 + reach; i++) {
    line([x0 - reach, i * step], [x0 + reach, i * step], i % 5 === 0);
  }
}
