import type { Sprites } from './sprites.ts';

/**
 * Draws thousands of symbols pixel by pixel into one image. A browser without a graphics card takes some 60 ms for 4,000
 * images or paths on a canvas, and 2 to 5 ms for this; one with such a card does not mind.
 */
export class Crowd {
  readonly #canvas = document.createElement('canvas');
  #image: ImageData | undefined;
  #pixels = new Uint32Array(0);
  readonly #stamps = new Map<Sprites, readonly Stamp[]>();

  /** Starts an image of so many pixels of the page. */
  begin(width: number, height: number): void {
    if (this.#image?.width !== width || this.#image.height !== height) {
      this.#canvas.width = width;
      this.#canvas.height = height;
      this.#image = new ImageData(width, height);
      this.#pixels = new Uint32Array(this.#image.data.buffer);
    }
    this.#pixels.fill(0);
  }

  /** Adds the symbol of a column of the sprites, which have to be those of one pixel per pixel. hot */
  add(sprites: Sprites, column: number, [px, py]: readonly [number, number], alpha: number): void {
    const width = this.#canvas.width;
    const height = this.#canvas.height;
    let stamps = this.#stamps.get(sprites);
    if (stamps === undefined) {
      stamps = stampsOf(sprites);
      this.#stamps.set(sprites, stamps);
    }
    const { dx, dy, color } = stamps[column]!;
    const left = Math.round(px) - (sprites.size >> 1);
    const top = Math.round(py) - (sprites.size >> 1);
    const pixels = this.#pixels;
    const opacity = Math.round(alpha * 255);
    for (let k = 0; k < color.length; k++) {
      const x = left + dx[k]!;
      const y = top + dy[k]!;
      if (x < 0 || y < 0 || x >= width || y >= height) continue;
      const at = y * width + x;
      const ink = color[k]!;
      const a = ((ink >>> 24) * opacity) >> 8;
      const below = pixels[at]!;
      if (a > 250 || below === 0) pixels[at] = (ink & 0xffffff) | (a << 24);
      else pixels[at] = mix(ink, below, a);
    }
  }

  end(context: CanvasRenderingContext2D): void {
    if (this.#image === undefined) return;
    this.#canvas.getContext('2d')?.putImageData(this.#image, 0, 0);
    context.drawImage(this.#canvas, 0, 0);
  }
}

/** The pixels of a symbol that are not empty. */
interface Stamp {
  readonly dx: Uint8Array;
  readonly dy: Uint8Array;
  readonly color: Uint32Array;
}

function stampsOf({ image, size }: Sprites): readonly Stamp[] {
  const context = image.getContext('2d');
  const columns: Stamp[] = [];
  for (let left = 0; context !== null && left < image.width; left += size) {
    const pixels = new Uint32Array(context.getImageData(left, 0, size, size).data.buffer);
    const inked = [...pixels.keys()].filter((at) => pixels[at]! >>> 24 > 8);
    columns.push({
      dx: Uint8Array.from(inked, (at) => at % size),
      dy: Uint8Array.from(inked, (at) => Math.floor(at / size)),
      color: Uint32Array.from(inked, (at) => pixels[at]!),
    });
  }
  return columns;
}

/** A color over another, as bytes of alpha, blue, green and red. */
function mix(ink: number, below: number, alpha: number): number {
  const rest = 255 - alpha;
  const r = ((ink & 255) * alpha + (below & 255) * rest) >> 8;
  const g = (((ink >> 8) & 255) * alpha + ((below >> 8) & 255) * rest) >> 8;
  const b = (((ink >> 16) & 255) * alpha + ((below >> 16) & 255) * rest) >> 8;
  return r | (g << 8) | (b << 16) | (Math.max(alpha, below >>> 24) << 24);
}
