import { KEYS, type Key, settingOf } from './schema.ts';

const PREFIX = 'cassandra_';
const OWN_PREFIX = 'widecolumn_';

/** Aliases of settings: names of the reference, and a short one. */
export const ALIASES: ReadonlyMap<string, Key> = new Map([
  ...KEYS.filter((key) => key.startsWith(OWN_PREFIX)).map((key) => [key.replace(OWN_PREFIX, PREFIX), key] as const),
  ['history_retention', 'history_retention_days'],
]);

/** The setting of a name, which may be an alias. */
export function keyOf(name: string): Key | undefined {
  return KEYS.find((key) => key === name) ?? ALIASES.get(name);
}

/** Normalizes a value: a comma-separated list, or the reference's name of a database. */
export function inOwnWords(key: Key, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (key === 'db_type' && value === 'cassandra') return 'widecolumn';
  const usual = settingOf(key).default;
  const isListOfWords = key === 'cluster_servers' || (Array.isArray(usual) && typeof usual[0] === 'string');
  return isListOfWords ? value.split(',').map((word) => word.trim()) : value;
}
