import { problemWith } from '../support/errors.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseExactJson, parseJson, UnsupportedJson, unsupportedReason } from '../../src/model/json.ts';
import { LongJson } from '../../src/model/long_json.ts';
import { anyJson } from './json_texts.ts';

interface Options {
  readonly partLength?: number;
  readonly textMax?: number;
  readonly depthMax?: number;
  readonly everywhere?: boolean;
}

function readLong(text: string, options?: Options): unknown {
  const long = new LongJson(Buffer.from(text), options);
  while (!long.readPart());
  return long.value;
}

/** Value of a string that is parsed as a whole, or the reason of its rejection. */
function readWhole(text: string, { everywhere = false, depthMax = 200 }: Options = {}): unknown {
  const value = everywhere ? parseExactJson(text, depthMax) : parseJson(text, depthMax);
  const problem = unsupportedReason(value, { depthMax });
  if (problem !== undefined) throw new UnsupportedJson(problem);
  return value;
}

const anyLength = fc.integer({ min: 1, max: 40 });

test('strings are parsed in parts with the same result as whole', () => {
  const each = fc.property(anyJson, anyLength, fc.boolean(), (text, partLength, everywhere) => {
    const read = readLong(text, { partLength, everywhere });
    const whole = readWhole(text, { everywhere });
    assert.deepEqual(read, whole);
    assert.equal(JSON.stringify(read), JSON.stringify(whole));
  });
  fc.assert(each, { numRuns: 5000, seed: 12 });
});

const PIECES = [
  ...'[]{},:" \n\\1-a',
  '"a"',
  '"properties"',
  '1.0',
  '"__proto__"',
  '\\ud800',
  'null',
  '[1,2]',
  '{"a":1}',
];
const UNFIT = /__proto__|\\ud800/;
const anyMutation = fc.record({
  at: fc.nat({ max: 400 }),
  deleted: fc.nat({ max: 3 }),
  inserted: fc.array(fc.constantFrom(...PIECES), { maxLength: 2 }).map((texts) => texts.join('')),
});

test('invalid and unsupported JSON is rejected in parts as it is as a whole', () => {
  let refused = 0;
  const each = fc.property(
    anyJson,
    fc.array(anyMutation, { maxLength: 3 }),
    anyLength,
    (json, mutations, partLength) => {
      let text = json;
      for (const { at, deleted, inserted } of mutations) {
        const from = at % (text.length + 1);
        text = text.slice(0, from) + inserted + text.slice(from + deleted);
      }
      let whole: unknown;
      try {
        whole = readWhole(text);
      } catch (error) {
        refused++;
        assert.throws(
          () => readLong(text, { partLength }),
          (found) => found instanceof SyntaxError || found instanceof UnsupportedJson,
          `${text}: ${String(error)}`,
        );
        return;
      }
      try {
        assert.deepEqual(readLong(text, { partLength }), whole, text);
      } catch (error) {
        // A later member with the same name has replaced it.
        assert.ok(error instanceof UnsupportedJson && UNFIT.test(text), `${text}: ${String(error)}`);
      }
    },
  );
  fc.assert(each, { numRuns: 20_000, seed: 34 });
  assert.ok(refused > 2000, `${refused} were refused`);
});

const long = 'x'.repeat(100);
const REFUSED: readonly [text: string, message: string][] = [
  [`[1,"${long}",{"a":{"b":["${long}",{"__proto__":1}]}}]`, '[2].a.b[1].__proto__: is a name that cannot be stored'],
  [
    `{"list":["${long}","${long}",{"a":"\\ud800"}]}`,
    'list[2].a: must be well-formed Unicode, found half of a surrogate pair',
  ],
  [`{"list":["${long}",[[[["${long}"]]]]]}`, 'body: must be nested at most 5 levels deep, found more'],
  [`["${long}",[2,"${long}",1e999]]`, '[1][2]: must be a finite number, found one too large'],
  [`{"\\ud800":["${long}"]}`, '\ufffd: must be well-formed Unicode, found half of a surrogate pair'],
];

for (const [text, message] of REFUSED) {
  test(`an error in a long string has the path of its value: ${message}`, () => {
    assert.throws(() => readLong(text, { partLength: 20, depthMax: 5 }), new UnsupportedJson(problemWith(message)));
  });
}

test('an object has a bounded number of members, read whole or in parts', () => {
  const members = (count: number) => `{"deep":{${Array.from({ length: count }, (_, n) => `"${n}":${n}`).join()}}}`;
  for (const read of [readWhole, readLong]) {
    assert.equal(Object.keys((read(members(10_000)) as { deep: object }).deep).length, 10_000);
    assert.throws(
      () => read(members(10_001)),
      new UnsupportedJson(problemWith('deep: must have at most 10,000 members, found 10,001')),
    );
  }
  assert.throws(
    () => readLong(members(900_000)),
    /^UnsupportedJson: deep: must have at most 10,000 members, found 1\d,\d{3}$/,
  );
});

test('a byte order mark is ignored only at the beginning of a string', () => {
  assert.deepEqual(readLong('\ufeff[1, 2]', { partLength: 1 }), [1, 2]);
  assert.deepEqual(readLong('\ufeff{}'), {});
  for (const partLength of [1, 100]) assert.throws(() => readLong('[1,\ufeff2]', { partLength }), SyntaxError);
});

test('bytes that are not UTF-8 are rejected at any position', () => {
  for (const bytes of [
    [0x5b, 0x22, 0xff, 0x22, 0x5d],
    [0x5b, 0xff, 0x5d],
    [0x5b, 0x31, 0x2c, 0x22, 0xc3, 0x22, 0x5d],
  ]) {
    for (const partLength of [1, 100]) {
      const long = new LongJson(Uint8Array.from(bytes), { partLength });
      assert.throws(() => {
        while (!long.readPart());
      });
    }
  }
});

test('a string that is too long is rejected before it is parsed', () => {
  assert.deepEqual(readLong('["abcde"]', { textMax: 5 }), ['abcde']);
  const refused = new UnsupportedJson(problemWith('body: must have texts of at most 5 bytes, found 1,000'));
  assert.throws(() => readLong(`["${'a'.repeat(1000)}"]`, { textMax: 5 }), refused);
});
