import { Anchor } from '../model/anchor.ts';
import { checker } from '../model/check.ts';
import { isUnset } from '../model/id.ts';
import { show } from '../model/show.ts';
import { type Body, badRequest, onlyMembers } from './body.ts';
import { checkLonLat } from './coordinates.ts';
import type { Known } from './known.ts';

const schema = checker(Anchor);

/** The anchor as it is kept. Throws HUB_BAD_REQUEST naming the field and the value that do not fit. */
export function validateAnchor(body: Body, known: Known): Anchor {
  const anchor = onlyMembers(Anchor, schema.parse(body));
  const { georeferenced_position: position, zone_id: zone } = anchor;
  if (position != null) checkLonLat(position.coordinates, 'georeferenced_position.coordinates', 180);
  if (!isUnset(zone) && known.zoneBy(zone) === undefined) {
    throw badRequest(`zone_id: must be the id or foreign id of a zone, found ${show(zone)}`);
  }
  return anchor;
}
