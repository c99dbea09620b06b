import { hubError, HubError } from '../errors.ts';
import { dequal } from 'dequal/lite';
import { normalizeFence } from '../core/fence/region_normal.ts';
import { isCrs, type PlaneTransform, projection } from '../core/geo/crs.ts';
import { anchoredZone } from '../core/zone/control_points.ts';
import { hasFollowLists } from '../core/zone/following.ts';
import { checkGroundControlPoints, zoneTransform } from '../core/zone/zone_transform.ts';
import { isProximityZone, transformationType } from '../core/zone/zone_type.ts';
import { Anchor } from '../model/anchor.ts';
import { checker } from '../model/check.ts';
import { Fence, type StoredFence } from '../model/fence.ts';
import { positionLists } from '../model/position_lists.ts';
import { idKey, isUnset, isUuid } from '../model/id.ts';
import { LocationProvider } from '../model/provider.ts';
import { pathOf, show } from '../model/error_value_text.ts';
import { Trackable } from '../model/trackable.ts';
import { Zone } from '../model/zone.ts';
import { type EntityBody, checkIntegers, checkLonLat, DURATIONS, onlyMembers } from './body.ts';
import type { EntityMap, EntityKindName, EntityLookup } from './entity_lookup.ts';
import { checkRules } from './locating_rules.ts';

const zoneSchema = checker(Zone);
const fenceSchema = checker(Fence);
const trackableSchema = checker(Trackable);
const providerSchema = checker(LocationProvider);
const anchorSchema = checker(Anchor);

/** The check of each kind: returns the entity in stored form, in place of `before`, or throws HUB_BAD_REQUEST. */
export const VALIDATE: {
  readonly [K in EntityKindName]: (
    body: EntityBody,
    known: EntityLookup,
    before: EntityMap[K] | undefined,
  ) => EntityMap[K];
} = {
  zone: validateZone,
  fence: validateFence,
  trackable: validateTrackable,
  provider: validateProvider,
  anchor: validateAnchor,
};

/** The zone in stored form. Throws HUB_BAD_REQUEST naming the invalid field and its value. */
function validateZone(body: EntityBody, known: EntityLookup, before?: Zone): Zone {
  const zone = onlyMembers(Zone, zoneSchema.parse(body));
  checkIntegers(zone, DURATIONS);
  if (zone.position != null) checkLonLat(zone.position.coordinates, 'position.coordinates', 180);
  checkNames(zone, known);
  checkProximityResolution(zone);
  if (isProximityZone(zone)) checkProximityZone(zone);
  else checkPlane(zone, known);
  checkZoneParent(zone, known, before);
  return zone;
}

/**
 * Ids and foreign ids share one namespace, so that a name identifies one zone. A name that the zone already has is
 * accepted, so that data older than this rule can still be changed.
 */
function checkNames(zone: Zone, known: EntityLookup): void {
  const before = known.get('zone', zone.id);
  const { id, foreign_id: foreignId } = zone;
  const namesake = before === undefined ? known.zoneByForeignId(id) : undefined;
  if (namesake !== undefined) {
    throw hubError('taken_zone_name', { path: 'id', found: show(id) });
  }
  if (foreignId == null || foreignId === '' || foreignId === before?.foreign_id) return;
  const other = [known.get('zone', foreignId), known.zoneByForeignId(foreignId)].find(
    (named) => named !== undefined && idKey(named.id) !== idKey(id),
  );
  if (other === undefined) return;
  throw hubError('taken_zone_name', { path: 'foreign_id', found: show(foreignId) });
}

const PROXIMITY_DURATIONS = ['exit_grace_duration', 'min_dwell_duration', 'stale_state_ttl'] as const;

/** Only proximity zones have readers between which a tag could change. */
function checkProximityResolution(zone: Zone): void {
  const { proximity_resolution: resolution } = zone;
  if (resolution == null) return;
  checkIntegers(resolution, PROXIMITY_DURATIONS, 'proximity_resolution');
  if (isProximityZone(zone)) return;
  throw hubError('proximity_only', { path: 'proximity_resolution', found: show(resolution) });
}

function checkProximityZone(zone: Zone): void {
  const rows = zone.ground_control_points ?? [];
  if (rows.length > 0) {
    throw hubError('not_for_proximity', { path: 'ground_control_points', count: rows.length });
  }
  if (zone.position == null && zone.incomplete_configuration !== true) {
    throw hubError('missing_for', { path: 'position', purpose: 'proximity_zone', found: show(zone.position) });
  }
}

