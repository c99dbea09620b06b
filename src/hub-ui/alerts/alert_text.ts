import type { Alert, AlertRule, ObjectType } from '../../model/alert.ts';
import type { Tone } from '../controls/badge.tsx';
import { durationText } from '../controls/time.ts';
import { labelOf } from '../hub/entity_kinds.ts';
import { storeOf } from '../hub/stores.ts';
import { t } from '../languages/language.ts';
import { countText } from '../languages/numbers.ts';
import { scheduleText } from './schedule_fields.tsx';

export const SEVERITY_LOOKS: Readonly<Record<Alert['severity'], { readonly label: string; readonly tone: Tone }>> = {
  info: { label: t('Info'), tone: 'info' },
  warning: { label: t('Warning'), tone: 'warn' },
  critical: { label: t('Critical'), tone: 'danger' },
};

export const STATE_LABELS: Readonly<Record<Alert['state'], string>> = {
  raised: t('Raised'),
  acknowledged: t('Acknowledged'),
  cleared: t('Cleared'),
};

/** Describes an alert in one sentence. */
export function sentenceOf(alert: Alert): string {
  const fence = nameOf('fences', alert.fence_id);
  const object = objectNameOf(alert);
  switch (alert.kind) {
    case 'entry':
      return t('{object} has entered {fence}', { object, fence });
    case 'exit':
      return t('{object} has left {fence}', { object, fence });
    case 'inside_longer':
      return t('{object} has been in {fence} for too long', { object, fence });
    case 'more_inside':
      return t('{fence} is over its limit: {count} inside', { fence, count: countText(alert.count ?? 0) });
    case 'silent':
      return t('No data from {object}', { object });
    case 'collision':
      return t('{object} and {other} collide', { object, other: nameOf('trackables', alert.other_trackable_id) });
    case 'count_below':
      return t('{fence} is below its minimum: {count} inside', { fence, count: countText(alert.count ?? 0) });
    case 'gate':
      return t('{object} has crossed {fence}', { object, fence });
    case 'speed':
      if (alert.fence_id == null) return t('{object} is too fast', { object });
      return t('{object} is too fast in {fence}', { object, fence });
    case 'separated':
      if (alert.other_trackable_id == null) return t('{object} is too far from all others', { object });
      return t('{object} and {other} are too far apart', {
        object,
        other: nameOf('trackables', alert.other_trackable_id),
      });
    case 'together':
      return t('{object} and {other} are too close', { object, other: nameOf('trackables', alert.other_trackable_id) });
  }
}

/** Describes the condition of a rule, and when it is in effect. */
export function sentenceOfRule(rule: AlertRule): string {
  const sentence = conditionOf(rule);
  if (rule.schedule == null) return sentence;
  return `${sentence} ${t('In effect: {times}', { times: scheduleText(rule.schedule) })}`;
}

function conditionOf(rule: AlertRule): string {
  const objects = objectsOf(rule);
  const fences = fencesOf(rule);
  const long = durationText(rule.longer_than ?? 0);
  switch (rule.kind) {
    case 'entry':
      return t('Alert when {objects} enters {fences}.', { objects, fences });
    case 'exit':
      return t('Alert when {objects} leaves {fences}.', { objects, fences });
    case 'inside_longer':
      return t('Alert when {objects} is {place} for longer than {long}.', { objects, place: placeOf(rule), long });
    case 'more_inside':
      return t('Alert when more than {count} are {place}, counting {objects}.', {
        place: placeOf(rule),
        count: countText(rule.more_than ?? 0),
        objects,
      });
    case 'silent':
      return t('Alert when {objects} is silent for longer than {long}.', { objects, long });
    case 'collision':
      return t('Alert when {objects} collides with another.', { objects });
    case 'count_below':
      return t('Alert when fewer than {count} are {place} for longer than {long}, counting {objects}.', {
        place: placeOf(rule),
        count: countText(rule.fewer_than ?? 0),
        long,
        objects,
      });
    case 'gate':
      return rule.direction === 'left'
        ? t('Alert when {objects} crosses {fences} to the left.', { objects, fences })
        : t('Alert when {objects} crosses {fences} to the right.', { objects, fences });
    case 'speed': {
      const speed = countText(rule.speed_above ?? 0);
      if (rule.fence_ids == null)
        return t('Alert when {objects} moves faster than {speed} m/s for longer than {long}.', {
          objects,
          speed,
          long,
        });
      return t('Alert when {objects} moves faster than {speed} m/s {place} for longer than {long}.', {
        ...{ objects, speed, place: placeOf(rule), long },
      });
    }
    case 'separated':
      return t('Alert when {objects} is farther than {distance} m from {others} for longer than {long}.', {
        ...{ objects, long, others: othersOf(rule), distance: countText(rule.distance ?? 0) },
      });
    case 'together':
      return t('Alert when {objects} is within {distance} m of {others} for longer than {long}.', {
        ...{ objects, long, others: othersOf(rule), distance: countText(rule.distance ?? 0) },
      });
  }
}

