import type { Anchor } from '../../model/anchor.ts';
import type { Zone } from '../../model/zone.ts';
import { checkGroundControlPoints } from './zone_transform.ts';
import { transformationType } from './zone_type.ts';

/**
 * The zone as its anchors place it: those of its anchor_ids that are known in both planes take the place of its ground
 * control points. The same object where they do not: it has none, they are too few to decide a map, or the zone is not
 * placed by points at all.
 */
export function anchoredZone(zone: Zone, anchorOf: (id: string) => Anchor | undefined): Zone {
  if (zone.anchor_ids == null || zone.anchor_ids.length === 0) return zone;
  if (transformationType(zone) !== 'gcp') return zone;
  const rows = rowsOf(zone.anchor_ids, anchorOf);
  return checkGroundControlPoints(rows) === undefined ? { ...zone, ground_control_points: rows } : zone;
}

/** Anchors are often mounted above each other: of those at one place in both planes only the first counts. */
function rowsOf(ids: readonly string[], anchorOf: (id: string) => Anchor | undefined): number[][] {
  const rows: number[][] = [];
  const seen = new Set<string>();
  for (const id of ids) {
    const anchor = anchorOf(id);
    const [lon, lat] = anchor?.georeferenced_position?.coordinates ?? [];
    const [x, y] = anchor?.local_position?.coordinates ?? [];
    if (lon === undefined || lat === undefined || x === undefined || y === undefined) continue;
    const place = `${lon} ${lat} ${x} ${y}`;
    if (seen.has(place)) continue;
    seen.add(place);
    rows.push([lon, lat], [x, y]);
  }
  return rows;
}
