import { language, type Text, t } from '../languages/language.ts';
import { countText } from '../languages/numbers.ts';
import { HUB_WORDS } from './server_message_patterns.ts';

/**
 * Translation of the hub's English messages, by patterns that are messages of the catalog. Of several matches, the one with
 * the longest literal text wins: `must be {value} or more` before `must be {value}`. Unmatched messages stay English.
 */

/** Translates a message; undefined if no pattern matches. */
export function translated(message: string): string | undefined {
  if (language === 'en') return message;
  const match = patternOf(message);
  return match && filled(match);
}

/** Translates a message; returns it unchanged if no pattern matches. */
export function translatedOrSame(message: string): string {
  return translated(message) ?? message;
}

/** Translates the found part of a message: a value, or words. */
export function foundText(found: string): string {
  return translated(found) ?? valueText(found);
}

interface PatternMatch {
  readonly text: Text;
  /** Translated values of the parameters. */
  readonly values: Readonly<Record<string, string>>;
}

/** Longest message to match; the hub truncates values, so messages are far shorter. */
const MESSAGE_MAX = 1_000;

/** Finds the pattern of a message. */
export function patternOf(message: string): PatternMatch | undefined {
  if (message.length > MESSAGE_MAX) return undefined;
  for (const { text, expression } of compiledPatterns()) {
    const parameters = expression.exec(message);
    const values = parameters === null ? undefined : valuesOf(parameters.groups ?? {});
    if (values !== undefined) return { text, values };
  }
  return undefined;
}

/** Translates the values of the parameters; undefined if words have no translation. */
function valuesOf(parameters: Readonly<Record<string, string>>): Readonly<Record<string, string>> | undefined {
  const values: Record<string, string> = {};
  for (const [name, said] of Object.entries(parameters)) {
    const hasWords = TRANSLATED.test(name);
    const match = hasWords || OPTIONALLY_TRANSLATED.test(name) ? patternOf(said) : undefined;
    if (hasWords && match === undefined) return undefined;
    values[name] = match === undefined ? valueText(said) : filled(match);
  }
  return values;
}

function filled({ text, values }: PatternMatch): string {
  // The parameters of a pattern are not known at compile time.
  return t(text as '{fault} at {value}', values as { readonly fault: string; readonly value: string });
}

/** Formats a value with the quotes and the thousands separators of the language. */
function valueText(shown: string): string {
  if (language === 'en') return shown;
  if (/^-?\d{1,3}(,\d{3})+$/.test(shown)) return countText(Number(shown.replaceAll(',', '')));
  const [, text, cut] = /^"(.*?)(?:"|(\.{3}))$/s.exec(shown) ?? [];
  return text === undefined ? shown : t('"{text}"', { text: cut === undefined ? text : `${text}…` });
}

// Classes of parameters, by name.
const TRANSLATED = /^(action|fault|kind|noun|rule|things|why)$/;
const OPTIONALLY_TRANSLATED = /^(reason|request|text|values)$/;
const SINGLE_WORD = /^(mark|name|time|unit)$/;

function patternOfParameter(place: string): string {
  if (TRANSLATED.test(place)) return '.+?';
  if (OPTIONALLY_TRANSLATED.test(place)) return '.+';
  if (SINGLE_WORD.test(place)) return '\\S+';
  // A value as the hub formats it, possibly truncated.
  const json = '".*(?:"|\\.\\.\\.)|-?\\d[\\d.,e+-]*|true|false|null|nothing|[[{].*';
  return place === 'other' ? `${json}|\\S+` : json;
}

interface Pattern {
  readonly text: Text;
  readonly expression: RegExp;
}

let patterns: readonly Pattern[] | undefined;

/** Compiles the patterns on first use: most users never see an error. */
function compiledPatterns(): readonly Pattern[] {
  patterns ??= HUB_WORDS.toSorted((a, b) => ownLength(b) - ownLength(a)).map((text) => {
    return { text, expression: expressionOf(text) };
  });
  return patterns;
}

/** Length of a pattern without its parameters. */
function ownLength(text: string): number {
  return text.replace(/\{\w+\}/g, '').length;
}

function expressionOf(text: string): RegExp {
  const seen = new Set<string>();
  const parts = text.split(/\{(\w+)\}/).map((part, i) => {
    if (i % 2 === 0) return part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    if (seen.has(part)) return `\\k<${part}>`;
    seen.add(part);
    return `(?<${part}>${patternOfParameter(part)})`;
  });
  return new RegExp(`^${parts.join('')}$`, 's');
}
