import { CATALOGS } from './catalogs.ts';
import type { Genders, ParamTexts, ReasonTexts, Text } from './texts.ts';

export type { Text } from './texts.ts';

/** Languages of the page. */
export type Language = 'en' | keyof typeof CATALOGS;

/** Setting of the user: a language, or that of the browser. */
export type LanguageChoice = 'browser' | Language;

/** Languages of the page, each named in itself. */
export const LANGUAGES: readonly { readonly value: Language; readonly label: string }[] = [
  { value: 'en', label: 'English' },
  ...(Object.keys(CATALOGS) as (keyof typeof CATALOGS)[]).map((value) => ({ value, label: CATALOGS[value].name })),
];

/** Names of the parameters of a message. */
type Places<T extends string> = T extends `${string}{${infer Name}}${infer Rest}` ? Name | Places<Rest> : never;

type Values<T extends string> = Readonly<Record<Places<T>, string | number>>;

const KEY = 'hub-language';

/** Undefined in tests without a browser. */
const storage = globalThis.localStorage as Storage | undefined;

/** Setting stored in this browser. */
export const languageChoice: LanguageChoice = choiceFrom(storage?.getItem(KEY));

/** Language of the page; a change takes effect on reload. */
export const language: Language = languageChoice === 'browser' ? ofBrowser() : languageChoice;

/** Locale of the user in that language; formats of numbers and times differ by country. */
export const locale: string = wantedTags().find((tag) => languageOf(tag) === language) ?? language;

/** Catalog of the language; undefined in English. */
const catalog = language === 'en' ? undefined : CATALOGS[language];

let genders: Genders = {};

/** Translations; each module with messages waits for them by this top-level await. */
const texts: Record<string, string> | undefined = await loadTexts();

if (typeof document !== 'undefined') document.documentElement.lang = language;

/** Loads the translations. If that fails, for example after an update of the hub, the page is in English. */
async function loadTexts(): Promise<Record<string, string> | undefined> {
  try {
    const first = await catalog?.first();
    genders = first?.genders ?? {};
    return first && { ...first.texts };
  } catch {
    return undefined;
  }
}

/** Loads the translations of pages that the first view does not need, before their code. */
export async function loadPageTexts(): Promise<void> {
  if (texts === undefined) return;
  const loaded = await catalog?.pages().catch(() => undefined);
  Object.assign(texts, loaded?.pageTexts);
}

/** Loads the translated messages of the hub's errors; undefined in English and if that fails. */
export async function loadReasons(): Promise<
  Readonly<{ reasonTexts: ReasonTexts; paramTexts: ParamTexts }> | undefined
> {
  return catalog?.reasons().catch(() => undefined);
}

/**
 * Translates a message to the user's language; messages without a translation stay English.
 *
 * @param text - the English message
 * @param values - values of its parameters
 */
export function t<const T extends Text>(
  text: T,
  ...[values]: [Places<T>] extends [never] ? [] : [values: Values<T>]
): string {
  const translated = texts?.[text] ?? text;
  return values === undefined ? translated : filled(translated, values);
}

/** Translates a message whose parameters are components: links, controls, marks. Returns the parts in order. */
export function tParts<const T extends Text, V>(
  text: T,
  values: Readonly<Record<Places<T>, V | string>>,
): readonly (string | V)[] {
  const parts = (texts?.[text] ?? text).split(/\{(\w+)\}/);
  return parts.flatMap((part, i): readonly (string | V)[] => {
    if (i % 2 === 1) return [(values as Readonly<Record<string, V | string>>)[part] ?? `{${part}}`];
    return part === '' ? [] : [part];
  });
}

function filled(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{(\w+)((?:\|[^|}]*)*)\}/g, (place, name: string, forms: string) => {
    const value = String(values[name] ?? place);
    const [, ...all] = forms.split('|');
    return all.length === 0 ? value : (all[(genders[value] ?? 0) % all.length] ?? value);
  });
}

/** Capitalizes the first letter, by the rules of the language. */
export function capitalized(text: string): string {
  return text.slice(0, 1).toLocaleUpperCase(language) + text.slice(1);
}

/** Stores the setting in this browser and reloads the page. Unsaved changes stay as drafts. */
export function chooseLanguage(choice: LanguageChoice): void {
  if (choice === 'browser') storage?.removeItem(KEY);
  else storage?.setItem(KEY, choice);
  location.reload();
}

function choiceFrom(found: string | null | undefined): LanguageChoice {
  return LANGUAGES.find(({ value }) => value === found)?.value ?? 'browser';
}

/** First language of the browser's list that the page supports. */
function ofBrowser(): Language {
  return (
    wantedTags()
      .map(languageOf)
      .find((found) => found !== undefined) ?? 'en'
  );
}

/** Language of the page for a tag such as `de-AT`; undefined if the page does not support it. */
function languageOf(tag: string): Language | undefined {
  return LANGUAGES.find(({ value }) => value === tag.split('-')[0])?.value;
}

function wantedTags(): readonly string[] {
  return storage === undefined ? [] : navigator.languages;
}
