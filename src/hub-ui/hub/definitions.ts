import { type Text, t } from '../languages/language.ts';

/** User definitions besides entities, by their names in files, with their API paths. */
export const DEFINITIONS = {
  alert_rules: { path: '/alerts/rules', label: t('Alert rules'), several: 'alert rules' },
  views: { path: '/views', label: t('Saved views'), several: 'saved views' },
  sinks: { path: '/sinks', label: t('Sinks'), several: 'sinks' },
  sources: { path: '/sources', label: t('Data sources'), several: 'data sources' },
} as const satisfies Readonly<Record<string, { path: string; label: string; several: Text }>>;

export type DefinitionName = keyof typeof DEFINITIONS;

export const DEFINITION_NAMES = Object.keys(DEFINITIONS) as readonly DefinitionName[];

/** Returns whether a list of a file contains definitions, not entities. */
export function isDefinition(list: string): list is DefinitionName {
  return Object.hasOwn(DEFINITIONS, list);
}
