import type { german } from './de.ts';

/** The languages that the page speaks. */
export type Language = 'en' | 'de';

/** What the reader has chosen: a language, or that of the browser. */
export type LanguageChoice = 'browser' | Language;

/** A text of the page in English, under which its translations are found. `{name}` is a place for a value. */
export type Text = keyof typeof german;

/** The places of a text. */
type Places<T extends string> = T extends `${string}{${infer Name}}${infer Rest}` ? Name | Places<Rest> : never;

type Values<T extends string> = Readonly<Record<Places<T>, string | number>>;

const KEY = 'hub-language';

/** Tests read texts without a browser around them. */
const kept = globalThis.localStorage as Storage | undefined;

/** What the reader has chosen in this browser. */
export const languageChoice: LanguageChoice = chosen(kept?.getItem(KEY));

/** The language of the page, until it is loaded again. */
export const language: Language = languageChoice === 'browser' ? ofBrowser() : languageChoice;

/** The locale of the reader in that language: numbers and times are written otherwise in each country. */
export const locale: string = wantedTags().find((tag) => tag.startsWith(language)) ?? language;

/** The other texts than the English ones; each module that shows text waits until they are there. */
const texts: Readonly<Record<string, string>> | undefined = language === 'de' ? await loadGerman() : undefined;

if (typeof document !== 'undefined') document.documentElement.lang = language;

/** The German texts; none where they cannot be loaded, as when the hub was updated a moment ago: the page is in English. */
async function loadGerman(): Promise<Readonly<Record<string, string>> | undefined> {
  try {
    return (await import('./de.ts')).german;
  } catch {
    return undefined;
  }
}

/**
 * A text in the reader's language. A text that is not translated is shown in English.
 *
 * @param text - the English text
 * @param values - what stands in its places
 */
export function t<const T extends Text>(
  text: T,
  ...[values]: [Places<T>] extends [never] ? [] : [values: Values<T>]
): string {
  const translated = texts?.[text] ?? text;
  return values === undefined ? translated : filled(translated, values);
}

/** A text in its parts, where what stands in its places is no text: links, controls, marks. */
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
  return text.replace(/\{(\w+)\}/g, (place, name: string) => String(values[name] ?? place));
}

/** A text that begins a line. */
export function capitalized(text: string): string {
  return text.slice(0, 1).toLocaleUpperCase(language) + text.slice(1);
}

/** Keeps the choice in this browser, and loads the page in it. What is not saved is kept as a draft. */
export function chooseLanguage(choice: LanguageChoice): void {
  if (choice === 'browser') kept?.removeItem(KEY);
  else kept?.setItem(KEY, choice);
  location.reload();
}

function chosen(found: string | null | undefined): LanguageChoice {
  return found === 'en' || found === 'de' ? found : 'browser';
}

/** The first language of the reader that the page speaks. */
function ofBrowser(): Language {
  return wantedTags()
    .find((tag) => /^(en|de)\b/.test(tag))
    ?.startsWith('de')
    ? 'de'
    : 'en';
}

function wantedTags(): readonly string[] {
  return kept === undefined ? [] : navigator.languages;
}
