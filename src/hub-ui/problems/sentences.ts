import { capitalized, t } from '../languages/language.ts';
import { foundText, translated } from './reasons.ts';

/** Labels of members in the forms; other members use their name in words. */
const LABELS: Readonly<Record<string, string>> = {
  crs: t('Given in'),
  zone_id: t('Zone'),
  region: t('Shape'),
  geometry: t('Shape'),
  global_reference: t('Geographic position'),
  local_coordinates: t('Corners in meters'),
  georeferenced_position: t('Geographic position'),
  local_position: t('Local position'),
  ground_control_points: t('Control points'),
  anchor_ids: t('Anchors'),
  location_providers: t('Providers'),
  locating_rules: t('Rules'),
  parent: t('Carried by'),
  extrusion: t('Height'),
  elevation_ref: t('Heights are above'),
  surface_projection: t('Plane'),
  wgs84_height: t('Height of the floor'),
  calculate_collisions: t('Collisions'),
  transformation_type: t('Placed by'),
  incomplete_configuration: t('Save incomplete'),
  tolerance_timeout: t('Exit tolerance timeout'),
  timeout: t('Timeout without positions'),
  fence_timeout: t('Timeout without positions'),
  local_azimuth_angle: t('Azimuth in the zone'),
  global_azimuth_angle: t('Azimuth from north'),
  elevation_angle: t('Elevation'),
  id: t('Id'),
  name: t('Name'),
  type: t('Type'),
  floor: t('Floor'),
  foreign_id: t('Foreign id'),
  exit_delay: t('Exit delay'),
  entry_delay: t('Entry delay'),
  exit_tolerance: t('Exit tolerance'),
  entry_tolerance: t('Entry tolerance'),
  entry_tolerance_timeout: t('Entry tolerance timeout'),
  radius: t('Radius'),
  position: t('Position'),
  properties: t('Properties'),
  description: t('Description'),
  address: t('Address'),
  building: t('Building'),
  site: t('Site'),
  assignment: t('Assigned to'),
  scale_factor: t('Scale factor'),
  easting_angle: t('Easting angle'),
  meridian_convergence: t('Meridian convergence'),
  priority: t('Priority'),
  expression: t('Condition'),
  property: t('Property'),
  severity: t('Severity'),
  local_origin: t('Local origin'),
  local_reference: t('Local reference'),
  rotation: t('Rotation'),
  measurement_timestamp: t('Measurement timestamp'),
  kind: t('Kind'),
  enabled: t('Enabled'),
  fence_ids: t('Fence ids'),
  trackable_ids: t('Trackable ids'),
  provider_ids: t('Provider ids'),
  object_type: t('Object type'),
  longer_than: t('Longer than'),
  more_than: t('More than'),
  is_start: t('Is start'),
  anchors: t('Anchors'),
  fences: t('Fences'),
  providers: t('Providers'),
  trackables: t('Trackables'),
  zones: t('Zones'),
  rules: t('Rules'),
  state: t('State'),
  alert_rules: t('Alert rules'),
  views: t('Views'),
  format: t('Format'),
  version: t('Version'),
  license_key: t('License key'),
  body: t('Body'),
  from: t('From'),
  to: t('To'),
};

/** Labels of nested members. */
const INNER: Readonly<Record<string, string>> = {
  coordinates: t('coordinates'),
  expression: t('expression'),
  id: t('id'),
  name: t('name'),
  priority: t('priority'),
  type: t('type'),
  value: t('value'),
};

/** Label of a member, such as `Exit delay` for `exit_delay`. */
export function labelOfMember(name: string): string {
  return LABELS[name] ?? capitalized(name.replaceAll('_', ' '));
}

