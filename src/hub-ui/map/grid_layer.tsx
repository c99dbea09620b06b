import TileLayer from 'ol/layer/Tile.js';
import XYZ from 'ol/source/XYZ.js';
import { useEffect } from 'preact/hooks';
import { settings } from '../hub/settings.ts';
import { CanvasLayer, type Frame } from './canvas_layer.ts';
import { useMap } from './map_view.tsx';
import { type Palette, palette } from './palette.ts';
import { type Plane, unitsPerMeter } from './plane.ts';

/** What lies below everything: map tiles where the configuration names some, a plain grid in meters otherwise. */
export function BaseLayer() {
  const { map, plane } = useMap();
  const { map_tiles: tiles } = settings.value;
  const colors = palette();
  useEffect(() => {
    const layer =
      tiles !== null && plane.kind === 'earth'
        ? new TileLayer({ source: new XYZ({ url: tiles.url }), zIndex: 0 })
        : new CanvasLayer((frame) => drawGrid(frame, plane, colors), 0);
    map.addLayer(layer);
    return () => {
      map.removeLayer(layer);
    };
  }, [map, plane, tiles, colors]);
  return null;
}

/** Distance of the lines in meters: 1, 2 or 5 times a power of ten, and at least so many pixels. */
export function gridStep(metersPerPixel: number, pixels = 40): number {
  const least = metersPerPixel * pixels;
  const power = 10 ** Math.floor(Math.log10(least));
  const factor = [1, 2, 5, 10].find((f) => f * power >= least) ?? 10;
  return factor * power;
}

function drawGrid(frame: Frame, plane: Plane, colors: Palette): void {
  const { context, width, height, toPixel, resolution, center } = frame;
  // Mercator's meters differ over a continent. The grid is for sites.
  const units = unitsPerMeter(plane, center);
  const step = gridStep(resolution / units) * units;
  if (step > 2e6) return;
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = toPixel;
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
