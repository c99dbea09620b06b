import Layer from 'ol/layer/Layer.js';
import type { FrameState } from 'ol/Map.js';
import styles from './canvas_layer.module.css';

export type CanvasContext = CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D;

/** Drawing context of a layer, with the transform from map coordinates to pixels. */
export interface CanvasFrame {
  readonly context: CanvasContext;
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

type View = Omit<CanvasFrame, 'context'>;

export interface CanvasLayerOptions {
  readonly zIndex: number;
  /**
   * Whether it is rarely redrawn while the view stands still. A browser without a graphics card spends 2 ms of each frame on a
   * canvas that has not changed, but nothing on such an OffscreenCanvas. The browser may show an OffscreenCanvas a frame late,
   * which is visible only while it moves.
   */
  readonly isStill?: boolean;
}

/**
 * A layer with its own canvas. Only its own `redraw` and a changed view of the map redraw it: thousands of moving objects cause
 * no redraw of the other layers, nor do these of each other.
 */
export class CanvasLayer extends Layer {
  /** Wrapper of the canvas. Without it, OpenLayers would draw other layers into the canvas. */
  readonly #box = document.createElement('div');
  readonly #canvas: HTMLCanvasElement | OffscreenCanvas;
  readonly #draw: (frame: CanvasFrame) => void;
  #last: View | undefined;
  /** Id of the requested animation frame, or 0. */
  #soon = 0;

  constructor(draw: (frame: CanvasFrame) => void, { zIndex, isStill = false }: CanvasLayerOptions) {
    super({ zIndex });
    this.#draw = draw;
    this.#box.className = styles.layer ?? '';
    const shown = document.createElement('canvas');
    this.#box.append(shown);
    this.#canvas = isStill ? shown.transferControlToOffscreen() : shown;
  }

  override render(state: FrameState | null): HTMLElement | null {
    if (state === null) return null;
    const [width = 0, height = 0] = state.size;
    const { pixelRatio, coordinateToPixelTransform: toPixel, viewState } = state;
    const { resolution, center, rotation } = viewState;
    // OpenLayers modifies its transform in place.
    const matrix = [...toPixel] as unknown as CanvasFrame['toPixel'];
    const next = { width, height, toPixel: matrix, resolution, pixelRatio, center: [...center], rotation };
    if (this.#last === undefined || !isSameView(this.#last, next)) {
      this.#last = next;
      this.redraw();
    }
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
    const context = this.#canvas.getContext('2d') as CanvasContext | null;
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

/** Whether two frames show the same part of the map at the same place; the rest of a frame follows from that. */
function isSameView(one: View, other: View): boolean {
  return (
    one.width === other.width &&
    one.height === other.height &&
    one.pixelRatio === other.pixelRatio &&
    one.toPixel.every((value, i) => value === other.toPixel[i])
  );
}
