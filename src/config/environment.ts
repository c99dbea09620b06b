import { parseDocument } from 'yaml';
import { ALIASES } from './aliases.ts';
import { type Collected, collect } from './collect.ts';
import { KEYS, type Key, settingOf } from './schema.ts';
import { didYouMean } from './suggest.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Settings in environment variables: `HUB_` and the key in upper case. `DEEPHUB_` is an alias, which yields to `HUB_`.
 * An empty variable is not set, so that `HUB_PORT=${PORT:-}` works.
 */
const PREFIXES = ['DEEPHUB_', 'HUB_'];
const CONFIG_PATH = 'CONFIG_PATH';

/** Variables of the reference's separate web user interface, which may stand in the same environment. */
const USER_INTERFACE = /^DEEPHUB_(ROOT_URL|WEBSOCKET_URL|AUTH_|MAP_)/;

/** The folder of hub_config.yaml and data.dat, and the variable that names it; undefined when none does. */
export function configPath(env: Environment): { name: string; path: string } | undefined {
  for (const prefix of PREFIXES.toReversed()) {
    const name = prefix + CONFIG_PATH;
    const path = env[name];
    if (path) return { name, path };
  }
  return undefined;
}

/** Collects the settings of the environment. Variables that look like settings and are none are problems. */
export function readEnvironment(env: Environment, into: Collected): void {
  for (const prefix of PREFIXES) {
    const named = [...ALIASES, ...KEYS.map((key) => [key, key] as const)];
    const known = new Map(named.map(([name, key]) => [prefix + name.toUpperCase(), key]));
    const names = Object.keys(env).filter((name) => name.startsWith(prefix) && name !== prefix + CONFIG_PATH);
    for (const name of names.sort()) {
      const text = env[name];
      if (!text || USER_INTERFACE.test(name)) continue;
      const key = known.get(name);
      if (key === undefined) into.problems.push(unknown(name, [...known.keys(), prefix + CONFIG_PATH]));
      else if (Array.isArray(settingOf(key).default)) collectList(into, { key, name, text });
      else collect(into, { key, source: 'environment', name, value: readAs(key, text) });
    }
  }
}

function unknown(name: string, known: readonly string[]): string {
  return `environment: ${name}: is no setting of the hub${didYouMean(name, known)}`;
}

/** A list is written as YAML, of which JSON is a part. */
function collectList(into: Collected, { key, name, text }: { key: Key; name: string; text: string }): void {
  const document = parseDocument(text, { prettyErrors: false });
  const [error] = [...document.errors, ...document.warnings];
  if (error === undefined) collect(into, { key, source: 'environment', name, value: document.toJS() ?? [] });
  else into.problems.push(`environment: ${name}: cannot be read as YAML: ${error.message.split('\n', 1)[0]}`);
}

const BOOLEANS: Readonly<Record<string, boolean>> = { true: true, 1: true, false: false, 0: false };

/** Reads a text as the type of the setting. A text that is none of that type stays, for the check to name it. */
function readAs(key: Key, text: string): unknown {
  const { default: usual, anyOf } = settingOf(key);
  if (typeof usual === 'string') return text;
  if (typeof usual === 'boolean') return BOOLEANS[text] ?? text;
  if (usual === null && text === 'null') return null;
  if (anyOf?.some(({ type }) => type === 'string')) return text;
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}
