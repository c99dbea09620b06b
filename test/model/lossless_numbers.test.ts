import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseExactJson, parseJson, unsupportedReason } from '../../src/model/json.ts';
import {
  exactInProperties,
  exactNumberOf,
  isSameNumber,
  ordinary,
  parseLossless,
} from '../../src/model/lossless_numbers.ts';
import { pack, unpackMotions } from '../../src/wire/messages.ts';
import { anyJson, anyNumber, exactly } from './json_texts.ts';

const ODD = [
  '723413320329068590',
  '1.0',
  '-0',
  '1e2',
  '0.10',
  '1E-7',
  '0.0000001',
  '12345678901234567890.50',
  '1e-400',
];

describe('parseJson', () => {
  it('preserves numbers in properties and sensors that JSON.parse would change, and none elsewhere', () => {
    for (const odd of ODD) {
      const changed = JSON.stringify(JSON.parse(odd));
      assert.notEqual(changed, odd);
      const rows: readonly (readonly [text: string, written: string])[] = [
        [`{"properties":{"a":${odd}}}`, `{"properties":{"a":${odd}}}`],
        [`{"properties":{"a":[{"b":[[${odd}]]}]}}`, `{"properties":{"a":[{"b":[[${odd}]]}]}}`],
        [`{"properties":{"properties":{"a":${odd}}}}`, `{"properties":{"properties":{"a":${odd}}}}`],
        [`[{"properties":{"a":${odd}}},{"radius":${odd}}]`, `[{"properties":{"a":${odd}}},{"radius":${changed}}]`],
        [
          `{"payload":[{"x":${odd},"properties":{"a":${odd}}}]}`,
          `{"payload":[{"x":${changed},"properties":{"a":${odd}}}]}`,
        ],
        [`{"sensors":${odd}}`, `{"sensors":${odd}}`],
        [`{"sensors":[${odd}]}`, `{"sensors":[${odd}]}`],
        [`{"properties":${odd}}`, `{"properties":${changed}}`],
        [`{"a":"\\"properties","b":{"a":${odd}}}`, `{"a":"\\"properties","b":{"a":${changed}}}`],
        [`{"\\"properties":{"a":${odd}}}`, `{"\\"properties":{"a":${changed}}}`],
        [`{"prop\\u0065rties":{"a":${odd}}}`, `{"properties":{"a":${odd}}}`],
        [`{ "properties" :\n{ "a" :\t${odd} } }`, `{"properties":{"a":${odd}}}`],
      ];
      for (const [text, written] of rows) {
        assert.equal(JSON.stringify(parseJson(text)), written, text);
        assert.equal(JSON.stringify(parseLossless(text)), written, text);
      }
    }
  });

  it('uses the last of duplicate members, as JSON.parse does', () => {
    const rows: readonly (readonly [text: string, written: string])[] = [
      ['{"a":1.0,"a":2}', '{"a":2}'],
      ['{"a":2,"a":1.0}', '{"a":1.0}'],
      ['{"a":1.0,"a":{"b":1.0}}', '{"a":{"b":1.0}}'],
      ['{"a":{"b":1.0},"a":2.0}', '{"a":2.0}'],
      ['{"a":[1.0],"a":{"0":5}}', '{"a":{"0":5}}'],
      ['{"a":{"b":1.0,"c":2.0},"a":{"b":3}}', '{"a":{"b":3}}'],
      ['{"a":1.0,"a":"1.0"}', '{"a":"1.0"}'],
      ['{"a":1.0,"a":null}', '{"a":null}'],
      ['{"a":null,"a":1.0}', '{"a":1.0}'],
    ];
    for (const [text, written] of rows) {
      assert.equal(JSON.stringify(parseJson(`{"properties":${text}}`)), `{"properties":${written}}`, text);
      const twice = `{"properties":{"x":9.0},"properties":${text}}`;
      assert.equal(JSON.stringify(parseJson(twice)), `{"properties":${written}}`, text);
    }
  });

  it('creates ordinary numbers for those that are serialized unchanged', () => {
    for (const text of [
      '0',
      '-1',
      '999999999999999',
      '0.1',
      '-12.5',
      '9007199254740991',
      '0.000001',
      '1e+21',
      '5e-324',
    ]) {
      assert.equal(
        (parseJson(`{"properties":{"a":${text}}}`) as { properties: { a: unknown } }).properties.a,
        Number(text),
      );
    }
  });

  it('leaves numbers that are too large to later checks', () => {
    const found = parseJson('{"properties":{"a":[1.0,1e999]}}');
    assert.equal(String(unsupportedReason(found)), 'properties.a[1]: must be a finite number, found one too large');
  });

  it('does not count a number as a level, and reports deep nesting without an overflow', () => {
    const nested = (levels: number) => `{"properties":${'['.repeat(levels)}1.0${']'.repeat(levels)}}`;
    assert.equal(JSON.stringify(parseJson(nested(199))), nested(199));
    assert.equal(unsupportedReason(parseJson(nested(199))), undefined);
    assert.match(String(unsupportedReason(parseJson(nested(200)))), /at most 200 levels/);
    assert.match(String(unsupportedReason(parseJson(nested(100_000)))), /at most 200 levels/);
  });

  it('handles large strings of every kind', () => {
    for (const text of [
      `{"properties":{"a":"${'x'.repeat(9_000_000)}","b":1.0}}`,
      `{"properties":{"a":"${'\\"'.repeat(4_000_000)}","b":1.0}}`,
      `{"properties":{${' '.repeat(9_000_000)}"b":1.0}}`,
      `{"properties":[${'1.0,'.repeat(1_000_000)}1]}`,
      `{"a":{${'"b":[1,2],'.repeat(900_000)}"properties":{"b":1.0}}}`,
      `[${'{"properties":{"a":{"b":1}}},'.repeat(300_000)}1]`,
      `{"properties":{"a":{"b":[${'1,'.repeat(2_000_000)}1.0],"c":{"d":1.0}}}}`,
      `${`{"x":[${'1,'.repeat(40_000)}1],"a":`.repeat(100)}1${'}'.repeat(100)},"properties":[1.0]}`.replace(
        '{',
        '{"y":{',
      ),
      `{"properties":{},"a":[${'"properties",'.repeat(500_000)}1],"sensors":1.0}`,
      `{"a":{${'"b":"c",'.repeat(900_000)}"d":{}},"sensors":1.0}`,
      `{"properties":{"a":${'1'.repeat(300)}.${'0'.repeat(5_000_000)}}}`,
    ]) {
      const startMs = performance.now();
      parseJson(text);
      assert.ok(performance.now() - startMs < 10_000, text.slice(0, 40));
    }
  });

  it('preserves every digit of any JSON in properties, in any notation', () => {
    fc.assert(
      fc.property(anyJson, fc.boolean(), (text, isList) => {
        const body = isList ? `[{"a":1,"properties": ${text} ,"b":[]},{}]` : `{"sensors":${text}}`;
        assert.equal(JSON.stringify(parseJson(body)), exactly(body));
      }),
      { numRuns: 3000, seed: 102 },
    );
  });
});

describe('parseExactJson', () => {
  it('preserves every digit of any JSON anywhere', () => {
    fc.assert(
      fc.property(anyJson, (text) => assert.equal(JSON.stringify(parseExactJson(text)), exactly(text))),
      { numRuns: 3000, seed: 103 },
    );
  });
});

describe('ExactNumber', () => {
  it('can be passed from thread to thread', () => {
    const sent = parseExactJson('{"toJSON":1.0,"a":[{"b":723413320329068590}],"c":2}');
    const came = unpackMotions(pack(sent as never)) as unknown;
    assert.equal(JSON.stringify(came), '{"toJSON":1.0,"a":[{"b":723413320329068590}],"c":2}');
  });

  it('becomes an ordinary number outside of application data', () => {
    const entity = parseExactJson('{"radius":1.50,"region":[{"a":2.0}],"properties":{"a":3.0},"sensors":4.0}');
    const shown = '{"radius":1.5,"region":[{"a":2}],"properties":{"a":3.0},"sensors":4.0}';
    assert.equal(JSON.stringify(exactInProperties(entity)), shown);
    assert.deepEqual(ordinary(entity), JSON.parse(shown));
    assert.deepEqual(exactInProperties(parseExactJson('{"properties":3.0}')), { properties: 3 });
    assert.equal(exactInProperties(parseExactJson('3.0')), 3);
    assert.deepEqual(exactInProperties(parseExactJson('[3.0]')), [3]);
  });
});

describe('isSameNumber', () => {
  it('compares by value, to the last digit', () => {
    const same = (a: string, b: string) => isSameNumber(exactNumberOf(a), exactNumberOf(b));
    for (const [a, b] of [
      ['1', '1.0'],
      ['0', '-0.0'],
      ['100', '1e2'],
      ['15e-1', '1.50'],
      ['0.001', '1E-3'],
      ['723413320329068590', '723413320329068590.0'],
      ['-12e300', '-1.2e301'],
      ['0e99999999999999999999', '0'],
    ] as const) {
      assert.ok(same(a, b), `${a} ${b}`);
    }
    for (const [a, b] of [
      ['723413320329068590', '723413320329068591'],
      ['1', '-1.0'],
      ['1', '10.0'],
      ['1.0000000000000000000001', '1'],
      ['1e-400', '0'],
      ['1e-400', '1e-401'],
      ['1e-99999999999999999998', '1e-99999999999999999999'],
    ] as const) {
      assert.ok(!same(a, b), `${a} ${b}`);
    }
  });

  it('is reflexive for any number', () => {
    fc.assert(
      fc.property(anyNumber, (text) => isSameNumber(exactNumberOf(text), exactNumberOf(text))),
      { seed: 104 },
    );
  });
});
