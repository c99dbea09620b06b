import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from '@swc/core';
import fc from 'fast-check';
import { CATALOGS } from '../../src/hub-ui/languages/catalogs.ts';
import { t, tParts } from '../../src/hub-ui/languages/language.ts';
import { clockOf } from '../../src/model/zone_clock.ts';
import { inputText, inputTime } from '../../src/hub-ui/languages/times.ts';

const FOLDER = fileURLToPath(new URL('../../src/hub-ui/', import.meta.url));

interface Catalog {
  readonly name: string;
  readonly first: Readonly<Record<string, string>>;
  readonly pages: Readonly<Record<string, string>>;
  readonly texts: readonly (readonly [english: string, translated: string])[];
  /** Words that are equal in English, names and abbreviations. */
  readonly same: ReadonlySet<string>;
}

const SAME: Readonly<Record<keyof typeof CATALOGS, string>> = {
  de:
    'auto clients cluster cursor demo details elevation format handler hub hubs iso lasso live median name plan polygon ' +
    'position provider radius rate scopes system text trackable trackables url version webhook zone',
  fr:
    'action actions active auto clients cluster collision collisions condition conditions configuration copies description ' +
    'expression format hub hubs info iso lasso latitude local longitude mail minutes notifications page pages partitions ' +
    'pause plan point points position positions rectangle rotation scopes sessions site source sources type url version ' +
    'webhook zone zones',
  es: 'auto cursor demo error general hub hubs iso local no roles scopes url virtual webhook',
};

async function load(language: keyof typeof CATALOGS): Promise<Catalog> {
  const { name, first, pages } = CATALOGS[language];
  const [{ texts }, { pageTexts }] = await Promise.all([first(), pages()]);
  const all = Object.entries({ ...texts, ...pageTexts });
  return { name, first: texts, pages: pageTexts, texts: all, same: new Set(SAME[language].split(' ')) };
}

const LOADED = await Promise.all((Object.keys(CATALOGS) as (keyof typeof CATALOGS)[]).map(load));
/** English texts; the types of the catalogs ensure that all have the same. */
const [{ first: FIRST, pages: PAGES } = assert.fail()] = LOADED;
const TEXTS = Object.keys({ ...FIRST, ...PAGES });

/** Words of a text without placeholders and units. */
function wordsOf(text: string): readonly string[] {
  return (
    text
      .toLowerCase()
      .replaceAll(/\{\w+\}|\b(min|in)\b/g, '')
      .match(/[a-z]{2,}/g) ?? []
  );
}

/** A text may use a placeholder twice that another language uses once, and its forms by gender. */
function placesOf(text: string): readonly string[] {
  return [...new Set([...text.matchAll(/\{(\w+)(?:\|[^|}]*)*\}/g)].map(([, name]) => String(name)))].sort();
}

for (const { name, texts, same } of LOADED) {
  test(`A text in ${name} has the placeholders of the English text`, () => {
    for (const [english, text] of texts) assert.deepEqual(placesOf(text), placesOf(english), text);
  });

  test(`Every text is translated to ${name}`, () => {
    const left = texts.filter(([english, text]) => english === text);
    const words = left.filter(([english]) => wordsOf(english).some((word) => !same.has(word)));
    assert.deepEqual(words, []);
  });

  test(`A text in ${name} has about the length of the English text`, () => {
    const oneForm = (text: string): string => text.replaceAll(/\{\w+\|([^|}]*)[^}]*\}/g, '$1');
    const long = texts.filter(([{ length }, text]) => oneForm(text).length > Math.max(1.6 * length, length + 14));
    assert.deepEqual(long, []);
  });
}

test('Every text of the catalog is used', () => {
  const used = new Set<string>();
  for (const { text } of sourcesOfUi()) {
    for (const [, single, double] of text.matchAll(/'((?:\\'|[^'\n])*)'|"([^"\n]*)"/g)) {
      used.add((single ?? double ?? '').replaceAll("\\'", "'"));
    }
  }
  // These are built from a noun and a count: `countedText(3, 'fence')`.
  const nounOf = (english: string): string | undefined => /^\{count\} (.+?)s?$/.exec(english)?.[1];
  const idle = TEXTS.filter((english) => !used.has(english) && !used.has(nounOf(english) ?? english));
  assert.deepEqual(idle, []);
});

/** Tools of the map that load the second catalog before they open. */
const WITH_PAGE_TEXTS = /^(map_page\/(filter|find|stack)\/|map_page\/wall\/wall_scenes|history\/heat_layer|palette\/)/;

