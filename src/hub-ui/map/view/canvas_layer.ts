import Layer from 'ol/layer/Layer.js';
import type { FrameState } from 'ol/Map.js';
import styles from './canvas_layer.module.css';

/** Drawing context of a layer: maps points of the map to pixels of the screen. */
export interface CanvasFrame {
  readonly context: CanvasRenderingContext2D;
  readonly width: number;
  readonly height: number;
  /** a, b, c, d, e, f: x' = a·x + c·y + e, y' = b·x + d·y + f. */
  readonly toPixel: readonly number[];
  /** Units of the map per pixel. */
  readonly resolution: number;
  readonly pixelRatio: number;
  readonly center: readonly number[];
  /** How far the map is turned, in radians clockwise. */
  readonly rotation: number;
}

/**
 * A layer with its own canvas. It is redrawn without the rest of the map, which matters when thousands of objects in it move
 * and everything else stands still.
 */
export class CanvasLayer extends Layer {
  /** Around the canvas, since other layers would draw into a bare one that lies below them. */
  readonly #box = document.createElement('div');
  readonly #canvas = document.createElement('canvas');
  readonly #draw: (frame: CanvasFrame) => void;
  #last: Omit<CanvasFrame, 'context'> | undefined;
  /** The requested animation frame, or 0. */
  #soon = 0;

  constructor(draw: (frame: CanvasFrame) => void, zIndex: number) {
    super({ zIndex });
    this.#draw = draw;
    this.#box.className = styles.layer ?? '';
    this.#box.append(this.#canvas);
  }

  override render(state: FrameState | null): HTMLElement | null {
    if (state === null) return null;
    const [width = 0, height = 0] = state.size;
    const { pixelRatio, coordinateToPixelTransform: toPixel, viewState } = state;
    const { resolution, center, rotation } = viewState;
    this.#last = { width, height, toPixel: [...toPixel], resolution, pixelRatio, center, rotation };
    this.redraw();
    return this.#box;
  }

  /** Draws the layer with the next frame, once, however often that is asked for until then. */
  redrawSoon(): void {
    if (this.#soon === 0) this.#soon = requestAnimationFrame(() => this.redraw());
  }

  /** Draws the layer alone, where the map is now. */
  redraw(): void {
    cancelAnimationFrame(this.#soon);
    this.#soon = 0;
    const context = this.#canvas.getContext('2d');
    if (this.#last === undefined || context === null) return;
    const { width, height, pixelRatio } = this.#last;
    const wide = Math.round(width * pixelRatio);
    const high = Math.round(height * pixelRatio);
    if (this.#canvas.width !== wide || this.#canvas.height !== high) {
      this.#canvas.width = wide;
      this.#canvas.height = high;
    }
    context.setTransform(pixelRatio, 0, 0, pixelRatio, 0, 0);
    context.clearRect(0, 0, width, height);
    this.#draw({ ...this.#last, context });
  }
}
