/** A polygon in map coordinates, as rings of positions. */
type Rings = readonly (readonly (readonly number[])[])[];

/** Zones and fences of one floor. */
export interface FloorShapes {
  readonly floor: number;
  readonly zones: readonly Rings[];
  readonly fences: readonly Rings[];
}

/** Oblique projection of a building: its floors seen from above and in front, one above the other. */
export interface StackProjection {
  /** Returns the pixel of a position on a floor, which is the `level`th from below. */
  readonly toPixel: (x: number, y: number, level: number) => readonly [px: number, py: number];
  /** Whether a position of the map is inside the bounds of the building. */
  readonly isInside: (x: number, y: number) => boolean;
}

/** Rotation of the building on the screen, in radians: its longest edge would hide the depth if it were horizontal. */
const TURN = -0.3;
/** Height of a floor on the screen, relative to its depth on the map. */
const TILT = 0.5;
/** Distance between floors relative to their height on the screen: from overlapping by half to apart. */
const GAP = [0.45, 1.15] as const;

/**
 * Fits the floors of a building into an area of the screen. `spread` is the distance between floors: 0 is one plane, 1 the final
 * stack.
 */
export function projectStack(
  floors: readonly FloorShapes[],
  { left, top, width, height }: Readonly<Record<'left' | 'top' | 'width' | 'height', number>>,
  spread: number,
): StackProjection | undefined {
  const outlines = floors.flatMap(({ zones }) => zones.flatMap((rings) => rings.slice(0, 1)));
  const angle = TURN - longestEdge(outlines);
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  const turned = (x: number, y: number): [number, number] => [x * cos - y * sin, x * sin + y * cos];
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const [x = 0, y = 0] of outlines.flat()) {
    const [u, v] = turned(x, y);
    [west, south, east, north] = [Math.min(west, u), Math.min(south, v), Math.max(east, u), Math.max(north, v)];
  }
  if (!(east > west && north > south)) return undefined;
  const levels = floors.length - 1;
  const [closest, widest] = GAP;
  const scale = Math.min(width / (east - west), height / ((north - south) * TILT * (1 + closest * levels)));
  const deep = (north - south) * TILT * scale;
  const gap = levels === 0 ? 0 : Math.min(widest * deep, (height - deep) / levels);
  const x0 = left + (width - (east - west) * scale) / 2;
  const y0 = top + (height + deep + gap * levels) / 2 - ((1 - spread) * gap * levels) / 2;
  return {
    toPixel(x, y, level) {
      const [u, v] = turned(x, y);
      return [x0 + (u - west) * scale, y0 - (v - south) * TILT * scale - level * gap * spread];
    },
    isInside(x, y) {
      const [u, v] = turned(x, y);
      return u >= west && u <= east && v >= south && v <= north;
    },
  };
}

/** Direction of the longest edge, from -90 to 90 degrees, in radians. */
function longestEdge(outlines: readonly (readonly (readonly number[])[])[]): number {
  let [best, angle] = [0, 0];
  for (const ring of outlines) {
    for (let k = 1; k < ring.length; k++) {
      const [x0 = 0, y0 = 0] = ring[k - 1]!;
      const [x1 = 0, y1 = 0] = ring[k]!;
      const length = Math.hypot(x1 - x0, y1 - y0);
      // Of equal edges, the first one.
      if (length <= best * 1.001) continue;
      best = length;
      angle = Math.atan2(y1 - y0, x1 - x0);
    }
  }
  return Math.atan(Math.tan(angle));
}
