import type { CanvasFrame } from '../view/canvas_layer.ts';
import type { Sprites } from './sprites.ts';

/**
 * Bitmap renderer for thousands of symbols. In a browser without a graphics card, 4,000 images or paths take about 60 ms on a
 * canvas and 2 to 5 ms here. With a graphics card, either is fast.
 */
export class SymbolRaster {
  readonly #canvas = document.createElement('canvas');
  #image: ImageData | undefined;
  #pixels = new Uint32Array(0);
  readonly #stamps = new Map<Sprites, readonly Stamp[]>();

  /** Starts an image of the given size in CSS pixels. */
  begin(width: number, height: number): void {
    if (this.#image?.width !== width || this.#image.height !== height) {
      this.#canvas.width = width;
      this.#canvas.height = height;
      this.#image = new ImageData(width, height);
      this.#pixels = new Uint32Array(this.#image.data.buffer);
      this.#stamps.clear();
    }
    this.#pixels.fill(0);
  }

  /** Adds the symbol in a column of the sprites, which need a pixel ratio of 1. hot */
  add(sprites: Sprites, column: number, [px, py]: readonly [number, number], alpha: number): void {
    const { width = 0, height = 0 } = this.#image ?? {};
    let stamps = this.#stamps.get(sprites);
    if (stamps === undefined) {
      stamps = stampsOf(sprites, width);
      this.#stamps.set(sprites, stamps);
    }
    const stamp = stamps[column]!;
    const { size } = sprites;
    const left = Math.round(px) - (size >> 1);
    const top = Math.round(py) - (size >> 1);
    const isCut = left < 0 || top < 0 || left + size > width || top + size > height;
    if (isCut) addCut(this.#pixels, stamp, { left, top, width, height, alpha });
    else addWhole(this.#pixels, stamp, top * width + left, alpha);
  }

  /** Draws the image on an empty canvas. */
  end({ context, pixelRatio }: Pick<CanvasFrame, 'context' | 'pixelRatio'>): void {
    if (this.#image === undefined) return;
    if (pixelRatio === 1) {
      context.putImageData(this.#image, 0, 0);
      return;
    }
    // Scaling needs a second canvas, whose copy takes as long as all symbols.
    this.#canvas.getContext('2d')?.putImageData(this.#image, 0, 0);
    context.drawImage(this.#canvas, 0, 0);
  }
}

/** Visible pixels of a symbol. Solid pixels come first, since they need no blending. */
interface Stamp {
  readonly dx: Uint8Array;
  readonly dy: Uint8Array;
  /** Offset of each pixel from the first pixel of the symbol, in an image of a given width. */
  readonly offset: Uint32Array;
  readonly color: Uint32Array;
  readonly solid: number;
}

const SOLID = 251;

/** Draws a symbol that is completely inside the image. Solid pixels of an opaque symbol are copied without blending. hot */
function addWhole(pixels: Uint32Array, { offset, color, solid }: Stamp, first: number, alpha: number): void {
  let k = 0;
  if (alpha === 1) for (; k < solid; k++) pixels[first + offset[k]!] = color[k]!;
  for (; k < color.length; k++) addPixel(pixels, first + offset[k]!, color[k]!, alpha);
}

function addCut(
  pixels: Uint32Array,
  { dx, dy, color }: Stamp,
  { left, top, width, height, alpha }: Record<'left' | 'top' | 'width' | 'height' | 'alpha', number>,
): void {
  for (let k = 0; k < color.length; k++) {
    const x = left + dx[k]!;
    const y = top + dy[k]!;
    if (x < 0 || y < 0 || x >= width || y >= height) continue;
    addPixel(pixels, y * width + x, color[k]!, alpha);
  }
}

function addPixel(pixels: Uint32Array, at: number, ink: number, alpha: number): void {
  const a = Math.round((ink >>> 24) * alpha);
  const below = pixels[at]!;
  if (a >= SOLID || below === 0) pixels[at] = (ink & 0xffffff) | (a << 24);
  else pixels[at] = mix(ink, below, a);
}

function stampsOf({ image, size }: Sprites, width: number): readonly Stamp[] {
  const context = image.getContext('2d');
  const columns: Stamp[] = [];
  for (let left = 0; context !== null && left < image.width; left += size) {
    const pixels = new Uint32Array(context.getImageData(left, 0, size, size).data.buffer);
    const isSolid = (at: number): boolean => pixels[at]! >>> 24 >= SOLID;
    const inked = [...pixels.keys()]
      .filter((at) => pixels[at]! >>> 24 > 8)
      .sort((one, other) => Number(isSolid(other)) - Number(isSolid(one)));
    columns.push({
      dx: Uint8Array.from(inked, (at) => at % size),
      dy: Uint8Array.from(inked, (at) => Math.floor(at / size)),
      offset: Uint32Array.from(inked, (at) => Math.floor(at / size) * width + (at % size)),
      color: Uint32Array.from(inked, (at) => pixels[at]!),
      solid: inked.filter(isSolid).length,
    });
  }
  return columns;
}

/** Blends a color over another, as bytes of alpha, blue, green and red. */
function mix(ink: number, below: number, alpha: number): number {
  const rest = 255 - alpha;
  const r = ((ink & 255) * alpha + (below & 255) * rest) >> 8;
  const g = (((ink >> 8) & 255) * alpha + ((below >> 8) & 255) * rest) >> 8;
  const b = (((ink >> 16) & 255) * alpha + ((below >> 16) & 255) * rest) >> 8;
  return r | (g << 8) | (b << 16) | (Math.max(alpha, below >>> 24) << 24);
}
