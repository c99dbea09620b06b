import type { german } from './de.ts';
import type { germanPages } from './de_pages.ts';

/** Languages of the page. */
export type Language = 'en' | 'de';

/** Setting of the user: a language, or that of the browser. */
export type LanguageChoice = 'browser' | Language;

/** English message, the key of its translations. `{name}` is a parameter. */
export type Text = keyof typeof german | keyof typeof germanPages;

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
export const locale: string = wantedTags().find((tag) => tag.startsWith(language)) ?? language;

/** Translations; each module with messages waits for them by this top-level await. */
const texts: Record<string, string> | undefined = language === 'de' ? await loadGerman() : undefined;

if (typeof document !== 'undefined') document.documentElement.lang = language;

/** Loads the German messages. If that fails, for example after an update of the hub, the page is in English. */
async function loadGerman(): Promise<Record<string, string> | undefined> {
  try {
    return { ...(await import('./de.ts')).german };
  } catch {
    return undefined;
  }
}

/** Loads the translations of pages that the first view does not need, before their code. */
export async function loadPageTexts(): Promise<void> {
  if (texts === undefined) return;
  const loaded = await import('./de_pages.ts').catch(() => undefined);
  Object.assign(texts, loaded?.germanPages);
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
  return text.replace(/\{(\w+)\}/g, (place, name: string) => String(values[name] ?? place));
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
  return found === 'en' || found === 'de' ? found : 'browser';
}

/** First language of the browser's list that the page supports. */
function ofBrowser(): Language {
  return wantedTags()
    .find((tag) => /^(en|de)\b/.test(tag))
    ?.startsWith('de')
    ? 'de'
    : 'en';
}

function wantedTags(): readonly string[] {
  return storage === undefined ? [] : navigator.languages;
}
