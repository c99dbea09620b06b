import { WGS84 } from '../core/geo/crs.ts';
import { roundDegrees, roundMetres } from '../core/geo/rounding.ts';
import { zoneTransform } from '../core/zone/zone_transform.ts';
import { HubError } from '../errors.ts';
import { checker } from '../model/check.ts';
import { show } from '../model/show.ts';
import { SimpleTransform, type Zone } from '../model/zone.ts';

const schema = checker(SimpleTransform);

/**
 * Moves a position between a zone's coordinates and EPSG:4326, away from the crs that it is given in; z is kept. Throws
 * HUB_BAD_REQUEST for a body that is no SimpleTransform, a zone that cannot place its coordinates, and a position out
 * of its reach.
 */
export function simpleTransform(zone: Zone, body: unknown): SimpleTransform {
  const { position, crs } = schema.parse(body);
  const wanted = crs ?? 'local';
  if (wanted !== 'local' && wanted !== 'EPSG:4326') throw bad(`crs: must be local or EPSG:4326, found ${show(crs)}`);
  const plane = zoneTransform(zone);
  if (plane === undefined) throw bad(`zone_id: must be a zone with local coordinates, found ${show(zone.id)}`);
  const [x, y, z] = position.coordinates as [number, number, number?];
  const toWgs84 = wanted === 'local';
  const from = toWgs84 ? plane : WGS84;
  const out: [number, number] = [Number.NaN, Number.NaN];
  if (from.covers(x, y)) (toWgs84 ? plane.toWgs84 : plane.fromWgs84)(x, y, out);
  if (!Number.isFinite(out[0]) || !Number.isFinite(out[1])) {
    throw bad(`position.coordinates: must lie within reach of zone ${show(zone.id)}, found ${show([x, y])}`);
  }
  const coordinates = out.map(toWgs84 ? roundDegrees : roundMetres);
  if (z !== undefined) coordinates.push(z);
  return { position: { type: 'Point', coordinates }, source: zone.id, crs: toWgs84 ? 'EPSG:4326' : 'local' };
}

function bad(message: string): HubError {
  return new HubError('HUB_BAD_REQUEST', message);
}
