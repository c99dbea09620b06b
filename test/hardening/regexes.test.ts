import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSourceFiles } from '../tidy/source_file.ts';

/** Matches all regular expressions, and some other strings between slashes, which do no harm here. */
const LITERAL = /(?<![\w)\]*'"`/])\/(?![/*])((?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)\/([dgimsuvy]*)/g;
const LENGTH = 40_000;
/** A linear expression takes a millisecond, a quadratic one a second and more. */
const SLOW_MS = 100;
/** Attempts for an expression that seems slow: the machine may have been busy. */
const TRIES = 4;

const SOURCES = readSourceFiles().filter(({ path }) => !/^(test|bench|deploy)\//.test(path));

function compiled(source: string, flags: string): RegExp | undefined {
  try {
    return new RegExp(source, flags);
  } catch {
    return undefined;
  }
}

const STARTS = ['', '1', '2026-01-01T00:00:00.'];
const UNITS = ['a', 'Z', '0', ' ', '\t', '.', '/', "''", "a'", '0.', '1e', ' \t', '~0', 'a=', '-1', ': '];
const COMMON = UNITS.flatMap(long);

/** Strings that many patterns match until the very last character. */
function long(unit: string): string[] {
  return STARTS.map((start) => `${start}${unit.repeat(LENGTH / unit.length)}\u0001`);
}

/** Common strings, and strings of the pattern's own characters. */
function attacks({ source }: RegExp): string[] {
  const own = source.replaceAll(/\\[wdsbWDSB]|[\^$()[\]?+*{}|\\]/g, '');
  return [...COMMON, ...[...new Set(own)].flatMap(long)];
}

/** Time of the fastest attempt. */
function leastMs(pattern: RegExp, text: string): number {
  let least = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < TRIES && least >= SLOW_MS; tries++) {
    const startMs = performance.now();
    pattern.lastIndex = 0;
    pattern.test(text);
    least = Math.min(least, performance.now() - startMs);
  }
  return least;
}

test('No regular expression of the hub takes more than linear time for any input', () => {
  let count = 0;
  const slow: string[] = [];
  for (const { path, text } of SOURCES) {
    for (const [literal, source = '', flags = ''] of text.matchAll(LITERAL)) {
      const pattern = compiled(source, flags);
      if (pattern === undefined) continue;
      count++;
      const attack = attacks(pattern).find((text) => leastMs(pattern, text) >= SLOW_MS);
      if (attack !== undefined) slow.push(`${path}: ${literal} on ${JSON.stringify(attack.slice(0, 30))}`);
    }
  }
  assert.deepEqual(slow, []);
  assert.ok(count > 40, `only ${count} were found`);
});

test('The check finds a slow regular expression', () => {
  // Each space is tried as the start of the trailing ones.
  assert.ok(leastMs(/ +$/, `${' '.repeat(LENGTH)}\u0001`) > SLOW_MS);
});

/** Files that compose regular expressions from constants, and the test that passes large strings to each. */
const FROM_CONSTANTS = {
  'src/hub-ui/setup/map/read_position.ts': 'test/hub-ui/setup_functions.test.ts',
  'src/model/json.ts': 'test/model/lossless_numbers.test.ts',
  'src/model/lossless_numbers.ts': 'test/model/lossless_numbers.test.ts',
};

test('The hub makes no regular expression from input', () => {
  const made = SOURCES.filter(({ code }) => /\bRegExp\(/.test(code)).map(({ path }) => path);
  assert.deepEqual(made.sort(), Object.keys(FROM_CONSTANTS));
});
