import type { Tone } from '../controls/badge.tsx';
import type { IconName } from '../controls/icons.tsx';
import type { Happening } from '../hub/event_log.ts';

/** Events that are shown or hidden together. */
export const GROUPS = ['entries', 'exits', 'collisions', 'changes'] as const;
export type Group = (typeof GROUPS)[number];

/** What an event is called, and how it looks. */
export const LOOKS: Readonly<Record<Happening['is'], { label: string; tone: Tone; group: Group; icon: IconName }>> = {
  entry: { label: 'Entry', tone: 'ok', group: 'entries', icon: 'right' },
  exit: { label: 'Exit', tone: 'warn', group: 'exits', icon: 'left' },
  collision_start: { label: 'Collision', tone: 'danger', group: 'collisions', icon: 'warning' },
  collision_end: { label: 'Apart', tone: 'neutral', group: 'collisions', icon: 'check' },
  create: { label: 'New', tone: 'info', group: 'changes', icon: 'plus' },
  update: { label: 'Changed', tone: 'info', group: 'changes', icon: 'edit' },
  delete: { label: 'Deleted', tone: 'neutral', group: 'changes', icon: 'trash' },
};
