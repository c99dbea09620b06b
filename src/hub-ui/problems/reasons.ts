import { countText } from '../controls/number_text.ts';
import { language, type Text, t } from '../languages/language.ts';
import { HUB_WORDS } from './hub_words.ts';

/**
 * What the hub has said, in the reader's language. It speaks English, in patterns that are texts of the catalogue. Where
 * several fit, the one with the longest text of its own counts: `must be {value} or more` before `must be {value}`. What none
 * fits is shown as the hub has said it.
 */

/** What the hub has said, as it is read; undefined where no pattern fits. */
export function translated(said: string): string | undefined {
  if (language === 'en') return said;
  const fitting = patternOf(said);
  return fitting && filled(fitting);
}

/** What the hub says of itself, as it is read. */
export function saidText(said: string): string {
  return translated(said) ?? said;
}

/** What the hub has found: a value, or words. */
export function foundText(found: string): string {
  return translated(found) ?? valueText(found);
}

interface Fitting {
  readonly text: Text;
  /** What stands in the places, as it is read. */
  readonly values: Readonly<Record<string, string>>;
}

/** Reasons are far shorter: the hub cuts the values in them. */
const SAID_MAX = 1_000;

/** The pattern of what the hub has said. */
export function patternOf(said: string): Fitting | undefined {
  if (said.length > SAID_MAX) return undefined;
  for (const { text, expression } of compiledPatterns()) {
    const places = expression.exec(said);
    const values = places === null ? undefined : valuesOf(places.groups ?? {});
    if (values !== undefined) return { text, values };
  }
  return undefined;
}

/** Undefined where words are not known. */
function valuesOf(places: Readonly<Record<string, string>>): Readonly<Record<string, string>> | undefined {
  const values: Record<string, string> = {};
  for (const [name, said] of Object.entries(places)) {
    const hasWords = KNOWN_WORDS.test(name);
    const fitting = hasWords || ANY_WORDS.test(name) ? patternOf(said) : undefined;
    if (hasWords && fitting === undefined) return undefined;
    values[name] = fitting === undefined ? valueText(said) : filled(fitting);
  }
  return values;
}

function filled({ text, values }: Fitting): string {
  // Which places a pattern has is known only once it fits.
  return t(text as '{fault} at {value}', values as { readonly fault: string; readonly value: string });
}

/** A value with the quotes of the language, and with its thousands set apart as there. */
function valueText(shown: string): string {
  if (language === 'en') return shown;
  if (/^-?\d{1,3}(,\d{3})+$/.test(shown)) return countText(Number(shown.replaceAll(',', '')));
  const [, text, cut] = /^"(.*?)(?:"|(\.{3}))$/s.exec(shown) ?? [];
  return text === undefined ? shown : t('"{text}"', { text: cut === undefined ? text : `${text}…` });
}

// What stands in a place, by the name of the place.
const KNOWN_WORDS = /^(action|fault|kind|noun|rule|things|why)$/;
const ANY_WORDS = /^(reason|request|text|values)$/;
const ONE_WORD = /^(mark|name|time|unit)$/;

function heldBy(place: string): string {
  if (KNOWN_WORDS.test(place)) return '.+?';
  if (ANY_WORDS.test(place)) return '.+';
  if (ONE_WORD.test(place)) return '\\S+';
  // A value as the hub shows it, which may be cut.
  const json = '".*(?:"|\\.\\.\\.)|-?\\d[\\d.,e+-]*|true|false|null|nothing|[[{].*';
  return place === 'other' ? `${json}|\\S+` : json;
}

interface Pattern {
  readonly text: Text;
  readonly expression: RegExp;
}

let patterns: readonly Pattern[] | undefined;

/** Made when the first is looked for: most readers are never refused anything. */
function compiledPatterns(): readonly Pattern[] {
  patterns ??= HUB_WORDS.toSorted((a, b) => ownLength(b) - ownLength(a)).map((text) => {
    return { text, expression: expressionOf(text) };
  });
  return patterns;
}

/** How long a pattern is without its places. */
function ownLength(text: string): number {
  return text.replace(/\{\w+\}/g, '').length;
}

function expressionOf(text: string): RegExp {
  const seen = new Set<string>();
  const parts = text.split(/\{(\w+)\}/).map((part, i) => {
    if (i % 2 === 0) return part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    if (seen.has(part)) return `\\k<${part}>`;
    seen.add(part);
    return `(?<${part}>${heldBy(part)})`;
  });
  return new RegExp(`^${parts.join('')}$`, 's');
}
