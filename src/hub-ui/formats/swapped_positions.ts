import type { Fence } from '../../model/fence.ts';
import { positionLists } from '../../model/position_lists.ts';
import type { Zone } from '../../model/zone.ts';
import { type Drawing, type FilePosition, positionsOf } from './drawing.ts';

/** Distance within which a drawing counts as at the site of the hub: about 50 km. */
const NEAR_DEGREES = 0.5;

/**
 * Whether a file seems to have latitude before longitude: swapping makes more shapes usable, or only swapping puts it at
 * the site of the hub.
 */
export function looksSwapped(drawing: Drawing, site: readonly FilePosition[]): boolean {
  const swapped = drawing.swapped?.();
  if (swapped === undefined) return false;
  if (swapped.unusable.length !== drawing.unusable.length) return swapped.unusable.length < drawing.unusable.length;
  return isNear(swapped, site) && !isNear(drawing, site);
}

function isNear({ layers }: Drawing, site: readonly FilePosition[]): boolean {
  const geometry = layers[0]?.shapes[0]?.geometry;
  const at = geometry && positionsOf(geometry)[0];
  if (at === undefined) return false;
  const [longitude = 0, latitude = 0] = at;
  return site.some(([x = 0, y = 0]) => {
    const east = (longitude - x) * Math.cos((latitude * Math.PI) / 180);
    return Math.hypot(east, latitude - y) <= NEAR_DEGREES;
  });
}

/** Returns one position of each fence and zone of the hub. */
export function sitePositions(fences: Iterable<Fence>, zones: Iterable<Zone>): readonly FilePosition[] {
  const ofFences = [...fences].flatMap(({ region }) => positionLists(region)[0]?.slice(0, 1) ?? []);
  const ofZones = [...zones].flatMap(({ position, ground_control_points: rows }) => {
    return position == null ? (rows?.slice(0, 1) ?? []) : [position.coordinates];
  });
  return [...ofFences, ...ofZones];
}
