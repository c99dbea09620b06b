import type { Alert, AlertRule } from '../../model/alert.ts';
import type { Tone } from '../controls/badge.tsx';
import { countText } from '../controls/number_text.ts';
import { durationText } from '../controls/time.ts';
import { labelOf } from '../hub/kinds.ts';
import { storeOf } from '../hub/stores.ts';

export const SEVERITY_LOOKS: Readonly<Record<Alert['severity'], { readonly label: string; readonly tone: Tone }>> = {
  info: { label: 'Info', tone: 'info' },
  warning: { label: 'Warning', tone: 'warn' },
  critical: { label: 'Critical', tone: 'danger' },
};

export const STATE_LABELS: Readonly<Record<Alert['state'], string>> = {
  raised: 'Raised',
  acknowledged: 'Acknowledged',
  cleared: 'Cleared',
};

/** What an alert says, as one sentence. */
export function sentenceOf(alert: Alert): string {
  const fence = nameOf('fences', alert.fence_id);
  const object = nameOf('trackables', alert.trackable_id);
  switch (alert.kind) {
    case 'entry':
      return `${object} has entered ${fence}`;
    case 'exit':
      return `${object} has left ${fence}`;
    case 'inside_longer':
      return `${object} has been in ${fence} for too long`;
    case 'more_inside':
      return `Too many are in ${fence}: ${countText(alert.count ?? 0)}`;
    case 'silent':
      return `Nothing is heard of ${object}`;
    case 'collision':
      return `${object} and ${nameOf('trackables', alert.other_trackable_id)} collide`;
  }
}

/** What a rule alerts of, as one sentence. */
export function sentenceOfRule(rule: AlertRule): string {
  const objects = objectsOf(rule);
  const fences = fencesOf(rule);
  const long = durationText(rule.longer_than ?? 0);
  switch (rule.kind) {
    case 'entry':
      return `Alert when ${objects} enters ${fences}.`;
    case 'exit':
      return `Alert when ${objects} leaves ${fences}.`;
    case 'inside_longer':
      return `Alert when ${objects} is in ${fences} for longer than ${long}.`;
    case 'more_inside':
      return `Alert when ${fences} has more than ${countText(rule.more_than ?? 0)} inside, counting ${objects}.`;
    case 'silent':
      return `Alert when ${objects} is silent for longer than ${long}.`;
    case 'collision':
      return `Alert when ${objects} collides with another.`;
  }
}

function objectsOf({ trackable_ids: ids, property }: AlertRule): string {
  const wanted = property == null ? '' : ` with ${property.name} = ${String(property.value)}`;
  if (ids == null) return `any trackable${wanted}`;
  const [only] = ids;
  if (ids.length === 1) return `${nameOf('trackables', only)}${wanted}`;
  return `one of ${countText(ids.length)} trackables${wanted}`;
}

function fencesOf({ fence_ids: ids }: AlertRule): string {
  if (ids == null) return 'any fence';
  const [only] = ids;
  return ids.length === 1 ? nameOf('fences', only) : `one of ${countText(ids.length)} fences`;
}

/** The name of what an alert is about; what may not be read, or is gone, is named by its id. */
export function nameOf(kind: 'fences' | 'trackables', id: string | null | undefined): string {
  if (id == null) return kind === 'fences' ? 'a fence' : 'a trackable';
  const found = storeOf(kind).items.value.get(id);
  return found === undefined ? id : labelOf(found);
}
