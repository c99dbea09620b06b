import type { CanvasFrame } from '../view/canvas_layer.ts';
import type { AlarmSeverity, Palette } from '../view/palette.ts';
import type { Cluster } from './clusters.ts';
import type { Density } from './density.ts';
import type { MovingObjects } from './moving_objects.ts';
import type { SymbolName } from './sprites.ts';
import { SymbolRaster } from './symbol_raster.ts';
import type { Trail } from './trail.ts';

/** Appearance of moving objects. */
export interface MovingLook {
  readonly symbol: SymbolName;
  readonly palette: Palette;
  /** Default color, then the colors of groups by number. */
  readonly colors: readonly string[];
  /** Trail of the followed object. */
  readonly trail: Trail | undefined;
  /** Scale of symbols. */
  readonly scale: number;
  readonly tails: boolean;
  readonly accuracy: boolean;
  readonly clusters: boolean;
  readonly selectedId: string | undefined;
  /** Ids of the objects in a multiple selection. */
  readonly multiSelected?: ReadonlySet<string> | undefined;
  /** Ids of objects that collide. */
  readonly colliding: ReadonlySet<string>;
  /** Severities of the alerts of objects, by id. */
  readonly alarms: ReadonlyMap<string, AlarmSeverity>;
  /** Times at which objects got a critical alert, by id: each pulses once. */
  readonly pulses?: ReadonlyMap<string, number> | undefined;
  /** Symbol of marked objects, and whether only those are drawn. Undefined: marked objects look like all others. */
  readonly marked?: { readonly symbol: SymbolName; readonly isOnly: boolean } | undefined;
  /** Floor to show; undefined for all floors. */
  readonly floor: number | undefined;
}

/** Screen positions of the drawn objects, for hit tests. */
export interface OnScreen {
  x: Float32Array;
  y: Float32Array;
  /** Indices of the individually drawn objects; the first `drawn` are valid. The others are in clusters. */
  indices: Uint32Array;
  drawn: number;
  clusters: readonly Cluster[];
  /** Number of objects within the screen, and of those without recent locations. */
  seen: number;
  stale: number;
  density: Density;
  readonly crowd: SymbolRaster;
}

export function newScreen(): OnScreen {
  return { ...columns(256), drawn: 0, clusters: [], seen: 0, stale: 0, density: 'single', crowd: new SymbolRaster() };
}

function columns(length: number): Pick<OnScreen, 'x' | 'y' | 'indices'> {
  return { x: new Float32Array(length), y: new Float32Array(length), indices: new Uint32Array(length) };
}

/** Input of one frame. */
export interface Scene {
  readonly frame: CanvasFrame;
  readonly objects: MovingObjects;
  readonly look: MovingLook;
  readonly screen: OnScreen;
  readonly nowMs: number;
}

/** Silence after which an object counts as stale. */
export const STALE_MS = 15_000;
const MARGIN = 20;

/** Computes which objects are on the screen, and their pixel positions. hot: once per frame */
export function locate({ frame, objects, look, screen, nowMs }: Scene): void {
  const { toPixel, width, height } = frame;
  const [a, b, c, d, e, f] = toPixel;
  const { count, x, y, removed, marked, floor, lastSeenMs } = objects;
  const isOnlyMarked = look.marked?.isOnly === true;
  if (screen.x.length < count) Object.assign(screen, columns(x.length));
  let seen = 0;
  let stale = 0;
  for (let i = 0; i < count; i++) {
    if (removed[i] === 1) continue;
    if (isOnlyMarked && marked[i] === 0) continue;
    if (look.floor !== undefined && floor[i] !== look.floor) continue;
    const px = a * x[i]! + c * y[i]! + e;
    const py = b * x[i]! + d * y[i]! + f;
    if (px < -MARGIN || py < -MARGIN || px > width + MARGIN || py > height + MARGIN) continue;
    screen.x[i] = px;
    screen.y[i] = py;
    screen.indices[seen++] = i;
    if (nowMs - lastSeenMs[i]! > STALE_MS) stale++;
  }
  screen.drawn = seen;
  screen.seen = seen;
  screen.stale = stale;
}
