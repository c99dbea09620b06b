import type { Place } from './ecef.ts';

/**
 * Whether a closed ring of lon, lat, lon, lat … covers a place, its longitude being turned next to the ring. Counts the
 * edges crossed on the way north.
 */
export function ringCovers(ring: Float64Array, place: Place): boolean {
  const lon = place.lon + 360 * Math.round((ring[0]! - place.lon) / 360);
  let inside = false;
  for (let i = 0; i + 3 < ring.length; i += 2) {
    const [ax, ay, bx, by] = [ring[i]!, ring[i + 1]!, ring[i + 2]!, ring[i + 3]!];
    if (ax > lon === bx > lon) continue;
    const crossing = ay + ((lon - ax) / (bx - ax)) * (by - ay);
    if (crossing > place.lat) inside = !inside;
  }
  return inside;
}