/** Label of a path of the API, such as `Shape, corner 3` for `region.coordinates[0][2]`. */
export function pathLabel(path: string): string {
  const [name = '', ...steps] = path.split(/[.[\]]+/).filter((step) => step !== '' && step !== 'coordinates');
  const label = labelOfMember(name);
  const numbers = steps.filter((step) => /^\d+$/.test(step)).map(Number);
  if (name === 'properties') return [label, ...steps].join(', ');
  if (numbers.length < steps.length) return [label, ...steps.map(stepText)].join(', ');
  const [first, second] = numbers;
  if (first === undefined) return label;
  if (name === 'region' || name === 'geometry') {
    if (second === undefined) return label;
    const number = second + 1;
    if (first === 0) return t('{label}, corner {number}', { label, number });
    return t('{label}, corner {number} of hole {hole}', { label, number, hole: first });
  }
  if (name === 'ground_control_points')
    return t('{label}, point {number}', { label, number: Math.floor(first / 2) + 1 });
  if (/position|reference/.test(name)) {
    return `${label}, ${[t('longitude or x'), t('latitude or y'), t('height')][first]}`;
  }
  return `${label}, ${stepText(String(first))}`;
}

function stepText(step: string): string {
  if (/^\d+$/.test(step)) return t('number {number}', { number: Number(step) + 1 });
  return INNER[step] ?? step.replaceAll('_', ' ');
}

/** Splits a message such as `exit_delay: must be …, found …` into field, if any, and reason. */
export function partsOf(message: string): { readonly field: string | undefined; readonly reason: string } {
  const [, field, wrong] = /^([A-Za-z_][\w.[\]-]*): (.+)$/s.exec(message) ?? [];
  return { field, reason: sentenceOf(wrong ?? message) };
}

/**
 * Explains a denied request without methods and paths. Undefined for other messages.
 */
function accessText(message: string): string | undefined {
  if (/^Cannot [A-Z]+ \S+: the access token does not permit it$/.test(message)) {
    return t('Your roles do not give you access to this.');
  }
  if (
    /^Cannot [A-Z]+ \S+: the access token permits (it for what is owned only|what its holder owns alone)/.test(message)
  ) {
    return t('Your roles give you access to this only for what you own.');
  }
  return undefined;
}

/** Turns a reason of the hub, such as `must be a number, found null`, into a sentence. */
export function sentenceOf(reason: string): string {
  const access = accessText(reason);
  if (access !== undefined) return access;
  const [, said = reason, found] = /^(.+?), found (.+)$/s.exec(reason) ?? [];
  const english = inWords(said);
  const rule = translated(english);
  if (rule === undefined) return withPeriod(capitalized(reason));
  return withPeriod(capitalized(found === undefined ? rule : framed({ english, rule, found })));
}

interface Rejection {
  readonly english: string;
  /** Translation of `english`. */
  readonly rule: string;
  readonly found: string;
}

function framed({ english, rule, found: message }: Rejection): string {
  const found = foundText(message);
  const areSeveral = english.startsWith('are ');
  if (!/^(must|is|are|was|has|have) /.test(english)) return t('{rule}; {found} was given', { rule, found });
  if (/^(null|nothing|none|undefined|"")$/.test(message)) {
    if (!/required/.test(english)) return t('This {rule}, and is empty', { rule });
    return areSeveral ? t('These {rule}', { rule }) : t('This {rule}', { rule });
  }
  if (/ have (?!no )/.test(english)) return t('This {rule}; it has {found}', { rule, found });
  return areSeveral
    ? t('These {rule}; it is {found}', { rule, found })
    : t('This {rule}; it is {found}', { rule, found });
}

function inWords(rule: string): string {
  return rule
    .replace(/^must be >= (\S+)/, 'must be $1 or more')
    .replace(/^must be <= (\S+)/, 'must be $1 or less')
    .replace(/^must be > (\S+)/, 'must be above $1')
    .replace(/^must be < (\S+)/, 'must be below $1');
}

function withPeriod(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}

/** Error as a sentence. */
export function errorText(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const { field, reason } = partsOf(message);
  if (field !== undefined && message.includes(', found ')) return `${pathLabel(field)}: ${reason}`;
  return accessText(message) ?? withPeriod(capitalized(translated(message) ?? message));
}