/** Labels for any object of a type, as subjects of a rule. */
export const ANY_OBJECT: Readonly<Record<ObjectType, string>> = {
  trackable: t('any trackable'),
  location_provider: t('any unassigned provider'),
  any: t('any trackable or unassigned provider'),
};

/** Labels for all objects of a type, which a rule counts. */
export const ALL_OBJECTS: Readonly<Record<ObjectType, string>> = {
  trackable: t('all trackables'),
  location_provider: t('all unassigned providers'),
  any: t('all trackables and unassigned providers'),
};

/** Kinds of rules that count objects. */
export const COUNTING: ReadonlySet<AlertRule['kind']> = new Set(['more_inside', 'count_below']);

function objectsOf(rule: AlertRule): string {
  const { property } = rule;
  const all = COUNTING.has(rule.kind) ? ALL_OBJECTS : ANY_OBJECT;
  const objects = namedObjects(rule) ?? all[rule.object_type ?? 'trackable'];
  if (property == null) return objects;
  return `${objects} ${t('with {name} = {value}', { name: property.name, value: String(property.value) })}`;
}

function namedObjects({ kind, trackable_ids: trackables, provider_ids: providers }: AlertRule): string | undefined {
  const ids = trackables ?? providers;
  if (ids == null) return undefined;
  const count = countText(ids.length);
  if (ids.length === 1) return nameOf(trackables == null ? 'providers' : 'trackables', ids[0]);
  if (COUNTING.has(kind)) {
    return trackables == null ? t('{count} given providers', { count }) : t('{count} given trackables', { count });
  }
  return trackables == null ? t('one of {count} providers', { count }) : t('one of {count} trackables', { count });
}

/** Trackables to which the distances of a rule are measured. */
function othersOf({ kind, other_trackable_ids: others }: AlertRule): string {
  if (others == null) return kind === 'together' ? t('another of these') : t('all others of these');
  if (others.length === 1) return nameOf('trackables', others[0]);
  const count = countText(others.length);
  return kind === 'together' ? t('one of {count} trackables', { count }) : t('all of {count} trackables', { count });
}

function fencesOf({ fence_ids: ids }: AlertRule): string {
  if (ids == null) return t('any fence');
  const [only] = ids;
  return ids.length === 1 ? nameOf('fences', only) : t('one of {count} fences', { count: countText(ids.length) });
}

/** Fences of a rule as a place, such as `in Dock A`: in German, "in" changes the article. */
function placeOf({ fence_ids: ids }: AlertRule): string {
  if (ids == null) return t('in any fence');
  const [only] = ids;
  if (ids.length === 1) return t('in {fence}', { fence: nameOf('fences', only) });
  return t('in one of {count} fences', { count: countText(ids.length) });
}

/** Name of the object of an alert. */
export function objectNameOf({
  trackable_id: trackable,
  provider_id: provider,
}: Pick<Alert, 'trackable_id' | 'provider_id'>): string {
  if (provider != null) return nameOf('providers', provider);
  return trackable == null ? t('an object') : nameOf('trackables', trackable);
}

/** Name of an entity in an alert; its id if it was deleted or the user may not read it. */
export function nameOf(kind: 'fences' | 'trackables' | 'providers', id: string | null | undefined): string {
  if (id == null) return kind === 'fences' ? t('a fence') : t('an object');
  const found = storeOf(kind).items.value.get(id);
  return found === undefined ? id : labelOf(found);
}
