import { fillTemplate, type ParamLanguage } from '../../problem.ts';
import { type ErrorReason, PARAM_VALUES, type Param, type Reason, REASONS } from '../../reasons.ts';
import { capitalized, language, loadReasons, t } from '../languages/language.ts';
import { countText } from '../languages/numbers.ts';

/** Labels of members in the forms. Other members are labeled by their name in words. */
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
  proximity_resolution: t('Tags between readers'),
  id: t('Id'),
  name: t('Name'),
  type: t('Type'),
  floor: t('Floor'),
  foreign_id: t('External ID'),
  crossing: t('Between two locations'),
  untracked: t('Objects inside are not located'),
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
  url: t('URL'),
  topics: t('Topics'),
  params: t('Filters'),
  sources: t('Sources'),
  sender: t('Sender'),
  recipients: t('Recipients'),
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

/** Message templates of the page that replace templates of the API. */
const PAGE_MESSAGES: Partial<Readonly<Record<Reason, string>>> = {
  below_minimum: 'must be {minimum} or more',
  above_maximum: 'must be {maximum} or less',
  not_above: 'must be above {minimum}',
  not_below: 'must be below {maximum}',
  missing_provider: 'is required',
  not_permitted: 'Your roles do not give you access to this.',
  permitted_if_owned: 'Your roles give you access to this only for what you own.',
  not_owned: 'Your roles give you access to this only for what you own.',
};

/** Translated messages; undefined on a page in English and until loadMessages has loaded them. */
let translated: Awaited<ReturnType<typeof loadReasons>>;

/**
 * Loads the error messages in the user's language, which the first view does not need. Await it before `sentenceOf`. If loading
 * fails, errors are in English.
 */
export async function loadMessages(): Promise<void> {
  translated ??= await loadReasons();
}

const LANGUAGE: ParamLanguage = {
  get values() {
    return translated?.paramTexts ?? PARAM_VALUES;
  },
  count: (value) => (typeof value === 'number' ? countText(value) : foundText(String(value))),
};

/** Whether the page knows the reason of an error; a newer hub may send others. */
export function isHubProblem(error: object): error is ErrorReason {
  const { reason, params } = error as Partial<ErrorReason>;
  return typeof reason === 'string' && Object.hasOwn(REASONS, reason) && typeof params === 'object' && params !== null;
}

/** Sentence for an error of the hub: from its reason, or else its English message. */
export function sentenceOf(error: { readonly message: string } | ErrorReason): string {
  return sentence(isHubProblem(error) ? reasonText(error) : (error as { readonly message: string }).message);
}

function reasonText({ reason, params }: ErrorReason): string {
  const english = PAGE_MESSAGES[reason] ?? REASONS[reason];
  const template = translated?.reasonTexts[reason] ?? english;
  const rule = fillTemplate(template.replace(/\s?[:,]?\s?(found )?\{detail\}/, ''), params, LANGUAGE);
  const { found, outcome } = params;
  const isSaid = found === undefined || REASONS[reason].includes('{found}') || reason.startsWith('missing');
  const text = isSaid ? aboutField(english, rule) : framed({ english, rule, found });
  if (outcome === undefined) return text;
  return outcome === 'partial'
    ? t('{rule}; a part of it is done', { rule: text })
    : t('{rule}; it may still be done', { rule: text });
}

interface Rejection {
  /** English template of `rule`. */
  readonly english: string;
  readonly rule: string;
  readonly found: Param;
}

function framed({ english, rule, found }: Rejection): string {
  if (!isPredicate(english)) return t('{rule}; {found} was given', { rule, found: LANGUAGE.count(found) });
  if (found === 'nothing' || found === 'null' || found === '""') return t('This {rule}, and is empty', { rule });
  if (typeof found === 'number') return t('This {rule}; it has {found}', { rule, found: countText(found) });
  return t('This {rule}; it is {found}', { rule, found: LANGUAGE.count(found) });
}

function aboutField(english: string, rule: string): string {
  return isPredicate(english) ? t('This {rule}', { rule }) : rule;
}

/** Whether a message template is the predicate of a sentence about a field. */
function isPredicate(template: string): boolean {
  return ['must ', 'is ', 'was '].some((verb) => template.startsWith(verb));
}

/** Adds the quotation marks of the language to a value, which is JSON, possibly truncated. */
function foundText(found: string): string {
  if (found === 'more') return t('more');
  if (found === 'nothing') return t('nothing');
  if (language === 'en' || !found.startsWith('"')) return found;
  const text = found.endsWith('"') ? found.slice(1, -1) : `${found.slice(1).replace(/\.{3}$/, '')}…`;
  return t('"{text}"', { text });
}

function sentence(text: string): string {
  const begun = capitalized(text);
  return /[.!?…]$/.test(begun) ? begun : `${begun}.`;
}

/** Why something failed, in a state: by its reason on a translated page, or the English text. */
export function failureText(
  error: string | null | undefined,
  { reason, params }: Partial<ErrorReason>,
): string | undefined {
  if (error == null) return undefined;
  const known = { reason, params };
  return translated !== undefined && isHubProblem(known) ? sentence(reasonText(known)) : error;
}

/** Formats an error as a sentence. */
export function errorText(error: unknown): string {
  return sentence(error instanceof Error ? error.message : String(error));
}
