import { signal } from '@preact/signals';
import type { Alert, AlertSnooze } from '../../model/alert.ts';
import { idKey } from '../../model/id.ts';
import { toastError } from '../controls/toasts.tsx';
import { get, request } from '../hub/rest.ts';
import { t } from '../languages/language.ts';
import { countText } from '../languages/numbers.ts';
import { wholeText } from '../languages/times.ts';
import { lastChange } from './alert_store.ts';

/** Changes of alerts other than their state. Each shows an error if it fails, and resolves with whether it has not. */

const NAME_KEY = 'hub-own-name';

/** Name under which the user comments and takes alerts; stored in this browser. */
export const ownName = signal(localStorage.getItem(NAME_KEY) ?? '');

export function rememberOwnName(name: string): void {
  ownName.value = name;
  if (name === '') localStorage.removeItem(NAME_KEY);
  else localStorage.setItem(NAME_KEY, name);
}

/** Alerts of one rule, and of one fence or object, which are snoozed together. */
export type SnoozeSubject = Omit<AlertSnooze, 'id' | 'name' | 'until'>;

/** Returns the subject of an alert, as that of a snooze. */
export function subjectOf({ rule_id, fence_id, trackable_id, other_trackable_id, provider_id }: Alert): SnoozeSubject {
  return { rule_id, ...present({ fence_id, trackable_id, other_trackable_id, provider_id }) };
}

/** Returns the rule and the fence of an alert, as the subject of a snooze of its group. */
export function groupSubjectOf({ rule_id, fence_id }: Alert): SnoozeSubject {
  return { rule_id, ...present({ fence_id }) };
}

/** Assigns alerts to a person; to no person if the name is empty. */
export function assign(alerts: readonly Alert[], assignee: string): Promise<boolean> {
  return change(alerts, async (ids) => {
    await request('POST', '/alerts/assign', { body: { ids, assignee: assignee === '' ? null : assignee } });
    const changed = { count: countText(ids.length), name: assignee };
    return assignee === ''
      ? t('Unassigned alerts: {count}', changed)
      : t('Alerts assigned to {name}: {count}', changed);
  });
}

/** Adds a comment to alerts. */
export function comment(alerts: readonly Alert[], text: string): Promise<boolean> {
  const author = ownName.value.trim();
  return change(alerts, async (ids) => {
    await request('POST', '/alerts/comment', { body: { ids, text, author: author === '' ? null : author } });
    return t('Commented on alerts: {count}', { count: countText(ids.length) });
  });
}

/** Snoozes alerts of a subject until a time, also those that are raised later. */
export function snooze(alerts: readonly Alert[], subject: SnoozeSubject, untilMs: number): Promise<boolean> {
  return change(alerts, async () => {
    await request('POST', '/alerts/snoozes', { body: { ...subject, until: new Date(untilMs).toISOString() } });
    return t('Snoozed until {time}', { time: wholeText(untilMs) });
  });
}

/** Ends all snoozes that apply to any of these alerts. */
export function endSnoozes(alerts: readonly Alert[]): Promise<boolean> {
  return change(alerts, async () => {
    const snoozes = await get<readonly AlertSnooze[]>('/alerts/snoozes');
    for (const each of snoozes.filter((other) => alerts.some((alert) => appliesTo(other, alert)))) {
      await request('DELETE', `/alerts/snoozes/${encodeURIComponent(each.id)}`);
    }
    return t('The snooze has ended');
  });
}

function appliesTo({ id: _id, name: _name, until: _until, ...subject }: AlertSnooze, alert: Alert): boolean {
  return Object.entries(subject).every(([member, id]) => {
    return id == null || idKey(id) === idKey(String(alert[member as keyof Alert]));
  });
}

async function change(alerts: readonly Alert[], send: (ids: readonly string[]) => Promise<string>): Promise<boolean> {
  try {
    lastChange.value = await send(alerts.map(({ id }) => id));
    return true;
  } catch (error) {
    toastError(error);
    return false;
  }
}

function present(ids: Readonly<Record<string, string | null | undefined>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(ids).flatMap(([name, id]) => (id == null ? [] : [[name, id]])));
}