/** Checks a zone georeferenced by ground control points, by a benchmark, or not at all. */
function checkPlane(zone: Zone, known: EntityLookup): void {
  const incomplete = zone.incomplete_configuration === true;
  const rows = zone.ground_control_points ?? [];
  const unfinished = incomplete && rows.length === 2;
  const problem = rows.length === 0 || unfinished ? undefined : checkGroundControlPoints(rows);
  if (problem !== undefined) throw new HubError(problem);
  if (zone.surface_projection != null) checkProjection(zone.surface_projection);
  const type = transformationType(zone);
  if (type === 'none' || incomplete) return;
  if (type === 'benchmark') checkBenchmark(zone);
  else if (rows.length === 0 && anchoredZone(zone, (id) => known.get('anchor', id)) === zone) {
    throw hubError('missing_for_type', { path: 'ground_control_points', type: zone.type });
  }
}

function checkProjection(crs: string): void {
  if (isCrs(crs) && crs !== 'local' && crs !== 'EPSG:4326') return;
  throw hubError('not_a_projected_crs', { path: 'surface_projection', found: show(crs) });
}

function checkBenchmark(zone: Zone): void {
  if (zone.position == null)
    throw hubError('missing_for', { path: 'position', purpose: 'benchmark_zone', found: 'nothing' });
  if (zone.surface_projection == null) {
    throw hubError('missing_for', { path: 'surface_projection', purpose: 'benchmark_zone', found: 'nothing' });
  }
  if (zoneTransform(zone) !== undefined) return;
  const found = show(zone.position.coordinates);
  throw hubError('out_of_reach', { path: 'position', crs: zone.surface_projection, found });
}

/** Proximity zones may be carried by a trackable or by another proximity zone, without a cycle. */
function checkZoneParent(zone: Zone, known: EntityLookup, before: Zone | undefined): void {
  if (isUnset(zone.parent)) return;
  const found = show(zone.parent);
  if (!isProximityZone(zone)) throw hubError('proximity_only', { path: 'parent', found });
  if (hasFollowLists(zone)) {
    throw hubError('not_with_update', { path: 'parent', found });
  }
  const above = levelsAbove(zone, known, found);
  if (zone.parent !== before?.parent) checkLevels({ kind: 'zone', id: zone.id }, above, known);
}

/** Number of parents above the zone. */
function levelsAbove(zone: Zone, known: EntityLookup, found: string): number {
  const own = idKey(zone.id);
  let next = zone.parent;
  let kind: 'zone' | 'trackable' = 'zone';
  let above = 0;
  while (!isUnset(next)) {
    if (kind === 'zone' && idKey(next) === own) {
      throw hubError('carried_by_itself', { path: 'parent', kind: 'zone', found });
    }
    const zoneAbove: Zone | undefined = kind === 'zone' ? known.get('zone', next) : undefined;
    const carrier = zoneAbove ?? known.get('trackable', next);
    if (carrier === undefined || (zoneAbove !== undefined && !isProximityZone(zoneAbove))) {
      if (kind === 'trackable') return above;
      throw hubError('not_a_parent', { path: 'parent', found });
    }
    if (zoneAbove === undefined) kind = 'trackable';
    next = carrier.parent;
    above++;
  }
  return above;
}

/** Regions across the antimeridian are written with longitudes beyond it. */
const LONGITUDE_MAX = 360;

/**
 * The fence in stored form, with a normalized region. Its zone must exist, unless `before` refers to the same zone. A
 * local region whose zone was deleted may stay as it is, but cannot be changed. Throws HUB_BAD_REQUEST naming the
 * invalid field and its value.
 */
export function validateFence(body: EntityBody, known: EntityLookup, before?: StoredFence): StoredFence {
  const sent = onlyMembers(Fence, fenceSchema.parse(body));
  checkIntegers(sent, DURATIONS);
  const zone = zoneOf(sent, known, before);
  const plane = zone && zoneTransform(zone);
  if (sent.untracked === true && sent.region.type === 'LineString') {
    throw hubError('untracked_line', { path: 'untracked', found: 'true' });
  }
  if (sent.crs === 'local' && plane === undefined && before !== undefined && hasStoredRegion(sent, before)) {
    checkRadius(sent);
    checkHoles(sent);
    const { former_zone: former } = before;
    return { ...normalizeFence(sent), ...(former && { former_zone: former }) };
  }
  checkPositions(sent, planeOf(sent, zone));
  checkRadius(sent);
  checkHoles(sent);
  const fence = normalizeFence(sent);
  const problem = known.shapes.regionProblem(fence);
  if (problem !== undefined) throw new HubError(problem);
  return fence;
}

