import Type from 'typebox';
import { roundDegrees } from '../core/geo/rounding.ts';
import { zoneTransform } from '../core/zone/zone_transform.ts';
import type { Anchor } from '../model/anchor.ts';
import type { Zone } from '../model/zone.ts';

export const ANCHOR_QUERY = {
  georef: Type.Optional(
    Type.Boolean({
      description: 'Whether georeferenced positions are computed from local ones, where that is possible.',
    }),
  ),
};

/** The anchor with its georeferenced position computed by its zone; as it is where it or its zone has no place. */
export function georeferenced(anchor: Anchor, zoneBy: (idOrForeignId: string) => Zone | undefined): Anchor {
  const zone = anchor.zone_id == null ? undefined : zoneBy(anchor.zone_id);
  const plane = zone && zoneTransform(zone);
  const [x, y, z] = anchor.local_position?.coordinates ?? [];
  if (plane === undefined || x === undefined || y === undefined || !plane.covers(x, y)) return anchor;
  const out: [number, number] = [0, 0];
  plane.toWgs84(x, y, out);
  const coordinates = out.map(roundDegrees);
  if (z !== undefined) coordinates.push(z);
  return { ...anchor, georeferenced_position: { type: 'Point', coordinates } };
}