/** Returns the files that a page may use without the second catalog: those that no page loads with `otherPage`. */
function withoutPageTexts(): readonly Source[] {
  const sources = new Map(sourcesOfUi().map((source) => [source.path, source]));
  const reached = new Set<Source>();
  const reach = (path: string): void => {
    const source = sources.get(path);
    if (source === undefined || reached.has(source) || WITH_PAGE_TEXTS.test(path)) return;
    reached.add(source);
    for (const line of source.text.split('\n')) {
      const [, imported] = /(?:from |import\(|import )'(\.[^']+)'/.exec(line) ?? [];
      if (imported !== undefined && !line.includes('otherPage(')) reach(posix.join(posix.dirname(path), imported));
    }
  };
  reach('main.tsx');
  return [...reached];
}

test('Only pages that load the second catalog use its texts', () => {
  const shared = withoutPageTexts();
  assert.ok(
    shared.length > 100 && shared.some(({ path }) => path === 'map_page/map_page.tsx'),
    `${shared.length} files`,
  );
  const found = Object.keys(PAGES).filter((english) => {
    return shared.some(({ text }) => text.includes(`t('${english.replaceAll("'", "\\'")}'`));
  });
  assert.deepEqual(found, []);
});

test('No visible or spoken text bypasses the catalog', async () => {
  const found: string[] = [];
  for (const { path, text } of sourcesOfUi().filter((file) => file.path.endsWith('.tsx'))) {
    const tree = await parse(text, { syntax: 'typescript', tsx: true });
    for (const literal of literalsIn(tree)) found.push(`${path}: ${literal}`);
  }
  assert.deepEqual(found, []);
});

test('No code builds user-visible text outside the catalog', async () => {
  const found: string[] = [];
  for (const { path, text } of sourcesOfUi().filter((file) => !file.path.endsWith('.d.ts'))) {
    const tree = await parse(text, { syntax: 'typescript', tsx: path.endsWith('.tsx') });
    for (const made of madeIn(tree)) if (!isForMachines(path, made)) found.push(`${path}: ${made}`);
  }
  assert.deepEqual(found, []);
});

test('Every exception is needed', async () => {
  const idle = new Set(FOR_MACHINES);
  for (const { path, text } of sourcesOfUi()) {
    const made = madeIn(await parse(text, { syntax: 'typescript', tsx: path.endsWith('.tsx') }));
    for (const exception of FOR_MACHINES) {
      const [where, what] = exception;
      if (where.test(path) && made.some((each) => what.test(each))) idle.delete(exception);
    }
  }
  assert.deepEqual([...idle], []);
});

test('Text that code builds outside the catalog is detected', async () => {
  const source = `
    import { a } from './not a text.ts';
    throw new Error('broken');
    toast('Saved', 'ok');
    toast(t('Saved'), 'ok');
    const looks = [{ label: 'Alert', icon: 'bell' }, { label: t('Alert'), kind: 'one word' }];
    const place = \`\${label}, corner \${number}\`;
    const sentence = isShort ? 'It is short' : t('It is {long}', { long: 'A very long time' });
    type Kind = 'of a type';
  `;
  const tree = await parse(source, { syntax: 'typescript' });
  assert.deepEqual(madeIn(tree), ['broken', 'Saved', 'Alert', '{}, corner {}', 'It is short', 'A very long time']);
});

test('Text outside the catalog is detected', async () => {
  const source = `
    const a = <p>Two words {name} <code>a setting</code> <b>OK</b></p>;
    const b = <Button label="Save it" title={wide ? 'Wide' : undefined} class="wide one" icon="close" />;
    const c = <p>{t('Translated')} · {count} m</p>;
  `;
  const tree = await parse(source, { syntax: 'typescript', tsx: true });
  assert.deepEqual(literalsIn(tree), ['Two words', 'OK', 'Save it', 'Wide']);
});

test('Values fill the placeholders of a text, and parts are inserted unchanged', () => {
  assert.equal(t('{from} to {to} of {total}', { from: 1, to: '20', total: 300 }), '1 to 20 of 300');
  const fence = { id: 'dock' };
  assert.deepEqual(tParts('{object} entered {fence}', { object: 'Forklift $& 7', fence }), [
    'Forklift $& 7',
    ' entered ',
    fence,
  ]);
});

