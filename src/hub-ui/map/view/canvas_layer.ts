import Layer from 'ol/layer/Layer.js';
import type { FrameState } from 'ol/Map.js';
import styles from './canvas_layer.module.css';

/** Drawing context of a layer, with the transform from map coordinates to pixels. */
export interface CanvasFrame {
  readonly context: CanvasRenderingContext2D;
  readonly width: number;
  readonly height: number;
  /** a, b, c, d, e, f: x' = a·x + c·y + e, y' = b·x + d·y + f. */
  readonly toPixel: readonly [a: number, b: number, c: number, d: number, e: number, f: number];
  /** Map units per pixel. */
  readonly resolution: number;
  readonly pixelRatio: number;
  readonly center: readonly number[];
  /** Rotation of the map, in radians clockwise. */
  readonly rotation: number;
}

/**
 * A layer with its own canvas, redrawn independently of the map. Thousands of moving objects then cause no redraw of the static
 * layers.
 */
export class CanvasLayer extends Layer {
  /** Wrapper of the canvas. Without it, OpenLayers would draw other layers into the canvas. */
  readonly #box = document.createElement('div');
  readonly #canvas = document.createElement('canvas');
  readonly #draw: (frame: CanvasFrame) => void;
  #last: Omit<CanvasFrame, 'context'> | undefined;
  /** Id of the requested animation frame, or 0. */
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
    // OpenLayers modifies its transform in place.
    const matrix = [...toPixel] as unknown as CanvasFrame['toPixel'];
    this.#last = { width, height, toPixel: matrix, resolution, pixelRatio, center, rotation };
    this.redraw();
    return this.#box;
  }

  /** Schedules one redraw with the next frame, for any number of calls. */
  redrawSoon(): void {
    if (this.#soon === 0) this.#soon = requestAnimationFrame(() => this.redraw());
  }

  /** Redraws only this layer, with the current view of the map. */
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
