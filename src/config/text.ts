import { stringify } from 'yaml';
import { argumentOf } from './arguments.ts';
import { type Config, KEYS, type Key, settingOf } from './schema.ts';

const INTRODUCTION = `\
# Configuration of the location hub. Every setting is shown with its default. To change one, remove its # and edit it.
# Environment variables take precedence: HUB_ and the name in upper case, for example HUB_PORT=8082.
# The hub reads this file in the folder HUB_CONFIG_PATH, by default the current one, and stores data.dat there.
# In the repository, "npm run generate" writes this file from src/config/schema.ts.
`;

/** Contents of the repository's hub_config.yaml: every setting with its help and default, commented out. */
export function exampleConfigText(): string {
  const entries = KEYS.map((key) => `\n# ${settingOf(key).description}\n# ${line(key, settingOf(key).default)}`);
  return INTRODUCTION + entries.join('');
}

const USAGE = `\
Usage: npm start -- [--setting value]...

Starts a location hub. Settings are arguments, environment variables (HUB_PORT=8082) or lines of hub_config.yaml
(port: 8082). Arguments override environment variables, which override the file. The hub reads the file, and stores its
data, in the folder HUB_CONFIG_PATH, by default the current one. Secrets cannot be arguments, because other users of the
machine could read them.

Settings with their defaults:
`;

/** Output of `npm start -- --help`. */
export function usageText(): string {
  const entries = KEYS.map((key) => {
    const { default: usual, description, secret } = settingOf(key);
    const name = secret === true ? `HUB_${key.toUpperCase()}` : line(argumentOf(key), usual).trimEnd().replace(':', '');
    return `\n  ${name}\n      ${description}\n`;
  });
  return USAGE + entries.join('');
}

/** The settings of a running hub as YAML, with secrets replaced by asterisks. */
export function configText(config: Config, secrets: readonly Key[] = SECRETS): string {
  const entries = Object.entries(config).map(([key, value]) => {
    return line(key, secrets.some((secret) => secret === key) && value !== null ? '***' : value);
  });
  return entries.join('');
}

const SECRETS = KEYS.filter((key) => settingOf(key).secret === true);

/** A list of words is written in one line, separated by commas. */
function line(key: string, value: unknown): string {
  const isWords = Array.isArray(value) && value.length > 0 && value.every((word) => typeof word === 'string');
  return stringify({ [key]: isWords ? value.join(', ') : value }, { lineWidth: 0 });
}
