import { StartupError } from '../errors.ts';
import { type Checker, checker } from '../model/check.ts';
import { pathOf } from '../model/error_value_text.ts';
import { inOwnWords } from './aliases.ts';
import { claimProblems } from './claims.ts';
import { connectionProblems, type PartProblem } from './iso_24730.ts';
import { publishProblems } from './mqtt.ts';
import { basePathProblems, proxyProblems } from './proxies.ts';
import { ConfigSchema, KEYS, type Key, settingOf } from './schema.ts';

/** What has been read so far: the values that fit, and one line for everything that is wrong. */
export interface Collected {
  readonly values: Map<Key, unknown>;
  /** `hub_config.yaml:3: port: must be an integer, found "x"` */
  readonly problems: string[];
  /** Settings of the reference that mean nothing here: `hub_config.yaml:3: doc_root`. */
  readonly withoutMeaning: string[];
  /** Environment variables that begin like settings and are none. */
  readonly unknownVariables: string[];
}

/** A value as it was found: `source` is `hub_config.yaml:3` or `environment`, `name` the setting as written there. */
export interface Found {
  readonly key: Key;
  readonly source: string;
  readonly name: string;
  readonly value: unknown;
  /** Where a part of the value stands; left out where all stands in one place. */
  readonly sourceOf?: (path: readonly (string | number)[]) => string;
}

const CHECKERS = Object.fromEntries(
  KEYS.map((key) => [key, checker(ConfigSchema.properties[key])]),
) as unknown as Readonly<Record<Key, Checker<unknown>>>;

/** Settings whose parts are told apart, so that each problem has its own place. */
const PART_PROBLEMS: Readonly<Partial<Record<Key, (value: unknown) => readonly PartProblem[]>>> = {
  iso_24730_connections: connectionProblems,
  mqtt_publish: publishProblems,
  openid_role_claims: claimProblems,
  trusted_proxies: proxyProblems,
  base_path: basePathProblems,
};

/** Takes a value that fits its setting, or notes why it does not. Later values replace earlier ones. */
export function collect(into: Collected, { key, source, name, value: written, sourceOf }: Found): void {
  const value = inOwnWords(key, typeof written === 'string' ? withoutLineEnd(written) : written);
  const parts = PART_PROBLEMS[key]?.(value) ?? [];
  for (const { path, text } of parts) {
    into.problems.push(`${sourceOf?.(path) ?? source}: ${pathOf(name, path.map(String))}: ${text}`);
  }
  if (parts.length > 0) return;
  const wrong = CHECKERS[key].explain(value, name);
  if (wrong === undefined) into.values.set(key, value);
  // What was found may be the secret.
  else into.problems.push(`${source}: ${settingOf(key).secret === true ? wrong.split(', found ', 1)[0] : wrong}`);
}

/** A value without the line end that `echo secret | base64`, a `.env` of Windows or a YAML block puts behind it. */
export function withoutLineEnd(value: string): string {
  return value.replace(/[\r\n]+$/, '');
}

/** Everything that is wrong with the configuration, a line each. */
export class ConfigError extends StartupError {
  override name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}