// Wall-clock time of a zone at an instant.
const CLOCKS = [
  ['Europe/Berlin', '2026-03-29T00:59:59Z', '2026-03-29T01:59:59'],
  ['Europe/Berlin', '2026-03-29T01:00:00Z', '2026-03-29T03:00:00'],
  ['Europe/Berlin', '2026-10-25T00:30:00Z', '2026-10-25T02:30:00'],
  ['Europe/Berlin', '2026-10-25T01:30:00Z', '2026-10-25T02:30:00'],
  ['Australia/Lord_Howe', '2026-04-04T14:59:59Z', '2026-04-05T01:59:59'],
  ['Asia/Kathmandu', '2026-01-01T00:00:00Z', '2026-01-01T05:45:00'],
  ['UTC', '1969-12-31T23:59:59.250Z', '1969-12-31T23:59:59.250'],
] as const;

for (const [zone, at, wall] of CLOCKS) {
  test(`Wall-clock time in ${zone} at ${at} is ${wall}`, () => {
    assert.equal(clockOf(zone).wallMs(Date.parse(at)), Date.parse(`${wall}Z`));
  });
}

// Instant of a wall-clock time in a zone.
const TIMES = [
  ['Europe/Berlin', '2026-10-25T02:30:00', '2026-10-25T00:30:00Z'], // twice: the first
  ['Europe/Berlin', '2026-03-29T02:30:00', '2026-03-29T01:30:00Z'], // never: as if the clock had not changed
  ['America/New_York', '2026-07-01T00:00:00', '2026-07-01T04:00:00Z'],
  ['Pacific/Apia', '2011-12-31T00:00:00', '2011-12-30T10:00:00Z'], // the previous day was skipped
] as const;

for (const [zone, wall, at] of TIMES) {
  test(`Wall-clock time ${wall} in ${zone} is ${at}`, () => {
    assert.equal(new Date(clockOf(zone).timeOf(Date.parse(`${wall}Z`))).toISOString(), new Date(at).toISOString());
  });
}

test('Wall-clock times convert back to their time, or to the first of two equal hours', () => {
  const zones = ['Europe/Berlin', 'America/St_Johns', 'Australia/Lord_Howe', 'UTC', 'Africa/Casablanca'];
  const clocks = new Map(zones.map((zone) => [zone, clockOf(zone)]));
  fc.assert(
    fc.property(
      fc.constantFrom(...zones),
      fc.integer({ min: Date.parse('2000-01-01'), max: Date.parse('2040-01-01') }),
      (zone, atMs) => {
        const clock = clocks.get(zone);
        assert.ok(clock !== undefined);
        const found = clock.timeOf(clock.wallMs(atMs));
        assert.equal(clock.wallMs(found), clock.wallMs(atMs));
        assert.ok(found === atMs || (found < atMs && atMs - found <= 3_600_000), `${zone}, ${atMs}`);
      },
    ),
    { seed: 7, numRuns: 300 },
  );
});

test('A time input parses the value that it was filled with', () => {
  const atMs = Date.parse('2026-11-25T16:42:07Z');
  assert.equal(inputTime(inputText(atMs)), atMs);
  assert.ok(Number.isNaN(inputTime('')));
});

interface Source {
  readonly path: string;
  readonly text: string;
}

function sourcesOfUi(): readonly Source[] {
  const paths = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' });
  const ours = paths.filter((path) => /\.tsx?$/.test(path) && !/languages\/[a-z]{2}(_pages)?\.ts$/.test(path)).sort();
  return ours.map((path) => ({ path, text: readFileSync(FOLDER + path, 'utf8') }));
}

/** Attributes that users read, or that screen readers speak. */
const READ = /^(label|title|aria-label|alt|help|hint|lead|about|meaning|example|placeholder|action)$/;
/** Elements whose text is the same in every language. */
const VERBATIM = /^(code|pre|kbd|style)$/;
/** Names, units, and examples of values. */
const UNTRANSLATED =
  /^(JSON|owner|type|forklift|high|\{"times": 3\}|EPSG:\d+|8\.68, 50\.11|Natural Earth|[a-z]|min|ms|m)$/;

