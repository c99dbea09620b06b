import type { Genders, PageTexts, ParamTexts, ReasonTexts, Texts } from './texts.ts';

interface Catalog {
  /** The language in itself. */
  readonly name: string;
  first(): Promise<{ readonly texts: Texts; readonly genders: Genders }>;
  pages(): Promise<{ readonly pageTexts: PageTexts }>;
  reasons(): Promise<{ readonly reasonTexts: ReasonTexts; readonly paramTexts: ParamTexts }>;
}

/** Languages of the page besides English: their names and files. */
export const CATALOGS = {
  de: {
    name: 'Deutsch',
    first: () => import('./de.ts'),
    pages: () => import('./de_pages.ts'),
    reasons: () => import('./de_reasons.ts'),
  },
  fr: {
    name: 'Français',
    first: () => import('./fr.ts'),
    pages: () => import('./fr_pages.ts'),
    reasons: () => import('./fr_reasons.ts'),
  },
  es: {
    name: 'Español',
    first: () => import('./es.ts'),
    pages: () => import('./es_pages.ts'),
    reasons: () => import('./es_reasons.ts'),
  },
} as const satisfies Readonly<Record<string, Catalog>>;
