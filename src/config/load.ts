import { existsSync, readFileSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { decodeUnicode } from '../model/decode_unicode.ts';
import { readArguments } from './arguments.ts';
import { clusterProblems } from './cluster.ts';
import { type CollectedSettings, ConfigError } from './collect.ts';
import { configPath, type Environment, readEnvironment } from './environment.ts';
import { readConfigText } from './file.ts';
import { mqttProblems } from './mqtt.ts';
import { type Config, KEYS, type Key, type SettingValues, settingOf } from './schema.ts';
import { messageOf } from '../errors.ts';

/** Sources of the configuration. */
export interface LoadOptions {
  readonly env: Environment;
  /** The command line after the name of the program; default: empty. */
  readonly args?: readonly string[];
  /** Folder of hub_config.yaml and data.dat unless HUB_CONFIG_PATH is set. */
  readonly cwd: string;
  /** Number of CPU cores. */
  readonly cores: number;
  /** Contents of a text file; undefined if it is missing. Throws if it cannot be read. */
  readonly readFile: (path: string) => string | undefined;
  /** Called with ignored settings, once for each reason. */
  readonly warn?: (message: string, facts: object) => void;
}

const FILE = 'hub_config.yaml';

/**
 * Loads the configuration: arguments override the environment, which overrides hub_config.yaml, which overrides the
 * defaults. Throws a ConfigError with all problems.
 */
export function loadConfig({ env, args = [], cwd, cores, readFile, warn }: LoadOptions): Config {
  const read: CollectedSettings = { values: new Map(), problems: [], withoutMeaning: [], unknownVariables: [] };
  const folder = configPath(env);
  const path = resolve(cwd, folder?.path ?? '.');
  const file = join(path, FILE);
  const name = shortest(cwd, file);
  try {
    readConfigText(readFile(file) ?? '', { name, into: read });
  } catch (error) {
    const source = folder === undefined ? name : `environment: ${folder.name}`;
    read.problems.push(`${source}: cannot read ${file}: ${messageOf(error)}`);
  }
  readEnvironment(env, read);
  readArguments({ args, env }, read);
  read.problems.push(...clusterProblems(read.values), ...mqttProblems(read.values));
  if (read.problems.length > 0) throw new ConfigError(read.problems);
  const { withoutMeaning: settings, unknownVariables: variables } = read;
  if (settings.length > 0) warn?.('Settings of DeepHub that mean nothing to this hub are ignored', { settings });
  if (variables.length > 0) warn?.('Environment variables that are no settings of the hub are ignored', { variables });
  return Object.freeze({ ...complete(read.values, cores), config_path: path });
}

function complete(values: ReadonlyMap<Key, unknown>, cores: number): SettingValues & { num_threads: number } {
  const pairs = KEYS.map((key) => [key, values.has(key) ? values.get(key) : settingOf(key).default]);
  // Each value was checked against its schema when it was collected, which the compiler cannot infer.
  const settings = Object.fromEntries(pairs) as SettingValues;
  return {
    ...settings,
    host: settings.host === 'localhost' ? '127.0.0.1' : settings.host,
    num_threads: settings.num_threads ?? Math.max(1, cores - 1),
  };
}

/** Reads a text file for loadConfig. Returns undefined for a missing file; throws for a missing folder. */
export function readConfigFile(path: string): string | undefined {
  try {
    return decodeUnicode(readFileSync(path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    if (existsSync(dirname(path))) return undefined;
    throw new Error(`there is no folder ${dirname(path)}`);
  }
}

/** Shows a path below the current folder as a relative path. */
function shortest(cwd: string, path: string): string {
  const below = relative(cwd, path);
  return below.startsWith('..') || isAbsolute(below) ? path : below;
}
