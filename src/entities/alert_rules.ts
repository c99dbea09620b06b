import { hubError } from '../errors.ts';
import { AlertRule } from '../model/alert.ts';
import { checker } from '../model/check.ts';
import { pathOf, show } from '../model/error_value_text.ts';
import { isTimeZone } from '../model/zone_clock.ts';
import { type EntityBody, onlyMembers } from './body.ts';
import type { DocumentKind } from './documents.ts';

const schema = checker(AlertRule);

/** Maximum number of rules of a hub. */
const RULES_MAX = 200;

/** Permitted members of each kind of rule, besides its objects. All other members are invalid. */
const MEMBERS: Readonly<Record<AlertRule['kind'], readonly (keyof AlertRule)[]>> = {
  entry: ['fence_ids', 'object_type'],
  exit: ['fence_ids', 'object_type'],
  inside_longer: ['fence_ids', 'object_type', 'longer_than'],
  more_inside: ['fence_ids', 'object_type', 'more_than'],
  silent: ['object_type', 'longer_than'],
  collision: [],
  count_below: ['fence_ids', 'object_type', 'fewer_than', 'longer_than'],
  gate: ['fence_ids', 'object_type', 'direction'],
  speed: ['fence_ids', 'object_type', 'speed_above', 'longer_than'],
  separated: ['other_trackable_ids', 'distance', 'longer_than'],
  together: ['other_trackable_ids', 'distance', 'longer_than'],
};

/** Required members of each kind of rule. */
const REQUIRED: Readonly<Record<AlertRule['kind'], readonly (keyof AlertRule)[]>> = {
  entry: [],
  exit: [],
  inside_longer: ['longer_than'],
  more_inside: ['more_than'],
  silent: ['longer_than'],
  collision: [],
  count_below: ['fence_ids', 'fewer_than'],
  gate: ['fence_ids', 'direction'],
  speed: ['speed_above'],
  separated: ['trackable_ids', 'distance'],
  together: ['trackable_ids', 'distance'],
};

/** Members that only some kinds of rules have. */
const OF_KINDS = [...new Set(Object.values(MEMBERS).flat())];

/** Required object type of a rule that names objects. */
const NAMED = { trackable_ids: 'trackable', provider_ids: 'location_provider' } as const;

/** Alert rules as stored documents. */
export const ALERT_RULES: DocumentKind<AlertRule> = {
  prefix: 'alert_rule ',
  kind: 'alert_rule',
  max: RULES_MAX,
  check,
};

function check(body: EntityBody): AlertRule {
  const rule = onlyMembers(AlertRule, schema.parse(body));
  const { kind } = rule;
  const wanted = MEMBERS[kind];
  for (const name of OF_KINDS) {
    if (rule[name] == null || wanted.includes(name)) continue;
    throw hubError('not_for_kind', { path: name, rule_kind: kind, found: show(rule[name]) });
  }
  for (const name of REQUIRED[kind]) {
    if (rule[name] != null) continue;
    throw hubError('missing_for_kind', { path: name, rule_kind: kind, found: show(rule[name]) });
  }
  for (const name of ['trackable_ids', 'provider_ids'] as const) {
    const type = rule.object_type ?? 'trackable';
    if (rule[name] == null || type === NAMED[name]) continue;
    throw hubError('not_for_object_type', { path: name, type, found: show(rule[name]) });
  }
  for (const name of ['fence_ids', 'trackable_ids', 'provider_ids', 'other_trackable_ids'] as const) {
    const ids = rule[name];
    if (ids?.length === 0) throw hubError('empty_list', { path: name });
    for (const [i, id] of (ids ?? []).entries()) {
      if (id === '') throw hubError('empty', { path: pathOf(name, [String(i)]), found: '""' });
    }
  }
  checkPairs(rule);
  const zone = rule.schedule?.time_zone;
  if (zone != null && !isTimeZone(zone)) {
    throw hubError('not_a_time_zone', { path: 'schedule.time_zone', found: show(zone) });
  }
  return rule;
}

/** Throws HUB_BAD_REQUEST if a rule of distances has no two trackables between which to measure. */
function checkPairs({ kind, trackable_ids: ids, other_trackable_ids: others }: AlertRule): void {
  if (kind !== 'separated' && kind !== 'together') return;
  const differing = new Set([...(ids ?? []), ...(others ?? [])]);
  if (differing.size < 2) {
    throw hubError('too_few', { path: 'trackable_ids', limit: 2, unit: 'different_trackables', found: differing.size });
  }
}
