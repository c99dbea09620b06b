/** What members are called in the forms, where that is not their own name in words. */
const LABELS: Readonly<Record<string, string>> = {
  crs: 'Given in',
  zone_id: 'Zone',
  region: 'Shape',
  geometry: 'Shape',
  global_reference: 'Place on the earth',
  local_coordinates: 'Corners in meters',
  georeferenced_position: 'Place on the earth',
  local_position: 'Place in the zone',
  ground_control_points: 'Control points',
  anchor_ids: 'Anchors',
  location_providers: 'Providers',
  locating_rules: 'Rules',
  parent: 'Carried by',
  extrusion: 'Height',
  elevation_ref: 'Heights are above',
  surface_projection: 'Plane',
  wgs84_height: 'Height of the floor',
  calculate_collisions: 'Collisions',
  transformation_type: 'Placed by',
  incomplete_configuration: 'Save it incomplete',
  tolerance_timeout: 'Exit tolerance timeout',
  timeout: 'Timeout without positions',
  fence_timeout: 'Timeout without positions',
  local_azimuth_angle: 'Azimuth in the zone',
  global_azimuth_angle: 'Azimuth from north',
  elevation_angle: 'Elevation',
};

/** What a member is called, such as `Exit delay` for `exit_delay`. */
export function labelOfMember(name: string): string {
  return LABELS[name] ?? capital(name.replaceAll('_', ' '));
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
  if (found === undefined) return ended(capital(said));
  const isEmpty = /^(null|nothing|none|undefined|"")$/.test(found);
  const subject = said.startsWith('are ') ? 'These' : 'This';
  if (!/^(must|is|are|was|has|have) /.test(said)) return ended(`${capital(said)}; ${found} was given`);
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

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

function ended(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}

/** A failure as a sentence. */
export function errorText(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const { field, reason } = partsOf(message);
  return field === undefined || !message.includes(', found ')
    ? ended(capital(message))
    : `${placeOf(field)}: ${reason}`;
}
