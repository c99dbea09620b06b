import { parseDocument } from 'yaml';
import { booleanOf } from '../model/boolean.ts';
import { ALIASES } from './aliases.ts';
import { type CollectedSettings, collect, withoutLineEnd } from './collect.ts';
import { KEYS, type Key, settingOf } from './schema.ts';
import { didYouMean } from './suggest.ts';
import { IGNORED_SETTINGS } from './ignored_settings.ts';
import { yamlProblem } from './yaml_problem.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Settings in environment variables: `HUB_` and the key in upper case. `DEEPHUB_` is an alias with lower precedence. An
 * empty variable counts as unset, so that `HUB_PORT=${PORT:-}` works. A trailing line break is removed from a value.
 */
const PREFIXES = ['DEEPHUB_', 'HUB_'];
const CONFIG_PATH = 'CONFIG_PATH';
/** The token of commands, which is no setting of the hub. */
const COMMAND_TOKEN = 'HUB_TOKEN';

/**
 * Kubernetes passes each container the address of each service: that of a service called hub as HUB_PORT, which is also
 * a setting, with the value tcp://10.0.0.1:8081. No setting that ends in _PORT accepts such a value.
 */
const SERVICE_NAME = /_PORT$/;
const SERVICE_ADDRESS = /^(tcp|udp|sctp):\/\/.*:\d+$/i;

/** Variables of the reference's separate web user interface, which may be in the same environment. */
const USER_INTERFACE = /^DEEPHUB_(ROOT_URL|WEBSOCKET_URL|AUTH_|MAP_)/;

/** The folder of hub_config.yaml and data.dat, and the variable that names it; undefined if none does. */
export function configPath(env: Environment): { name: string; path: string } | undefined {
  for (const prefix of PREFIXES.toReversed()) {
    const name = prefix + CONFIG_PATH;
    const path = withoutLineEnd(env[name] ?? '');
    if (path) return { name, path };
  }
  return undefined;
}

/**
 * Collects the settings of the environment. Unknown variables that look like settings are not problems, since other
 * programs may have set them.
 */
export function readEnvironment(env: Environment, into: CollectedSettings): void {
  for (const prefix of PREFIXES) {
    const named = [...ALIASES, ...KEYS.map((key) => [key, key] as const)];
    const known = new Map(named.map(([name, key]) => [prefix + name.toUpperCase(), key]));
    const names = Object.keys(env).filter(
      (name) => name.startsWith(prefix) && name !== prefix + CONFIG_PATH && name !== COMMAND_TOKEN,
    );
    for (const name of names.sort()) {
      const text = withoutLineEnd(env[name] ?? '');
      if (!text || USER_INTERFACE.test(name)) continue;
      const key = known.get(name);
      if (IGNORED_SETTINGS.has(name.slice(prefix.length).toLowerCase())) into.withoutMeaning.push(name);
      else if (key === undefined) into.unknownVariables.push(unknown(name, [...known.keys(), prefix + CONFIG_PATH]));
      else if (SERVICE_NAME.test(name) && SERVICE_ADDRESS.test(text)) into.unknownVariables.push(`${name}=${text}`);
      else collectText(into, { key, source: 'environment', name, text });
    }
  }
}

function unknown(name: string, known: readonly string[]): string {
  return name + didYouMean(name, known);
}

interface WrittenSetting {
  readonly key: Key;
  /** `environment` or `arguments`. */
  readonly source: string;
  /** As written there. */
  readonly name: string;
  readonly text: string;
}

/** Collects a setting that is written as a string. Lists are written as YAML, which includes JSON. */
export function collectText(into: CollectedSettings, { key, source, name, text }: WrittenSetting): void {
  if (!Array.isArray(settingOf(key).default)) {
    collect(into, { key, source, name, value: readAs(key, text) });
    return;
  }
  const document = parseDocument(text, { prettyErrors: false });
  const wrong = yamlProblem(document);
  if (wrong === undefined) collect(into, { key, source, name, value: document.toJS() ?? [] });
  else into.problems.push(`${source}: ${name}: ${wrong.text}`);
}

/** Parses a string as the type of the setting. An invalid string stays unchanged, for the check to report it. */
function readAs(key: Key, text: string): unknown {
  const { default: usual, anyOf } = settingOf(key);
  if (typeof usual === 'string') return text;
  if (typeof usual === 'boolean') return booleanOf(text) ?? text;
  if (text === 'null' && anyOf?.some(({ type }) => type === 'null')) return null;
  if (anyOf?.some(({ type }) => type === 'string')) return text;
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}
