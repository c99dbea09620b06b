import { StartupError } from '../errors.ts';
import { type Checker, checker } from '../model/check.ts';
import { pathOf } from '../model/error_value_text.ts';
import { inOwnWords } from './aliases.ts';
import { claimProblems } from './claims.ts';
import { filterProblems } from './filters.ts';
import { connectionProblems } from './iso_24730.ts';
import type { PartProblem } from './part_problems.ts';
import { publishProblems } from './mqtt.ts';
import { basePathProblems, proxyProblems, targetProblems } from './proxies.ts';
import { ConfigSchema, KEYS, type Key, settingOf } from './schema.ts';

/** Settings read so far: valid values, and one line per problem. */
export interface CollectedSettings {
  readonly values: Map<Key, unknown>;
  /** `hub_config.yaml:3: port: must be an integer, found "x"` */
  readonly problems: string[];
  /** Ignored settings of the reference: `hub_config.yaml:3: doc_root`. */
  readonly withoutMeaning: string[];
  /** Environment variables that look like settings but are unknown. */
  readonly unknownVariables: string[];
}

/** A value with its origin: `source` is `hub_config.yaml:3` or `environment`, `name` the setting as written there. */
export interface FoundSetting {
  readonly key: Key;
  readonly source: string;
  readonly name: string;
  readonly value: unknown;
  /** Returns the location of a part of the value. Undefined if the whole value has one location. */
  readonly sourceOf?: (path: readonly (string | number)[]) => string;
}

const CHECKERS = Object.fromEntries(
  KEYS.map((key) => [key, checker(ConfigSchema.properties[key])]),
) as unknown as Readonly<Record<Key, Checker<unknown>>>;

/** Settings whose parts are checked individually, so that each problem has its own location. */
const PART_PROBLEMS: Readonly<Partial<Record<Key, (value: unknown) => readonly PartProblem[]>>> = {
  filters: filterProblems,
  iso_24730_connections: connectionProblems,
  mqtt_publish: publishProblems,
  openid_role_claims: claimProblems,
  trusted_proxies: proxyProblems,
  base_path: basePathProblems,
  sink_allowed_hosts: targetProblems,
  link_allowed_hosts: targetProblems,
  source_allowed_hosts: targetProblems,
};

/** Stores a valid value of a setting, or records its problem. Later values replace earlier ones. */
export function collect(into: CollectedSettings, { key, source, name, value: written, sourceOf }: FoundSetting): void {
  const value = inOwnWords(key, typeof written === 'string' ? withoutLineEnd(written) : written);
  const parts = PART_PROBLEMS[key]?.(value) ?? [];
  for (const { path, text } of parts) {
    into.problems.push(`${sourceOf?.(path) ?? source}: ${pathOf(name, path.map(String))}: ${text}`);
  }
  if (parts.length > 0) return;
  const wrong = CHECKERS[key].explain(value, name)?.toString();
  if (wrong === undefined) into.values.set(key, value);
  // The value may be the secret.
  else into.problems.push(`${source}: ${settingOf(key).secret === true ? wrong.split(', found ', 1)[0] : wrong}`);
}

/** Removes the line break that `echo secret | base64`, a `.env` of Windows or a YAML block appends to a value. */
export function withoutLineEnd(value: string): string {
  return value.replace(/[\r\n]+$/, '');
}

/** All problems of the configuration, one line each. */
export class ConfigError extends StartupError {
  override name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}
