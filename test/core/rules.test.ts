import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { compileExpression, compileRules, type RuleFacts, significant } from '../../src/core/rules/evaluate.ts';
import type { RuleValue } from '../../src/core/rules/operators.ts';
import { parseRule } from '../../src/core/rules/parse.ts';
import { HubError } from '../../src/errors.ts';

const FACTS: RuleFacts = {
  timestamp_diff: 1500,
  accuracy: 0.5,
  provider_id: 'Tag-7',
  type: 'uwb',
  source: 'hall-1',
  floor: 2,
  speed: undefined,
};

function evaluate(expression: string, facts: RuleFacts = FACTS): RuleValue {
  return compileExpression(parseRule(expression))(facts);
}

const VALUES: readonly (readonly [expression: string, value: RuleValue])[] = [
  // comparisons
  ["type = 'uwb'", 1],
  ["type == 'uwb'", 1],
  ["type = 'UWB'", 0],
  ["type != 'uwb'", 0],
  ["type <> 'gps'", 1],
  ["TYPE = 'uwb' and Accuracy < 1", 1],
  ['accuracy <= 0.5', 1],
  ['accuracy < .5', 0],
  ['accuracy >= 5e-1', 1],
  ['accuracy > 1', 0],
  ['timestamp_diff() = timestamp_diff', 1],
  ['timestamp_diff ( ) < 2000', 1],
  ["'a' < 'b'", 1],
  ["99 < '1'", 1],
  ["'1' > 99", 1],
  // double quotes: a property if one has that name, else a string
  ['type = "uwb"', 1],
  ['type = "UWB"', 0],
  ['"uwb" = "Type"', 1],
  ['"type" = "uwb" AND "ACCURACY" < 1', 1],
  ['"timestamp_diff"() < 2000', 1],
  ['type = "say ""uwb"""', 0],
  ['\'say "uwb"\' = "say ""uwb"""', 1],
  ["\"it's\" = 'it''s'", 1],
  ['"colour" IS NULL', 0],
  ['"" = \'\'', 1],
  ['type LIKE "U_b"', 1],
  ['floor = "2"', 1],
  // properties have a type, and literals convert to it
  ["floor = '2'", 1],
  ["floor = ' 2.0 '", 1],
  ["floor < 'two'", 1],
  ['provider_id = 7', 0],
  ["2 = '2'", 0],
  // NULL
  ['speed > 1', null],
  ['speed = speed', null],
  ['speed IS NULL', 1],
  ['speed isnull', 1],
  ['speed NOT NULL', 0],
  ['speed NOTNULL', 0],
  ['accuracy IS NOT NULL', 1],
  ['NOT speed > 1', null],
  ['speed > 1 OR floor = 2', 1],
  ['speed > 1 OR floor = 3', null],
  ['speed > 1 AND floor = 3', 0],
  ['speed > 1 AND floor = 2', null],
  ['floor = 2 AND speed > 1', null],
  ['speed + 1', null],
  ['-speed', null],
  ['~speed', null],
  ["speed LIKE '%'", null],
  ['(speed > 1) IS NULL', 1],
  // LIKE
  ["provider_id LIKE 'tag-%'", 1],
  ["provider_id LIKE 'TAG-_'", 1],
  ["provider_id LIKE 'tag'", 0],
  ["provider_id NOT LIKE 'x%'", 1],
  ["floor LIKE '2'", 1],
  // precedence
  ['1 OR 0 AND 0', 1],
  ['(1 OR 0) AND 0', 0],
  ['NOT 1 = 2', 1],
  ['NOT NOT 5', 1],
  ['2 + 3 * 4', 14],
  ['(2 + 3) * 4', 20],
  ['10 - 2 - 3', 5],
  ['1 + 1 << 2', 8],
  ['- - 3', 3],
  ['-3 + 5', 2],
  // arithmetic
  ['7 / 2', 3.5],
  ['1 / 0', null],
  ['1 / 0 > 5', null],
  ['0.0 / 0', null],
  ['7 % 3', 1],
  ['-7 % 3', -1],
  ['7.9 % 3.9', 1],
  ['7 % 0.5', null],
  ["'12abc' + 1", 13],
  ["'abc' + 1", 1],
  ["+'abc'", 'abc'],
  ['1e308 * 10 - 1e308 * 10', null],
  // bits
  ['6 & 3', 2],
  ['6 | 1', 7],
  ['~0', -1],
  ['~5', -6],
  ['4294967296 | 1', 4294967297],
  ['1 << 40', 2 ** 40],
  ['1 << 63', -(2 ** 63)],
  ['1 << 64', 0],
  ['8 >> 2', 2],
  ['8 >> -2', 32],
  ['-8 >> 1', -4],
  ['-8 >> 100', -1],
  ['8 << -3', 1],
  ['5.9 & 7', 5],
  ['1e30 & 1', 1],
  // literals
  ["'it''s'", "it's"],
  ["''", ''],
  ['3.', 3],
];

