import { type Text, t } from '../languages/language.ts';

/** What people define in the page beside entities, by the names that files have for it, and where the hub has it. */
export const DEFINITIONS = {
  alert_rules: { path: '/alerts/rules', label: t('Alert rules'), several: 'alert rules' },
  views: { path: '/views', label: t('Saved views'), several: 'saved views' },
} as const satisfies Readonly<Record<string, { path: string; label: string; several: Text }>>;

export type DefinitionName = keyof typeof DEFINITIONS;

export const DEFINITION_NAMES = Object.keys(DEFINITIONS) as readonly DefinitionName[];

/** Whether a list of a file has such definitions, and not entities. */
export function isDefinition(list: string): list is DefinitionName {
  return Object.hasOwn(DEFINITIONS, list);
}