/**
 * The zone of the fence; undefined if it has none, or if the zone was deleted and the fence referred to it before.
 * Throws HUB_BAD_REQUEST for any other unknown zone.
 */
function zoneOf({ zone_id: name }: Fence, known: EntityLookup, before: StoredFence | undefined): Zone | undefined {
  if (isUnset(name)) return undefined;
  const zone = known.zoneBy(name);
  if (zone !== undefined || name === before?.zone_id) return zone;
  throw hubError('unknown_zone', { path: 'zone_id', found: show(name) });
}

/** Whether a local region is the stored one, in the same plane. */
function hasStoredRegion(sent: Fence, before: StoredFence): boolean {
  if (before.crs !== 'local' || before.zone_id !== sent.zone_id) return false;
  return dequal(geometryOf(normalizeFence(sent)), geometryOf(before));
}

function geometryOf({ region }: Fence): unknown {
  return [region.type, region.coordinates];
}

/** The plane of the region's coordinates; undefined for EPSG:4326. */
function planeOf({ crs: given, zone_id: name }: Fence, zone: Zone | undefined): PlaneTransform | undefined {
  const crs = given ?? 'EPSG:4326';
  if (!isCrs(crs)) throw hubError('not_a_crs', { path: 'crs', found: show(crs) });
  if (crs === 'EPSG:4326') return undefined;
  if (crs !== 'local') return projection(crs);
  if (isUnset(name)) throw hubError('missing_for', { path: 'zone_id', purpose: 'local_region', found: show(name) });
  const plane = zone && zoneTransform(zone);
  if (plane !== undefined) return plane;
  const reason = zone === undefined ? 'unknown_zone' : 'zone_not_placed_itself';
  throw hubError(reason, { path: 'zone_id', found: show(name) });
}

function checkPositions(fence: Fence, plane: PlaneTransform | undefined): void {
  const { region } = fence;
  if (region.type === 'Point') {
    checkPosition(region.coordinates, 'region.coordinates', plane);
    return;
  }
  const isLine = region.type === 'LineString';
  // hot: once per position
  for (const [i, ring] of positionLists(region).entries()) {
    const path = isLine ? 'region.coordinates' : `region.coordinates[${i}]`;
    for (let j = 0; j < ring.length; j++) {
      const position = ring[j] as number[];
      if (!isWithin(position, plane)) checkPosition(position, `${path}[${j}]`, plane);
    }
  }
}

function isWithin(position: readonly number[], plane: PlaneTransform | undefined): boolean {
  const [x, y] = [position[0] as number, position[1] as number];
  return plane === undefined ? Math.abs(x) <= LONGITUDE_MAX && Math.abs(y) <= 90 : plane.covers(x, y);
}

function checkPosition(position: readonly number[], path: string, plane: PlaneTransform | undefined): void {
  if (isWithin(position, plane)) return;
  if (plane === undefined) checkLonLat(position, path, LONGITUDE_MAX);
  else throw hubError('out_of_crs', { path, found: show(position) });
}

function checkRadius({ region, radius }: Fence): void {
  if (region.type !== 'Point') return;
  if (radius != null && radius > 0) return;
  throw hubError('not_positive_for', { path: 'radius', purpose: 'point', found: show(radius) });
}

/** Rejects tolerances of a polygon with holes. They are distances to the exterior ring, and undefined at a hole. */
function checkHoles(fence: Fence): void {
  if (fence.region.type !== 'Polygon' || fence.region.coordinates.length === 1) return;
  for (const field of ['exit_tolerance', 'entry_tolerance'] as const) {
    if ((fence[field] ?? 0) === 0) continue;
    throw hubError('holes', { path: field, found: show(fence[field]) });
  }
}

