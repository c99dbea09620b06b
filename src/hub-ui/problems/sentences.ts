import { capitalized, t } from '../languages/language.ts';

/** What members are called in the forms; others by their own name in words. */
const LABELS: Readonly<Record<string, string>> = {
  crs: t('Given in'),
  zone_id: t('Zone'),
  region: t('Shape'),
  geometry: t('Shape'),
  global_reference: t('Place on the earth'),
  local_coordinates: t('Corners in meters'),
  georeferenced_position: t('Place on the earth'),
  local_position: t('Place in the zone'),
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
  incomplete_configuration: t('Save it incomplete'),
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
};

/** What a member is called, such as `Exit delay` for `exit_delay`. */
export function labelOfMember(name: string): string {
  return LABELS[name] ?? capitalized(name.replaceAll('_', ' '));
}

/** The place that a path of the API names, such as `Shape, corner 3` for `region.coordinates[0][2]`. */
export function placeOf(path: string): string {
  const [name = '', ...steps] = path.split(/[.[\]]+/).filter((step) => step !== '' && step !== 'coordinates');
  const label = labelOfMember(name);
  const numbers = steps.filter((step) => /^\d+$/.test(step)).map(Number);
  if (name === 'properties') return [label, ...steps].join(', ');
  if (numbers.length < steps.length) return [label, ...steps.map(ordinal)].join(', ');
  const [first, second] = numbers;
  if (first === undefined) return label;
  if (name === 'region' || name === 'geometry') {
    if (second === undefined) return label;
    return `${label}, corner ${second + 1}${first === 0 ? '' : ` of hole ${first}`}`;
  }
  if (name === 'ground_control_points') return `${label}, point ${Math.floor(first / 2) + 1}`;
  if (/position|reference/.test(name)) return `${label}, ${['longitude or x', 'latitude or y', 'height'][first]}`;
  return `${label}, number ${first + 1}`;
}

function ordinal(step: string): string {
  return /^\d+$/.test(step) ? `number ${Number(step) + 1}` : step.replaceAll('_', ' ');
}

/** A message of the form `exit_delay: must be …, found …`, in its parts; without a field where it names none. */
export function partsOf(told: string): { readonly field: string | undefined; readonly reason: string } {
  const [, field, wrong] = /^([A-Za-z_][\w.[\]-]*): (.+)$/s.exec(told) ?? [];
  return { field, reason: sentenceOf(wrong ?? told) };
}

/** What the hub says of a field, `must be a number, found null`, as a sentence. */
export function sentenceOf(reason: string): string {
  const [, rule = reason, found] = /^(.+?), found (.+)$/s.exec(reason) ?? [];
  const said = inWords(rule);
  if (found === undefined) return ended(capitalized(said));
  const isEmpty = /^(null|nothing|none|undefined|"")$/.test(found);
  const subject = said.startsWith('are ') ? 'These' : 'This';
  if (!/^(must|is|are|was|has|have) /.test(said)) return ended(`${capitalized(said)}; ${found} was given`);
  if (isEmpty) return ended(/required/.test(said) ? `${subject} ${said}` : `${subject} ${said}, and is empty`);
  return ended(`${subject} ${said}; it ${/ have /.test(said) ? 'has' : 'is'} ${found}`);
}

function inWords(rule: string): string {
  return rule
    .replace(/^must be >= (\S+)/, 'must be $1 or more')
    .replace(/^must be <= (\S+)/, 'must be $1 or less')
    .replace(/^must be > (\S+)/, 'must be above $1')
    .replace(/^must be < (\S+)/, 'must be below $1');
}

function ended(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}

/** A failure as a sentence. */
export function errorText(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const { field, reason } = partsOf(message);
  return field === undefined || !message.includes(', found ')
    ? ended(capitalized(message))
    : `${placeOf(field)}: ${reason}`;
}
