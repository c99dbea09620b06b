import { existsSync, readFileSync } from 'node:fs';
import { type CoveredBy, ENDPOINT_WALK, walked } from './covered_by.ts';
import { ENDPOINTS } from './endpoints.ts';

const TESTS = new URL('../', import.meta.url);
/** Number of letters that a title must have outside of its placeholders to identify its tests. */
const TELLING = 8;

interface Titles {
  readonly fixed: ReadonlySet<string>;
  /** Titles with placeholders. A placeholder that contains the name of a row is a capturing group. */
  readonly filledIn: readonly RegExp[];
  /** Whether some titles consist almost only of a placeholder. */
  readonly hasTable: boolean;
  /** Contents of the file and of its imports below test/. They contain the quoted names of rows. */
  readonly texts: readonly string[];
}

const known = new Map<string, Titles>();
const walks = new Set(ENDPOINTS.flatMap(({ path }) => walked(path)).map(([, name]) => name));

/**
 * Whether a file has a test or a suite with this name. If the title contains the name of a row, that name must be a
 * string literal of the file or of one of its imports; so must the whole name if a title is almost only a placeholder.
 * Other placeholders may contain anything.
 */
export function isTest([file, name]: CoveredBy): boolean {
  if (file === ENDPOINT_WALK && walks.has(name)) return true;
  const { fixed, filledIn, hasTable, texts } = titlesOf(file);
  const isText = (text: string) => texts.some((all) => all.includes(`'${text}'`) || all.includes(`"${text}"`));
  if (fixed.has(name) || (hasTable && isText(name))) return true;
  return filledIn.some((pattern) => pattern.exec(name)?.slice(1).every(isText) === true);
}

function titlesOf(file: string): Titles {
  const read = known.get(file) ?? readTitles(new URL(file, TESTS));
  known.set(file, read);
  return read;
}

function readTitles(url: URL): Titles {
  const texts = textsFrom(url);
  const [text = ''] = texts;
  const fixed = new Set<string>();
  const filledIn: RegExp[] = [];
  let hasTable = false;
  const titles = text.matchAll(/\b(?:test|it|describe)\(\s*(?:'([^'\n]+)'|"([^"\n]+)"|`([^`\n]+)`|[a-z])/g);
  for (const [, single, double, template] of titles) {
    const title = single ?? double;
    if (title !== undefined) fixed.add(title);
    else if (isTelling(template)) filledIn.push(patternOf(template));
    else hasTable = true;
  }
  if (hasTable) {
    const rows = texts.flatMap((all) => Array.from(all.matchAll(/\bname: `([^`\n]+)`/g), ([, name]) => name));
    filledIn.push(...rows.filter(isTelling).map(patternOf));
  }
  return { fixed, filledIn, hasTable, texts };
}

/** Contents of a file and of all its imports below test/; empty if the file does not exist. */
function textsFrom(url: URL, seen = new Set<string>()): readonly string[] {
  if (seen.has(url.href) || !url.href.startsWith(TESTS.href) || !existsSync(url)) return [];
  seen.add(url.href);
  const text = readFileSync(url, 'utf8');
  const imported = Array.from(text.matchAll(/ from '(\.[^']+)'/g), ([, path = '']) => new URL(path, url));
  return [text, ...imported.flatMap((path) => textsFrom(path, seen))];
}

/** Splits a title into parts; every other part is a placeholder. */
function partsOf(template: string): readonly string[] {
  return template.split(/\$\{([^}]*)\}/);
}

function isTelling(template: string | undefined): template is string {
  const letters = partsOf(template ?? '').filter((_, i) => i % 2 === 0);
  return letters.join('').replaceAll(/[^\p{L}]/gu, '').length >= TELLING;
}

function patternOf(template: string): RegExp {
  const parts = partsOf(template).map((part, i) => (i % 2 === 0 ? escaped(part) : gap(part)));
  return new RegExp(`^${parts.join('')}$`);
}

function gap(expression: string): string {
  return /(^|\.)name$/.test(expression) ? '(.+)' : '.+';
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
