import type { PARAM_VALUES, Reason } from '../../reasons.ts';
import type { texts as german } from './de.ts';
import type { pageTexts as germanPages } from './de_pages.ts';

/** English texts of the first view, the keys of each catalog. */
type FirstText = keyof typeof german;
/** English texts of the pages that the first view does not need. */
type PageText = keyof typeof germanPages;

/** English message, the key of its translations. `{name}` is a parameter. */
export type Text = FirstText | PageText;

/** Translations of the first view. A missing one is a type error, as are those below. */
export type Texts = Readonly<Record<FirstText, string>>;
export type PageTexts = Readonly<Record<PageText, string>>;
/** Messages of the hub's errors, by their reasons (src/reasons.ts). */
export type ReasonTexts = Readonly<Record<Reason, string>>;
/** Words for the values of parameters of these messages. */
export type ParamTexts = {
  readonly [N in keyof typeof PARAM_VALUES]: Readonly<Record<keyof (typeof PARAM_VALUES)[N], string>>;
};
/**
 * Grammatical classes of nouns that fill messages, 0 if not listed. `{kind|ein|eine|ein}` in a translation becomes the form of
 * the class of the noun that fills `kind`.
 */
export type Genders = Readonly<Record<string, number>>;
