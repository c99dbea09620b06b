import type OlMap from 'ol/Map.js';
import { t } from '../../languages/language.ts';
import type { Palette } from './palette.ts';

/** Height of a line below the map, in CSS pixels. */
const LINE_PIXELS = 24;
const SWATCH_PIXELS = 12;

/** A color of the map, and its meaning. */
export interface LegendEntry {
  readonly color: string;
  readonly text: string;
}

/** Lines below the map. */
export interface ImageText {
  /** The time, and the sources of the background. */
  readonly caption: string;
  readonly legend?: readonly LegendEntry[];
}

/**
 * Draws the visible part of a map as a PNG, with a caption and a legend below it. Rejects if the browser does not permit to read
 * the tiles of another server.
 */
export async function imageOfMap(
  map: OlMap,
  { caption, legend = [] }: ImageText,
  { ground, ink }: Palette,
): Promise<Blob> {
  const viewport = map.getViewport();
  if (viewport === undefined) throw new Error(t('The map is not visible'));
  const box = viewport.getBoundingClientRect();
  const scale = devicePixelRatio;
  const height = box.height + LINE_PIXELS * (legend.length > 0 ? 2 : 1);
  const canvas = document.createElement('canvas');
  canvas.width = Math.round(box.width * scale);
  canvas.height = Math.round(height * scale);
  const context = canvas.getContext('2d');
  if (context === null) throw new Error(t('The browser cannot draw the image'));
  context.scale(scale, scale);
  context.fillStyle = ground;
  context.fillRect(0, 0, box.width, height);
  context.save();
  context.beginPath();
  context.rect(0, 0, box.width, box.height);
  context.clip();
  // The order in the document is the order of the layers.
  for (const layer of viewport.querySelectorAll('canvas')) {
    const { left, top, width, height: tall } = layer.getBoundingClientRect();
    if (layer.width === 0 || layer.height === 0 || width === 0) continue;
    context.globalAlpha = Number(layer.parentElement?.style.opacity || 1);
    context.drawImage(layer, left - box.left, top - box.top, width, tall);
  }
  context.restore();
  context.fillStyle = ink;
  context.font = '12px Inter, system-ui, sans-serif';
  context.textBaseline = 'middle';
  context.fillText(caption, 8, box.height + LINE_PIXELS / 2, box.width - 16);
  drawLegend(context, legend, { row: box.height + 1.5 * LINE_PIXELS, ink });
  return new Promise((resolve, reject) => {
    try {
      canvas.toBlob((blob) =>
        blob === null ? reject(new Error(t('The browser cannot draw the image'))) : resolve(blob),
      );
    } catch {
      // A canvas with images of another server cannot be read.
      reject(new Error(t('The server of the map tiles does not permit to save them')));
    }
  });
}

function drawLegend(
  context: CanvasRenderingContext2D,
  legend: readonly LegendEntry[],
  { row, ink }: { readonly row: number; readonly ink: string },
): void {
  let left = 8;
  for (const { color, text } of legend) {
    context.fillStyle = color;
    context.fillRect(left, row - SWATCH_PIXELS / 2, SWATCH_PIXELS, SWATCH_PIXELS);
    context.fillStyle = ink;
    context.fillText(text, left + SWATCH_PIXELS + 6, row);
    left += SWATCH_PIXELS + 24 + context.measureText(text).width;
  }
}
