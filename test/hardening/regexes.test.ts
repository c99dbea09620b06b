import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSourceFiles } from '../tidy/source_file.ts';

/** Finds all regular expressions, and some texts between slashes, which do no harm here. */
const LITERAL = /(?<![\w)\]*'"`/])\/(?![/*])((?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)\/([dgimsuvy]*)/g;
const LENGTH = 100_000;
/** What is linear takes a millisecond, what is not takes many seconds. */
const SLOW_MS = 2_000;

const SOURCES = readSourceFiles().filter(({ path }) => !/^(test|bench)\//.test(path));

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

/** Texts that many a pattern takes to be its own, until their very end. */
function long(unit: string): string[] {
  return STARTS.map((start) => `${start}${unit.repeat(LENGTH / unit.length)}\u0001`);
}

/** With those of its own characters. */
function attacks({ source }: RegExp): string[] {
  const own = source.replaceAll(/\\[wdsbWDSB]|[\^$()[\]?+*{}|\\]/g, '');
  return [...COMMON, ...[...new Set(own)].flatMap(long)];
}

test('No regular expression of the hub takes more than linear time, whatever it is given', () => {
  let count = 0;
  for (const { path, text } of SOURCES) {
    for (const [literal, source = '', flags = ''] of text.matchAll(LITERAL)) {
      const pattern = compiled(source, flags);
      if (pattern === undefined) continue;
      count++;
      for (const attack of attacks(pattern)) {
        const startMs = performance.now();
        pattern.lastIndex = 0;
        pattern.test(attack);
        const tookMs = performance.now() - startMs;
        assert.ok(tookMs < SLOW_MS, `${path}: ${literal} on ${JSON.stringify(attack.slice(0, 30))}`);
      }
    }
  }
  assert.ok(count > 40, `only ${count} were found`);
});

test('The check finds a regular expression that is slow', () => {
  const startMs = performance.now();
  // Spaces that are not the last are looked at from each of them anew.
  / +$/.test(`${' '.repeat(30_000)}\u0001`);
  assert.ok(performance.now() - startMs > 100);
});

/** Files that put regular expressions together from constants, and the test that gives each large texts. */
const FROM_CONSTANTS = {
  'src/hub-ui/problems/reasons.ts': 'test/hub-ui/reasons.test.ts',
  'src/hub-ui/setup/read_position.ts': 'test/hub-ui/setup_functions.test.ts',
  'src/model/json.ts': 'test/model/lossless_numbers.test.ts',
  'src/model/lossless_numbers.ts': 'test/model/lossless_numbers.test.ts',
};

test('The hub makes no regular expression from what it is given', () => {
  const made = SOURCES.filter(({ code }) => /\bRegExp\(/.test(code)).map(({ path }) => path);
  assert.deepEqual(made.sort(), Object.keys(FROM_CONSTANTS));
});
