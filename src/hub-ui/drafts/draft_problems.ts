import type { Anchor } from '../../model/anchor.ts';
import { DEFAULT_BOUNDS } from '../../model/bounds.ts';
import type { Fence } from '../../model/fence.ts';
import { positionLists } from '../../model/position_lists.ts';
import type { Zone } from '../../model/zone.ts';
import type { Kind } from '../hub/entity_kinds.ts';
import { t } from '../languages/language.ts';
import { countText } from '../languages/numbers.ts';

/** Problems as sentences, by path: `exit_delay`, `region.coordinates[0][2]`. */
export type Problems = ReadonlyMap<string, string>;

/** Draft of a form: any member may be missing. */
type Value = Readonly<Record<string, unknown>>;
type Say = (path: string, sentence: string) => void;

const DURATIONS = [
  'timeout',
  'fence_timeout',
  'tolerance_timeout',
  'entry_tolerance_timeout',
  'entry_delay',
  'exit_delay',
];
const LENGTHS = ['radius', 'extrusion', 'exit_tolerance', 'entry_tolerance'];
const TEXTS = ['id', 'name', 'foreign_id', 'building', 'site', 'address'];

/**
 * Returns all problems of a draft that the page can detect; the hub reports only one at a time. The hub still validates, and
 * checks more, such as unique names and distances.
 */
export function problemsOf(kind: Kind, value: object): Problems {
  const problems = new Map<string, string>();
  const say: Say = (path, sentence) => {
    if (!problems.has(path)) problems.set(path, sentence);
  };
  checkMembers(value as Value, say);
  if (kind === 'fences') checkFence(value, say);
  if (kind === 'zones') checkZone(value, say);
  if (kind === 'anchors') checkAnchor(value, say);
  if (kind === 'trackables') checkProviders(value as Value, say);
  if ((kind === 'providers' || kind === 'anchors') && !(value as Value)['id']) {
    say(
      'id',
      kind === 'providers' ? t('Enter the id that it reports.') : t('Enter the id that its locating system gives it.'),
    );
  }
  return problems;
}

function checkMembers(value: Value, say: Say): void {
  for (const name of DURATIONS) {
    const found = value[name];
    if (typeof found !== 'number' || found === -1) continue;
    if (found < 0) say(name, t('This cannot be less than 0 s. For no limit, press ∞.'));
    else if (found > Number.MAX_SAFE_INTEGER) say(name, t('This is too long. For no limit, press ∞.'));
  }
  for (const name of LENGTHS) {
    const found = value[name];
    if (typeof found === 'number' && found < 0) say(name, t('This cannot be less than 0 m.'));
  }
  for (const name of TEXTS) {
    const found = value[name];
    if (typeof found !== 'string' || found.length <= DEFAULT_BOUNDS.nameLength) continue;
    const [most, length] = [countText(DEFAULT_BOUNDS.nameLength), countText(found.length)];
    say(name, t('This can have at most {most} characters; it has {length}.', { most, length }));
  }
}

function checkFence({ region, radius, crs, ...rest }: Partial<Fence>, say: Say): void {
  if (region === undefined) {
    say('region', t('Draw the fence on the map, or enter its corners.'));
    return;
  }
  const isEarth = crs == null || crs === 'EPSG:4326';
  if (region.type === 'Point') {
    if (!(radius != null && radius > 0)) say('radius', t('A circle needs a radius above 0 m.'));
    if (isEarth) checkPlace(region.coordinates, { path: 'region.coordinates', longitudeMax: 360 }, say);
    return;
  }
  const isLine = region.type === 'LineString';
  if (!isLine && region.coordinates.length > 1) {
    for (const name of ['exit_tolerance', 'entry_tolerance'] as const) {
      if (rest[name]) say(name, t('A fence with holes cannot have a tolerance.'));
    }
  }
  if (!isEarth) return;
  for (const [ring, corners] of positionLists(region).entries()) {
    const path = isLine ? 'region.coordinates' : `region.coordinates[${ring}]`;
    for (const [corner, position] of corners.entries()) {
      checkPlace(position, { path: `${path}[${corner}]`, longitudeMax: 360 }, say);
    }
  }
}

function checkZone(zone: Partial<Zone>, say: Say): void {
  const isProximity = zone.transformation_type === 'proximity' || zone.type === 'rfid' || zone.type === 'ibeacon';
  const { transformation_type: placedBy, ground_control_points: points, position, scale_factor: scale } = zone;
  if (scale != null && !(scale > 0)) say('scale_factor', t('The scale must be above 0.'));
  if (position != null) checkPlace(position.coordinates, { path: 'position', longitudeMax: 180 }, say);
  for (const [row, earth] of (points ?? []).entries()) {
    if (row % 2 === 0) checkPlace(earth, { path: `ground_control_points[${row}]`, longitudeMax: 180 }, say);
  }
  if (zone.incomplete_configuration === true || placedBy === 'none') return;
  if (isProximity || placedBy === 'benchmark') {
    if (position == null) say('position', t('Click where it is on the map, or enter its longitude and latitude.'));
    if (placedBy === 'benchmark' && !zone.surface_projection) {
      say('surface_projection', t('Enter the code of the plane, for example EPSG:32632.'));
    }
    return;
  }
  if ((points ?? []).length === 0 && (zone.anchor_ids ?? []).length === 0) {
    say(
      'ground_control_points',
      t('Draw its area, click pairs of points, or enter its size: the hub cannot place it yet.'),
    );
  }
}

function checkAnchor({ georeferenced_position: position }: Partial<Anchor>, say: Say): void {
  if (position != null) checkPlace(position.coordinates, { path: 'georeferenced_position', longitudeMax: 180 }, say);
}

function checkProviders({ location_providers: ids }: Value, say: Say): void {
  if (!Array.isArray(ids)) return;
  const twice = ids.find((id, i) => ids.indexOf(id) !== i);
  if (twice !== undefined) say('location_providers', t('{id} is listed twice.', { id: String(twice) }));
}

function checkPlace(
  [longitude = 0, latitude = 0]: readonly number[],
  { path, longitudeMax }: { readonly path: string; readonly longitudeMax: number },
  say: Say,
): void {
  if (Math.abs(latitude) > 90) say(path, t('The latitude must be from −90 to 90; it is {latitude}.', { latitude }));
  else if (Math.abs(longitude) > longitudeMax) {
    say(
      path,
      t('The longitude must be from −{most} to {most}; it is {longitude}.', {
        most: longitudeMax,
        longitude,
      }),
    );
  }
}
