import type { Alert, AlertRule } from '../../model/alert.ts';
import type { Tone } from '../controls/badge.tsx';
import { countText } from '../controls/number_text.ts';
import { durationText } from '../controls/time.ts';
import { labelOf } from '../hub/kinds.ts';
import { storeOf } from '../hub/stores.ts';
import { t } from '../languages/language.ts';

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

/** What an alert says, as one sentence. */
export function sentenceOf(alert: Alert): string {
  const fence = nameOf('fences', alert.fence_id);
  const object = nameOf('trackables', alert.trackable_id);
  switch (alert.kind) {
    case 'entry':
      return t('{object} has entered {fence}', { object, fence });
    case 'exit':
      return t('{object} has left {fence}', { object, fence });
    case 'inside_longer':
      return t('{object} has been in {fence} for too long', { object, fence });
    case 'more_inside':
      return t('Too many are in {fence}: {count}', { fence, count: countText(alert.count ?? 0) });
    case 'silent':
      return t('Nothing is heard of {object}', { object });
    case 'collision':
      return t('{object} and {other} collide', { object, other: nameOf('trackables', alert.other_trackable_id) });
  }
}

/** What a rule alerts of, as one sentence. */
export function sentenceOfRule(rule: AlertRule): string {
  const objects = objectsOf(rule);
  const fences = fencesOf(rule);
  const long = durationText(rule.longer_than ?? 0);
  switch (rule.kind) {
    case 'entry':
      return t('Alert when {objects} enters {fences}.', { objects, fences });
    case 'exit':
      return t('Alert when {objects} leaves {fences}.', { objects, fences });
    case 'inside_longer':
      return t('Alert when {objects} is in {fences} for longer than {long}.', { objects, fences, long });
    case 'more_inside':
      return t('Alert when {fences} has more than {count} inside, counting {objects}.', {
        fences,
        count: countText(rule.more_than ?? 0),
        objects,
      });
    case 'silent':
      return t('Alert when {objects} is silent for longer than {long}.', { objects, long });
    case 'collision':
      return t('Alert when {objects} collides with another.', { objects });
  }
}

function objectsOf({ trackable_ids: ids, property }: AlertRule): string {
  const wanted =
    property == null ? '' : ` ${t('with {name} = {value}', { name: property.name, value: String(property.value) })}`;
  if (ids == null) return `${t('any trackable')}${wanted}`;
  const [only] = ids;
  if (ids.length === 1) return `${nameOf('trackables', only)}${wanted}`;
  return `${t('one of {count} trackables', { count: countText(ids.length) })}${wanted}`;
}

function fencesOf({ fence_ids: ids }: AlertRule): string {
  if (ids == null) return t('any fence');
  const [only] = ids;
  return ids.length === 1 ? nameOf('fences', only) : t('one of {count} fences', { count: countText(ids.length) });
}

/** The name of what an alert is about; what may not be read, or is gone, is named by its id. */
export function nameOf(kind: 'fences' | 'trackables', id: string | null | undefined): string {
  if (id == null) return kind === 'fences' ? t('a fence') : t('a trackable');
  const found = storeOf(kind).items.value.get(id);
  return found === undefined ? id : labelOf(found);
}
