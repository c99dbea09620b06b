import type { Alarms } from '../../alerts/alert_store.ts';
import type { MovingObjects } from '../../map/objects/moving_objects.ts';
import type { Palette } from '../../map/view/palette.ts';
import type { FloorShapes, StackProjection } from './stack_projection.ts';

/** Thickness of a floor, and radius of an object, in pixels. */
const THICKNESS = 5;
const RADIUS = 3.5;

export interface StackScene {
  /** The lowest floor first. */
  readonly floors: readonly FloorShapes[];
  readonly projection: StackProjection;
  readonly objects: MovingObjects | undefined;
  /** Severities of the alerts of objects, by id. */
  readonly alarms: Alarms;
  readonly symbol: 'trackable' | 'provider';
  /** Floor under the pointer or with the focus. */
  readonly pointed: number | undefined;
  /** Right edge of the labels, from which a line leads to each floor. */
  readonly labelsRight: number;
  readonly palette: Palette;
}

/** Draws the floors of a building from below, each with its fences and objects. */
export function drawStack(canvas: HTMLCanvasElement, scene: StackScene): void {
  const { clientWidth: width, clientHeight: height } = canvas;
  const ratio = devicePixelRatio;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext('2d');
  if (context === null) return;
  context.scale(ratio, ratio);
  context.lineJoin = 'round';
  for (const [level, floor] of scene.floors.entries()) {
    drawFloor(context, scene, { floor, level });
    drawObjects(context, scene, { floor: floor.floor, level });
  }
}

function drawFloor(
  context: CanvasRenderingContext2D,
  { projection, pointed, palette, labelsRight }: StackScene,
  { floor, level }: { readonly floor: FloorShapes; readonly level: number },
): void {
  const isPointed = floor.floor === pointed;
  const trace = (rings: FloorShapes['zones'][number], down = 0): void => {
    for (const ring of rings) {
      for (const [k, [x = 0, y = 0]] of ring.entries()) {
        const [px, py] = projection.toPixel(x, y, level);
        if (k === 0) context.moveTo(px, py + down);
        else context.lineTo(px, py + down);
      }
      context.closePath();
    }
  };
  const path = (all: FloorShapes['zones'], down = 0): void => {
    context.beginPath();
    for (const rings of all) trace(rings, down);
  };
  const edge = isPointed ? palette.trackable : palette.coast;
  drawLeader(context, { floor, level, labelsRight, projection, color: edge });
  path(floor.zones, THICKNESS);
  context.fillStyle = edge;
  context.fill();
  path(floor.zones);
  context.fillStyle = palette.building;
  context.fill();
  context.lineWidth = isPointed ? 2 : 1;
  context.strokeStyle = edge;
  context.stroke();
  path(floor.fences);
  context.fillStyle = palette.fenceFill;
  context.fill('evenodd');
  context.lineWidth = 1;
  context.strokeStyle = palette.fence;
  context.stroke();
}

/** Line from the label of a floor to its leftmost corner. */
function drawLeader(
  context: CanvasRenderingContext2D,
  {
    floor,
    level,
    labelsRight,
    projection,
    color,
  }: Pick<StackScene, 'labelsRight' | 'projection'> & {
    readonly floor: FloorShapes;
    readonly level: number;
    readonly color: string;
  },
): void {
  const corners = floor.zones.flatMap(([ring = []]) => ring.map(([x = 0, y = 0]) => projection.toPixel(x, y, level)));
  const rows = corners.map(([, py]) => py);
  const middle = (Math.min(...rows) + Math.max(...rows)) / 2;
  const [px, py] = corners.reduce((left, each) => (each[0] < left[0] ? each : left));
  context.beginPath();
  context.moveTo(labelsRight, middle);
  context.lineTo(px, py);
  context.lineWidth = 1;
  context.strokeStyle = color;
  context.stroke();
}

/** Draws the objects on a floor, those with an alert last. */
function drawObjects(
  context: CanvasRenderingContext2D,
  { objects, projection, alarms, symbol, palette }: StackScene,
  { floor, level }: { readonly floor: number; readonly level: number },
): void {
  if (objects === undefined) return;
  const colors = [palette[symbol], palette.warning, palette.critical];
  const dots = colors.map(() => new Path2D());
  for (let i = 0; i < objects.count; i++) {
    if (objects.removed[i] === 1 || objects.floor[i] !== floor) continue;
    const [x, y] = [objects.x[i]!, objects.y[i]!];
    if (!projection.isInside(x, y)) continue;
    const [px, py] = projection.toPixel(x, y, level);
    const severity = alarms.size === 0 ? undefined : alarms.get(objects.facts[i]?.id ?? '');
    const path = dots[severity === 'critical' ? 2 : severity === 'warning' ? 1 : 0]!;
    path.moveTo(px + RADIUS, py);
    path.arc(px, py, RADIUS, 0, 2 * Math.PI);
  }
  for (const [k, path] of dots.entries()) {
    context.lineWidth = 2.5;
    context.strokeStyle = palette.halo;
    context.stroke(path);
    context.fillStyle = colors[k]!;
    context.fill(path);
  }
}
