import { fromMap, type MapPoint, type Plane, type Position, toMap } from '../../map/plane/plane.ts';

type Ring = readonly Position[];

/**
 * Positions of a ring after vertices were moved, added or removed on the map, which has no heights. Unmoved vertices keep
 * their exact position, moved ones their height. Added ones get an interpolated height.
 */
export function carried(before: Ring, drawn: readonly MapPoint[], plane: Plane): number[][] {
  const exact = new Map(before.map((position) => [keyOf(toMap(plane, position)), position]));
  const isSameCount = before.length === drawn.length;
  const found = drawn.map((point) => exact.get(keyOf(point)));
  return drawn.map((point, i) => {
    const [same, own] = [found[i], before[i]];
    if (isSameCount && own !== undefined && same !== own)
      return [...(same?.slice(0, 2) ?? fromMap(plane, point)), ...own.slice(2)];
    if (same !== undefined) return [...same];
    const height = heightBetween(found, drawn, i);
    return [...fromMap(plane, point), ...(height === undefined ? [] : [height])];
  });
}

/** Positions of a new shape: each corner gets the height of the nearest corner of the replaced shape. */
export function replacing(before: Ring, drawn: readonly MapPoint[], plane: Plane): number[][] {
  const old = before.map((position) => ({ at: toMap(plane, position), height: position[2] }));
  return drawn.map((point) => {
    let nearest: (typeof old)[number] | undefined;
    for (const each of old)
      if (nearest === undefined || apart(each.at, point) < apart(nearest.at, point)) nearest = each;
    return [...fromMap(plane, point), ...(nearest?.height === undefined ? [] : [nearest.height])];
  });
}

/** Interpolates between the nearest vertices with a height before and after, by distance. */
function heightBetween(
  found: readonly (Position | undefined)[],
  drawn: readonly MapPoint[],
  index: number,
): number | undefined {
  const count = drawn.length;
  const next = (step: 1 | -1): { height: number; distance: number } | undefined => {
    for (let k = 1; k < count; k++) {
      const i = (index + step * k + count * k) % count;
      const height = found[i]?.[2];
      const [at, own] = [drawn[i], drawn[index]];
      if (height !== undefined && at !== undefined && own !== undefined) return { height, distance: apart(at, own) };
    }
    return undefined;
  };
  const [before, after] = [next(-1), next(1)];
  if (before === undefined || after === undefined) return (before ?? after)?.height;
  const whole = before.distance + after.distance;
  if (whole === 0) return before.height;
  const height = (before.height * after.distance + after.height * before.distance) / whole;
  return Math.round(height * 1000) / 1000;
}

function apart(a: MapPoint, b: MapPoint): number {
  return Math.hypot(a[0] - b[0], a[1] - b[1]);
}

/** Key of a point; points closer than a tenth of a millimeter are equal. */
function keyOf([x, y]: MapPoint): string {
  return `${Math.round(x * 1e4)} ${Math.round(y * 1e4)}`;
}
