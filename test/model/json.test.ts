import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseJson, UnsupportedJson, unsupportedReason } from '../../src/model/json.ts';

const arrays = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
const PROTO = 'is a name that cannot be stored';
const HALF = 'must be well-formed Unicode, found half of a surrogate pair';
const DEEP = 'must be nested at most 200 levels deep, found more';

const UNFIT: readonly (readonly [text: string, problem: string])[] = [
  ['{"__proto__":1}', `__proto__: ${PROTO}`],
  ['{"a":[{"b":{"__proto__":{}}}]}', `a[0].b.__proto__: ${PROTO}`],
  ['{"\\u005f_proto__":1}', `__proto__: ${PROTO}`],
  ['{"__pr\\u006Fto__":1}', `__proto__: ${PROTO}`],
  ['{"a":"\\ud800"}', `a: ${HALF}`],
  ['"\\uDBFFx"', `body: ${HALF}`],
  ['["\\udc00\\ud800"]', `[0]: ${HALF}`],
  ['{"\\ud83d":1}', `\ufffd: ${HALF}`],
  ['{"__proto__":1e999}', `__proto__: ${PROTO}`],
  [`{"a":"__proto__","b":${arrays(300)}}`, `body: ${DEEP}`],
  [arrays(600_000), `body: ${DEEP}`],
  [
    `{"a":"${'"]'.replace('"', '\\"').repeat(10)}","b":${' ['.repeat(600_000)}1${']'.repeat(600_000)}}`,
    `body: ${DEEP}`,
  ],
];

const FIT: readonly string[] = [
  '{"a":"__proto__","b":"\\ud83e\\udd8a","c":"\\u00e4\\u0000"}',
  '{"constructor":{"prototype":{"a":1}},"toString":1,"hasOwnProperty":null,"":[]}',
  '"\\\\ud800"',
  '[1e308,-1e308,5e-324,9007199254740993]',
  JSON.stringify({ polygon: Array.from({ length: 100_000 }, (_, i) => [i, -i]) }),
  JSON.stringify({ text: '[{'.repeat(600_000), quoted: '"]\\'.repeat(100_000) }),
];

describe('parseJson', () => {
  for (const [text, problem] of UNFIT) {
    it(`rejects ${text.slice(0, 60)}`, () => {
      assert.throws(
        () => parseJson(text),
        (error: Error) => error instanceof UnsupportedJson && error.message === problem,
      );
    });
  }

  for (const text of FIT) {
    it(`accepts ${text.slice(0, 60)}`, () => assert.deepEqual(parseJson(text), JSON.parse(text)));
  }

  it('throws a SyntaxError for invalid JSON', () => {
    for (const text of ['', '{', 'NaN', 'Infinity', '{"a":NaN}', '01', '"\ud800', '{"__proto__":']) {
      assert.throws(() => parseJson(text), SyntaxError, text);
    }
  });

  it('accepts as many levels as its argument permits', () => {
    assert.throws(() => parseJson(arrays(600_000), 300), /at most 300 levels/);
    assert.doesNotThrow(() => parseJson(`[${'[1],'.repeat(400_000)}1]`, 2));
  });

  it('returns the result of JSON.parse, if it can be serialized without a change', () => {
    const hazards = fc.constantFrom('__proto__', '\ud800', '\udc00', '_', 'proto', 'toJSON');
    const anyText = fc.oneof(hazards, fc.string({ unit: 'binary' }), fc.string());
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        anyText,
        fc.array(tie('value'), { maxLength: 3 }),
        fc.array(fc.tuple(anyText, tie('value')), { maxLength: 3 }).map((pairs) => Object.fromEntries(pairs)),
      ),
    }));
    const written = fc.tuple(value, fc.boolean()).map(([made, escapes]) => {
      const text = JSON.stringify(made);
      const escaped = (letter: string): string => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;
      return escapes ? text.replaceAll(/[a-z_]/g, escaped).replaceAll(/\\u[0-9a-f]{4}/g, (e) => e) : text;
    });
    let refused = 0;
    fc.assert(
      fc.property(written, (text) => {
        let parsed: unknown;
        try {
          parsed = JSON.parse(text);
        } catch {
          // An escape within an escape.
          assert.throws(() => parseJson(text), SyntaxError);
          return;
        }
        const problem = unsupportedReason(parsed);
        if (problem === undefined) {
          assert.deepEqual(parseJson(text), parsed);
          return;
        }
        refused++;
        assert.throws(() => parseJson(text), UnsupportedJson);
      }),
      { numRuns: 2000, seed: 6 },
    );
    assert.ok(refused > 100, `only ${refused} were refused`);
  });
});

describe('unsupportedReason', () => {
  it('names numbers that are too large, and invalid strings', () => {
    assert.equal(
      String(unsupportedReason(JSON.parse('{"a":[1,1e999]}'))),
      'a[1]: must be a finite number, found one too large',
    );
    assert.equal(
      String(unsupportedReason(JSON.parse('-1e999'), { root: 'radius' })),
      'radius: must be a finite number, found one too large',
    );
    assert.equal(String(unsupportedReason({ a: '\ud800' }, { root: 'properties' })), `properties.a: ${HALF}`);
  });

  it('counts levels', () => {
    assert.equal(unsupportedReason(JSON.parse(arrays(200))), undefined);
    assert.equal(String(unsupportedReason(JSON.parse(arrays(201)))), `body: ${DEEP}`);
    assert.equal(
      String(unsupportedReason(JSON.parse(arrays(500_000)), { root: 'x', depthMax: 3 })),
      'x: must be nested at most 3 levels deep, found more',
    );
    assert.equal(unsupportedReason(JSON.parse(arrays(3)), { depthMax: 3 }), undefined);
  });
});
