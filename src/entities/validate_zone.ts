import { CRS_CHOICES, isCrs } from '../core/geo/crs.ts';
import { anchoredZone } from '../core/zone/control_points.ts';
import { hasFollowLists } from '../core/zone/following.ts';
import { checkGroundControlPoints, zoneTransform } from '../core/zone/zone_transform.ts';
import { isProximityZone, transformationType } from '../core/zone/zone_type.ts';
import { checker } from '../model/check.ts';
import { idKey, isUnset } from '../model/id.ts';
import { show } from '../model/show.ts';
import { Zone } from '../model/zone.ts';
import { type Body, badRequest, checkIntegers, DURATIONS, onlyMembers } from './body.ts';
import { checkLonLat } from './coordinates.ts';
import type { Known } from './known.ts';
import { checkLevels } from './parent_levels.ts';

const schema = checker(Zone);

/** The zone as it is kept. Throws HUB_BAD_REQUEST naming the field and the value that do not fit. */
export function validateZone(body: Body, known: Known, before?: Zone): Zone {
  const zone = onlyMembers(Zone, schema.parse(body));
  checkIntegers(zone, DURATIONS);
  if (zone.position != null) checkLonLat(zone.position.coordinates, 'position.coordinates', 180);
  checkNames(zone, known);
  if (isProximityZone(zone)) checkProximityZone(zone);
  else checkPlane(zone, known);
  checkParent(zone, known, before);
  return zone;
}

/**
 * Ids and foreign ids are one name space, so that a name means one zone. A name that the zone has already may stay, as
 * data from before that rule must not keep the zone from being changed.
 */
function checkNames(zone: Zone, known: Known): void {
  const before = known.get('zone', zone.id);
  const { id, foreign_id: foreignId } = zone;
  const namesake = before === undefined ? known.zoneByForeignId(id) : undefined;
  if (namesake !== undefined) {
    throw badRequest(`id: must differ from foreign ids of other zones, found ${show(id)}, that of another`);
  }
  if (foreignId == null || foreignId === '' || foreignId === before?.foreign_id) return;
  const other = [known.get('zone', foreignId), known.zoneByForeignId(foreignId)].find(
    (named) => named !== undefined && idKey(named.id) !== idKey(id),
  );
  if (other === undefined) return;
  const whose = idKey(other.id) === idKey(foreignId) ? 'the id of a zone' : 'that of another';
  throw badRequest(
    `foreign_id: must differ from ids and foreign ids of other zones, found ${show(foreignId)}, ${whose}`,
  );
}

function checkProximityZone(zone: Zone): void {
  const rows = zone.ground_control_points ?? [];
  if (rows.length > 0) {
    throw badRequest(`ground_control_points: must be absent from a proximity zone, found ${rows.length} rows`);
  }
  if (zone.position == null && zone.incomplete_configuration !== true) {
    throw badRequest(`position: is required for a proximity zone, found ${show(zone.position)}`);
  }
}

/** A zone whose coordinates are placed by ground control points, by a benchmark, or not at all. */
function checkPlane(zone: Zone, known: Known): void {
  const incomplete = zone.incomplete_configuration === true;
  const rows = zone.ground_control_points ?? [];
  const unfinished = incomplete && rows.length === 2;
  const problem = rows.length === 0 || unfinished ? undefined : checkGroundControlPoints(rows);
  if (problem !== undefined) throw badRequest(problem);
  if (zone.surface_projection != null) checkProjection(zone.surface_projection);
  const type = transformationType(zone);
  if (type === 'none' || incomplete) return;
  if (type === 'benchmark') checkBenchmark(zone);
  else if (rows.length === 0 && anchoredZone(zone, (id) => known.get('anchor', id)) === zone) {
    throw badRequest(`ground_control_points: are required for a zone of type ${zone.type}, found none`);
  }
}

function checkProjection(crs: string): void {
  if (isCrs(crs) && crs !== 'local' && crs !== 'EPSG:4326') return;
  throw badRequest(
    `surface_projection: must be one of ${CRS_CHOICES.replace('local, EPSG:4326, ', '')}, found ${show(crs)}`,
  );
}

function checkBenchmark(zone: Zone): void {
  if (zone.position == null) throw badRequest('position: is required for a benchmark zone, found nothing');
  if (zone.surface_projection == null) {
    throw badRequest('surface_projection: is required for a benchmark zone, found nothing');
  }
  if (zoneTransform(zone) !== undefined) return;
  const found = show(zone.position.coordinates);
  throw badRequest(`position: must lie within reach of ${zone.surface_projection}, found ${found}`);
}

/** Proximity zones may be carried by a trackable or by another proximity zone, which must not be carried by them. */
function checkParent(zone: Zone, known: Known, before: Zone | undefined): void {
  if (isUnset(zone.parent)) return;
  const found = show(zone.parent);
  if (!isProximityZone(zone)) throw badRequest(`parent: is for proximity zones only, found ${found}`);
  if (hasFollowLists(zone)) {
    throw badRequest(`parent: must not be set beside the automatic update in properties, found ${found}`);
  }
  const above = levelsAbove(zone, known, found);
  if (zone.parent !== before?.parent) checkLevels({ kind: 'zone', id: zone.id }, above, known);
}

/** How many carry each other up from the zone. */
function levelsAbove(zone: Zone, known: Known, found: string): number {
  const own = idKey(zone.id);
  let next = zone.parent;
  let kind: 'zone' | 'trackable' = 'zone';
  let above = 0;
  while (!isUnset(next)) {
    if (kind === 'zone' && idKey(next) === own) {
      throw badRequest(`parent: must not be carried by the zone itself, found ${found}`);
    }
    const zoneAbove: Zone | undefined = kind === 'zone' ? known.get('zone', next) : undefined;
    const carrier = zoneAbove ?? known.get('trackable', next);
    if (carrier === undefined || (zoneAbove !== undefined && !isProximityZone(zoneAbove))) {
      if (kind === 'trackable') return above;
      throw badRequest(`parent: must be the id of a trackable or of a proximity zone, found ${found}`);
    }
    if (zoneAbove === undefined) kind = 'trackable';
    next = carrier.parent;
    above++;
  }
  return above;
}
