import { type Text, t } from '../languages/language.ts';

/** What people define in the page beside entities, by the names that files have for it, and where the hub has it. */
export const DEFINED = {
  alert_rules: { path: '/alerts/rules', label: t('Alert rules'), several: 'alert rules' },
  views: { path: '/views', label: t('Saved views'), several: 'saved views' },
} as const satisfies Readonly<Record<string, { path: string; label: string; several: Text }>>;

export type DefinedName = keyof typeof DEFINED;

export const DEFINED_NAMES = Object.keys(DEFINED) as readonly DefinedName[];

/** Whether a list of a file has such definitions, and not entities. */
export function isDefined(list: string): list is DefinedName {
  return Object.hasOwn(DEFINED, list);
}
