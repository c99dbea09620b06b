import { booleanOf } from '../model/boolean.ts';
import { keyOf } from './aliases.ts';
import type { CollectedSettings } from './collect.ts';
import { collectText } from './environment.ts';
import { takenByNpm } from './npm_options.ts';
import { KEYS, type Key, settingOf } from './schema.ts';
import { didYouMean } from './suggest.ts';

/** The argument of a setting: `--num-threads` for num_threads. Underscores are accepted as well. */
export function argumentOf(key: string): string {
  return `--${key.replaceAll('_', '-')}`;
}

/** Whether the arguments request the usage instead of a hub. */
export function asksForHelp(args: readonly string[]): boolean {
  return args.includes('--help') || args.includes('-h');
}

interface Given {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Collects the settings of a command line: `--port 9000`, `--port=9000`, and `--force-https` for true. Problems are
 * unknown arguments, settings without a value, and options that npm has consumed because there was no `--` before them.
 */
export function readArguments({ args, env }: Given, into: CollectedSettings): void {
  const [taken] = takenByNpm(env, { names: KEYS, args });
  if (taken !== undefined) {
    into.problems.push(taken);
    return;
  }
  const given = new Set<Key>();
  for (let i = 0; i < args.length; i++) {
    const argument = args[i] ?? '';
    const [, written = '', assigned] = /^--([^=]+)(?:=(.*))?$/s.exec(argument) ?? [];
    const key = keyOf(written.replaceAll('-', '_'));
    if (key === undefined) {
      into.problems.push(`arguments: ${argument}: ${whyUnknown(written)}`);
      // Otherwise its value would be reported as a second unknown argument.
      if (written !== '' && assigned === undefined && isValue(args[i + 1])) i++;
      continue;
    }
    const name = argumentOf(key);
    const text = assigned ?? valueBehind(args[i + 1], key);
    if (assigned === undefined && text !== undefined && text === args[i + 1]) i++;
    if (given.has(key)) into.problems.push(`arguments: ${name}: is given twice`);
    else if (settingOf(key).secret === true) {
      const problem = `is a secret, which other users of this machine could read; set HUB_${key.toUpperCase()} instead`;
      into.problems.push(`arguments: ${name}: ${problem}`);
    } else if (text === undefined) into.problems.push(`arguments: ${name}: needs a value, found none`);
    else collectText(into, { key, source: 'arguments', name, text });
    given.add(key);
  }
}

/** The next argument, if it is the value of this one. A switch without a value is on. */
function valueBehind(next: string | undefined, key: Key): string | undefined {
  if (typeof settingOf(key).default !== 'boolean') return isValue(next) ? next : undefined;
  return next !== undefined && booleanOf(next) !== undefined ? next : 'true';
}

function isValue(argument: string | undefined): argument is string {
  return argument !== undefined && !argument.startsWith('--');
}

function whyUnknown(written: string): string {
  const names = KEYS.map((key) => argumentOf(key));
  return `is no setting of the hub, see npm start -- --help${didYouMean(`--${written.replaceAll('_', '-')}`, names)}`;
}