/** Texts in code that are not shown or are translated later, with the reason. */
const FOR_MACHINES: readonly (readonly [path: RegExp, text: RegExp, why: string])[] = [
  [/^problems\/sentences/, /^(must|is|was|Your roles)\b/, 'are English messages of reasons'],
  [/^languages\/[a-z]{2}_reasons/, /./, 'are the translated messages of reasons'],
  [/^hub\/live_socket/, /^beat of the web UI$/, 'is sent to the hub'],
  [/^shell\/service_worker/, /^the page is of another build$/, 'is caught by the browser'],
  [/^formats\/table_columns/, /^name$/, 'is a heading of files'],
  [/^formats\/write_drawing/, /^<Data /, 'is markup'],
  [/^controls\/icons/, /^M\d/, 'are paths'],
  [/./, /sans-serif$/, 'are fonts'],
  [/./, /^(UWB|Wi-Fi|GPS|RFID|iBeacon|ISO 24730|omlox)$/, 'are names of technologies'],
  [/^lists\//, /^(GeoJSON|KML|CSV|curl)$/, 'are names of formats and programs'],
  [/^languages\/(language|catalogs)/, /^[A-ZÀ-Ý]\p{L}+$/u, 'are languages, each in its own'],
  [/^events\/occupancy_view/, /^1 h$/, 'is written so in every language'],
  [/^setup\/fields\/draft_fields/, /^\{"driver"/, 'is JSON'],
  [/^map\/view\/map_view/, /^Cannot use a map/, 'is for developers of the page'],
];

function isForMachines(path: string, text: string): boolean {
  return FOR_MACHINES.some(([where, what]) => where.test(path) && what.test(text));
}

type Node = Readonly<Record<string, unknown>>;

/** User-visible texts of a syntax tree that bypass the catalog. */
function literalsIn(node: unknown): readonly string[] {
  if (Array.isArray(node)) return node.flatMap(literalsIn);
  if (typeof node !== 'object' || node === null) return [];
  const { type, value, opening, name } = node as Node & { readonly opening?: Node; readonly name?: Node };
  if (type === 'JSXElement' && VERBATIM.test(String((opening?.['name'] as Node | undefined)?.['value']))) return [];
  if (type === 'JSXText') return wordsIn(String(value));
  if (type === 'JSXAttribute') return READ.test(String(name?.['value'])) ? stringsIn(value) : literalsIn(value);
  return Object.values(node).flatMap(literalsIn);
}

/** Strings that an attribute may have: its literal, or the branches of a condition. */
function stringsIn(value: unknown): readonly string[] {
  const { type, expression, consequent, alternate } = (value ?? {}) as Node;
  const written = textOf((value ?? {}) as Node);
  if (written !== undefined) return wordsIn(written);
  if (type === 'JSXExpressionContainer') return stringsIn(expression);
  if (type === 'ConditionalExpression') return [consequent, alternate].flatMap(stringsIn);
  return [];
}

/** Functions that look up their argument in the catalog. */
const LOOKS_UP = /^(t|tParts|countedText)$/;
/** Functions that display their argument. */
const SHOWS = /^toast$|Error$|^Refused$/;
/** Words with spaces between them, or around values. */
const WORDS = /[A-Za-z}],? [a-z]{2,} [A-Za-z{]|[A-Z][a-z]+,? [a-z]{2,}/;

/** User-visible texts in code without markup that bypass the catalog. */
function madeIn(node: unknown): readonly string[] {
  if (Array.isArray(node)) return node.flatMap(madeIn);
  if (typeof node !== 'object' || node === null) return [];
  const { type, callee, arguments: given = [], key, value } = node as Node & { readonly key?: Node };
  if (/^(Import|ExportAll|Ts(?!.*(Expression|Assertion)$))/.test(String(type))) return [];
  const text = textOf(node as Node);
  // The receiver of a catalog text looks it up.
  if (text !== undefined && TEXTS.includes(text)) return [];
  if (text !== undefined && WORDS.test(text)) return [text];
  if (type === 'CallExpression' || type === 'NewExpression') {
    const name = String((callee as Node)['value']);
    const [first, ...rest] = (given as readonly Node[]).map((argument) => argument['expression'] as Node);
    if (LOOKS_UP.test(name)) return rest.flatMap(madeIn);
    if (SHOWS.test(name)) return [...shownIn(first), ...rest.flatMap(madeIn)];
  }
  if (type === 'KeyValueProperty' && READ.test(String(key?.['value']))) return shownIn(value);
  return Object.values(node).flatMap(madeIn);
}

/** Whether a text is always displayed. */
function shownIn(node: unknown): readonly string[] {
  const text = textOf((node ?? {}) as Node);
  return text === undefined ? madeIn(node) : wordsIn(text);
}

/** A literal, with `{}` for each inserted value. */
function textOf({ type, value, quasis }: Node): string | undefined {
  if (type === 'StringLiteral') return String(value);
  if (type !== 'TemplateLiteral') return undefined;
  return (quasis as readonly Node[]).map(({ cooked }) => String(cooked)).join('{}');
}

function wordsIn(text: string): readonly string[] {
  const trimmed = text.trim().replaceAll(/\s+/g, ' ');
  return /[A-Za-z]/.test(trimmed) && !UNTRANSLATED.test(trimmed) ? [trimmed] : [];
}
