import type { Fence } from '../../model/fence.ts';
import type { Polygon } from '../../model/geojson.ts';
import { flatRing, isClosed, signedArea } from '../geo/rings.ts';

type Ring = Polygon['coordinates'][number];

/**
 * Returns the fence with its polygon in normal form: rings closed, exterior counter-clockwise, holes clockwise, and
 * only the first of consecutive positions with equal x and y, also of a line. Positions stay as sent, including z.
 * Returns the same object if the fence is normalized already or a circle.
 */
export function normalizeFence(fence: Fence): Fence {
  const { region } = fence;
  if (region.type === 'LineString' && hasRepeats(region.coordinates)) {
    return { ...fence, region: { ...region, coordinates: withoutRepeats(region.coordinates) } };
  }
  if (region.type !== 'Polygon') return fence;
  const geographic = isGeographic(fence);
  let changed = false;
  const coordinates = region.coordinates.map((ring, i) => {
    const normal = normalizeRing(ring, { clockwise: i > 0, geographic });
    changed ||= normal !== ring;
    return normal;
  });
  return changed ? { ...fence, region: { ...region, coordinates } } : fence;
}

/** Whether the region is in longitude and latitude. */
export function isGeographic(fence: Fence): boolean {
  return (fence.crs ?? 'EPSG:4326') === 'EPSG:4326';
}

function normalizeRing(ring: Ring, { clockwise, geographic }: { clockwise: boolean; geographic: boolean }): Ring {
  let normal = ring;
  if (hasRepeats(ring)) normal = withoutRepeats(ring);
  if (!isClosed(normal) && normal[0] !== undefined) normal = [...normal, normal[0]];
  const area = signedArea(flatRing(normal, geographic));
  return clockwise ? (area > 0 ? normal.toReversed() : normal) : area < 0 ? normal.toReversed() : normal;
}

function hasRepeats(ring: Ring): boolean {
  return ring.some((position, i) => i > 0 && samePosition(position, ring[i - 1]));
}

function withoutRepeats(ring: Ring): Ring {
  return ring.filter((position, i) => i === 0 || !samePosition(position, ring[i - 1]));
}

function samePosition(a: readonly number[], b: readonly number[] | undefined): boolean {
  return a[0] === b?.[0] && a[1] === b?.[1];
}