/** The trackable in stored form. Throws HUB_BAD_REQUEST naming the invalid field and its value. */
function validateTrackable(body: EntityBody, known: EntityLookup, before?: Trackable): Trackable {
  if (Object.hasOwn(body, 'collision_tolerance')) {
    throw hubError('renamed', {
      path: 'collision_tolerance',
      member: 'exit_tolerance',
      found: show(body['collision_tolerance']),
    });
  }
  const trackable = onlyMembers(Trackable, trackableSchema.parse(body));
  checkIntegers(trackable, DURATIONS);
  if (!isUuid(trackable.id)) throw hubError('not_a_uuid', { path: 'id', found: show(trackable.id) });
  checkProviders(trackable.location_providers ?? []);
  checkShape(trackable, known);
  checkRules(trackable.locating_rules ?? [], 'locating_rules');
  checkTrackableParent(trackable, known, before);
  return trackable;
}

function checkProviders(ids: readonly string[]): void {
  const seen = new Map<string, number>();
  for (const [i, id] of ids.entries()) {
    const path = pathOf('location_providers', [String(i)]);
    if (id === '') throw hubError('empty', { path, found: '""' });
    const before = seen.get(idKey(id));
    if (before !== undefined) {
      throw hubError('repeated', { path, member: `location_providers[${before}]`, found: show(id) });
    }
    seen.set(idKey(id), i);
  }
}

/** Checks the geometry of a trackable: a polygon in meters around its position. */
function checkShape({ geometry }: Trackable, known: EntityLookup): void {
  const problem = geometry == null ? undefined : known.shapes.polygonProblem(geometry, 'geometry');
  if (problem !== undefined) throw new HubError(problem);
}

/**
 * The parent must exist, and must not be a descendant of the trackable. A new parent must not make the chain too deep.
 */
function checkTrackableParent(trackable: Trackable, known: EntityLookup, before: Trackable | undefined): void {
  const own = idKey(trackable.id);
  const isNew = trackable.parent !== before?.parent;
  let next = trackable.parent;
  let above = 0;
  while (!isUnset(next)) {
    if (idKey(next) === own) {
      throw hubError('carried_by_itself', { path: 'parent', kind: 'trackable', found: show(trackable.parent) });
    }
    const ancestor = known.get('trackable', next);
    if (ancestor === undefined) {
      throw hubError('not_a_trackable', { path: 'parent', found: show(trackable.parent) });
    }
    next = ancestor.parent;
    above++;
  }
  if (isNew && above > 0) checkLevels({ kind: 'trackable', id: trackable.id }, above, known);
}

/** The provider in stored form. Throws HUB_BAD_REQUEST naming the invalid field and its value. */
function validateProvider(body: EntityBody): LocationProvider {
  const provider = onlyMembers(LocationProvider, providerSchema.parse(body));
  checkIntegers(provider, DURATIONS);
  if (provider.id === '') throw hubError('empty', { path: 'id', found: '""' });
  return provider;
}

/** The anchor in stored form. Throws HUB_BAD_REQUEST naming the invalid field and its value. */
function validateAnchor(body: EntityBody, known: EntityLookup): Anchor {
  const anchor = onlyMembers(Anchor, anchorSchema.parse(body));
  const { georeferenced_position: position, zone_id: zone } = anchor;
  if (position != null) checkLonLat(position.coordinates, 'georeferenced_position.coordinates', 180);
  if (!isUnset(zone) && known.zoneBy(zone) === undefined) {
    throw hubError('unknown_zone', { path: 'zone_id', found: show(zone) });
  }
  return anchor;
}

interface Carrier {
  readonly kind: EntityKindName;
  readonly id: string;
}

/**
 * Throws HUB_BAD_REQUEST if the chain of parents would exceed the maximum depth: the `above` ancestors of the entity,
 * and the levels of its descendants.
 */
function checkLevels(carrier: Carrier, above: number, known: EntityLookup): void {
  const { parents: max } = known.bounds;
  const levels = above + levelsBelow(carrier, max - above, known);
  if (levels <= max) return;
  throw hubError('parents_too_deep', { path: 'parent', limit: max, count: levels });
}

/** Number of levels of descendants. Stops counting beyond `max`. */
function levelsBelow({ kind, id }: Carrier, max: number, known: EntityLookup): number {
  let level: readonly Carrier[] = [{ kind, id }];
  let levels = 0;
  while (levels <= max) {
    level = level.flatMap((each) =>
      known.carriedBy(each.kind, each.id).map((by) => ({ kind: by.kind, id: by.entity.id })),
    );
    if (level.length === 0) return levels;
    levels++;
  }
  return levels;
}
