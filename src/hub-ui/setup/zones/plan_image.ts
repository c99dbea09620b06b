import { useLoaded } from '../../controls/use_loaded.ts';
import { settings } from '../../hub/settings.ts';
import { t } from '../../languages/language.ts';
import type { PlanImage } from './image_layer.tsx';
import { svgSize } from './svg_size.ts';

const SIDE_MAX_PIXELS = 3000;
/** Scales to try, largest first. */
const SCALES = [1, 0.7, 0.5, 0.35, 0.25, 0.18, 0.125];
const ENCODINGS = [
  ['image/png', undefined],
  ['image/webp', 0.85],
  ['image/webp', 0.6],
] as const;
/** Reserve for control points that are added later. */
const RESERVED_BYTES = 8192;

/**
 * Reads an image file and scales it to fit into the properties of its zone, whose total size the hub limits. Rejects if the
 * file is not an image.
 */
export async function readPlan(file: Blob, otherProperties: object): Promise<PlanImage> {
  const others = new TextEncoder().encode(JSON.stringify(otherProperties)).length;
  const maxBytes = settings.value.entity_properties_bytes - others - RESERVED_BYTES;
  const url = URL.createObjectURL(file.type === 'image/svg+xml' ? await sizedSvg(file) : file);
  const bitmap = await loadImage(url).finally(() => URL.revokeObjectURL(url));
  const scale = Math.min(1, SIDE_MAX_PIXELS / Math.max(bitmap.naturalWidth, bitmap.naturalHeight));
  for (const part of SCALES) {
    const drawn = redraw(bitmap, scale * part);
    for (const [type, quality] of ENCODINGS) {
      const image = drawn.toDataURL(type, quality);
      // Data URLs are ASCII: one byte per character.
      if (image.length <= maxBytes) return { url: image, width: drawn.width, height: drawn.height };
    }
  }
  throw new Error(t('The image is too large to store with the zone'));
}

/** Adds a size in pixels to an SVG without one, which browsers would draw at 300 by 150. */
async function sizedSvg(file: Blob): Promise<Blob> {
  const document = new DOMParser().parseFromString(await file.text(), 'image/svg+xml');
  const svg = document.documentElement;
  const [width, height, viewBox] = ['width', 'height', 'viewBox'].map((name) => svg.getAttribute(name) ?? '');
  const size = svgSize({ width, height, viewBox });
  if (!(svg instanceof SVGSVGElement) || size === undefined) return file;
  if (viewBox === '') svg.setAttribute('viewBox', `0 0 ${size.width} ${size.height}`);
  const scale = SIDE_MAX_PIXELS / Math.max(size.width, size.height);
  for (const side of ['width', 'height'] as const) {
    const pixels = String(Math.max(1, Math.round(size[side] * scale)));
    svg.setAttribute(side, pixels);
    svg.style.setProperty(side, `${pixels}px`);
  }
  return new Blob([new XMLSerializer().serializeToString(document)], { type: file.type });
}

/** Size of a plan; undefined until loaded. */
export function usePlanImage(url: string | undefined): PlanImage | undefined {
  const load = async (found: string): Promise<PlanImage> => {
    const { naturalWidth: width, naturalHeight: height } = await loadImage(found);
    return { url: found, width, height };
  };
  const image = useLoaded(() => (url === undefined ? undefined : load(url)), [url]);
  return image?.url === url ? image : undefined;
}

function loadImage(url: string): Promise<HTMLImageElement> {
  return new Promise((resolve, reject) => {
    const image = new Image();
    image.onload = () => resolve(image);
    image.onerror = () => reject(new Error(t('The file is not an image that a browser can show')));
    image.src = url;
  });
}

function redraw(image: HTMLImageElement, scale: number): HTMLCanvasElement {
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.round(image.naturalWidth * scale));
  canvas.height = Math.max(1, Math.round(image.naturalHeight * scale));
  const context = canvas.getContext('2d');
  if (context !== null) context.imageSmoothingQuality = 'high';
  context?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas;
}
