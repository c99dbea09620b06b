import type { Tone } from '../controls/badge.tsx';
import type { IconName } from '../controls/icons.tsx';
import type { LoggedEvent } from '../hub/event_log.ts';
import { t } from '../languages/language.ts';

/** Groups of events that are filtered together. */
export const GROUPS = ['entries', 'exits', 'collisions', 'changes'] as const;
export type Group = (typeof GROUPS)[number];

export const GROUP_NAMES: Readonly<Record<Group, string>> = {
  entries: t('Entries'),
  exits: t('Exits'),
  collisions: t('Collisions'),
  changes: t('Changes'),
};

/** Label and appearance of each type of event. */
export const EVENT_LOOKS: Readonly<
  Record<LoggedEvent['is'], { label: string; tone: Tone; group: Group; icon: IconName }>
> = {
  entry: { label: t('Entry'), tone: 'ok', group: 'entries', icon: 'right' },
  exit: { label: t('Exit'), tone: 'warn', group: 'exits', icon: 'left' },
  collision_start: { label: t('Collision'), tone: 'danger', group: 'collisions', icon: 'warning' },
  collision_end: { label: t('Apart'), tone: 'neutral', group: 'collisions', icon: 'check' },
  create: { label: t('New'), tone: 'info', group: 'changes', icon: 'plus' },
  update: { label: t('Changed'), tone: 'info', group: 'changes', icon: 'edit' },
  delete: { label: t('Deleted'), tone: 'neutral', group: 'changes', icon: 'trash' },
};