suite('rule expressions', () => {
  for (const [expression, value] of VALUES) {
    test(`${expression} is ${JSON.stringify(value)}`, () => assert.equal(evaluate(expression), value));
  }

  test('a provider id of digits equals the number', () => {
    assert.equal(evaluate('provider_id = 12', { ...FACTS, provider_id: '12' }), 1);
  });

  const ERRORS: readonly (readonly [expression: string, message: string])[] = [
    ['', 'expression: expected a value at column 1, found nothing'],
    ['accuracy <', 'expression: expected a value at column 11, found nothing'],
    ['accuracy 5', 'expression: expected AND, OR or the end at column 10, found 5'],
    ['(accuracy < 5', 'expression: expected ) at column 14, found nothing'],
    [
      'size < 5',
      'expression: expected one of timestamp_diff, accuracy, provider_id, type, source, floor, speed at column 1, ' +
        'found "size"',
    ],
    ["type = 'uwb", 'expression: expected a closing quote for the string at column 8, found the end'],
    ['type = "uwb', 'expression: expected a closing quote for the string at column 8, found the end'],
    ['accuracy < 5 ; x', 'expression: expected a value or an operator at column 14, found ";"'],
    ['accuracy < 5m', 'expression: expected a number at column 12, found "5m"'],
    ['accuracy < 1e999', 'expression: expected a number at column 12, found "1e999"'],
    ['a = AND', 'expression: expected one of'],
    ['type = AND', 'expression: expected a value at column 8, found "AND"'],
    ['type IS 5', 'expression: expected NULL at column 9, found 5'],
    ['type NOT 5', 'expression: expected LIKE or NULL after NOT at column 10, found 5'],
    ['1 < 2 < 3', 'expression: expected AND, OR or the end at column 7, found "<"'],
    ['timestamp_diff(1)', 'expression: expected ) at column 16, found 1'],
    [`${'('.repeat(65)}1${')'.repeat(65)}`, 'expression: expected at most 64 nested levels at column 66'],
    ['- '.repeat(2000), 'expression: expected at most 64 nested levels at column 131'],
    ['NOT '.repeat(1000), 'expression: expected at most 64 nested levels at column 261'],
    [`1${' + 1'.repeat(1100)}`, 'expression: must have at most 4,096 characters, found 4,401'],
  ];
  for (const [expression, message] of ERRORS) {
    test(`parseRule rejects ${JSON.stringify(expression.slice(0, 40))}`, () => {
      assert.throws(
        () => parseRule(expression),
        (error) => {
          assert.ok(error instanceof HubError);
          assert.equal(error.code, 'HUB_BAD_REQUEST');
          assert.ok(error.message.startsWith(message), error.message);
          return true;
        },
      );
    });
  }

  test('parseRule accepts 64 nested levels and long chains', () => {
    assert.equal(evaluate(`${'('.repeat(64)}1${')'.repeat(64)}`), 1);
    assert.equal(evaluate(`1${' + 1'.repeat(1000)}`), 1001);
    assert.equal(evaluate(`1${' AND 1'.repeat(600)}`), 1);
  });

  test('parseRule throws only HubError, and every parsed rule can be evaluated', () => {
    const word = fc.constantFrom(
      ...["'a'", "'", '1', '.5', '(', ')', 'NOT', 'AND', 'OR', 'LIKE', 'IS', 'NULL', 'ISNULL', 'NOTNULL', '<', '<<'],
      ...[
        '>',
        '>>',
        '=',
        '!=',
        '<>',
        '&',
        '|',
        '+',
        '-',
        '*',
        '/',
        '%',
        '~',
        'floor',
        'speed',
        'type',
        'timestamp_diff()',
      ],
    );
    const text = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.array(word, { maxLength: 12 }).map((w) => w.join(' ')),
    );
    let parsed = 0;
    fc.assert(
      fc.property(text, (expression) => {
        try {
          const value = evaluate(expression);
          parsed++;
          assert.ok(value === null || typeof value === 'string' || (typeof value === 'number' && !Number.isNaN(value)));
        } catch (error) {
          assert.ok(error instanceof HubError, String(error));
        }
      }),
      { seed: 7, numRuns: 3000 },
    );
    assert.ok(parsed > 20, `only ${parsed} expressions were valid`);
  });
});

suite('compileRules and significant', () => {
  const RULES = [
    { expression: "type = 'gps'", priority: 3 },
    { expression: "type = 'uwb' AND timestamp_diff < 10000", priority: 10 },
    { expression: 'accuracy < 10', priority: 9 },
    { expression: 'speed > 0', priority: 50 },
  ];

  test('compileRules returns the highest priority of the true expressions', () => {
    const ranking = compileRules(RULES);
    assert.equal(ranking(FACTS), 10);
    assert.equal(ranking({ ...FACTS, timestamp_diff: 10000 }), 9);
    assert.equal(ranking({ ...FACTS, type: 'gps', accuracy: undefined }), 3);
    assert.equal(ranking({ ...FACTS, speed: 1 }), 50);
    assert.equal(ranking({ ...FACTS, type: 'wifi', accuracy: null }), 0);
  });

  test('compileRules names the rule that cannot be parsed', () => {
    assert.throws(() => compileRules([...RULES, { expression: 'floor <', priority: 1 }]), {
      code: 'HUB_BAD_REQUEST',
      message: 'locating_rules[4].expression: expected a value at column 8, found nothing',
    });
  });

  const candidate = (value: string, eventTimeMs: number, facts: Partial<RuleFacts> = {}) => ({
    value,
    eventTimeMs,
    facts: { ...FACTS, ...facts },
  });

  test('significant without rules returns the newest location, and the last of equals', () => {
    const ranking = compileRules([]);
    assert.equal(significant([], ranking), undefined);
    assert.equal(significant([candidate('a', 5), candidate('b', 9), candidate('c', 7)], ranking), 'b');
    assert.equal(significant([candidate('a', 9), candidate('b', 9), candidate('c', 7)], ranking), 'b');
  });

  test('significant prefers the highest priority over the newest location', () => {
    const ranking = compileRules(RULES);
    const old = candidate('uwb', 1);
    const fresh = candidate('gps', 9, { type: 'gps', accuracy: 30 });
    assert.equal(significant([old, fresh], ranking), 'uwb');
    assert.equal(significant([fresh, old], ranking), 'uwb');
    assert.equal(significant([old, candidate('newer', 2), fresh], ranking), 'newer');
  });
});
