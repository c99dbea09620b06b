import assert from 'node:assert/strict';
import { test } from 'node:test';
import { conditionsOf, expressionOf, problemOf } from '../../src/hub-ui/setup/rules/rule_conditions.ts';
import { ranked } from '../../src/hub-ui/setup/rules/winner.ts';
import type { Location } from '../../src/model/location.ts';

for (const [expression, written] of [
  ["type = 'uwb'", "type = 'uwb'"],
  ["TYPE == 'uwb' and accuracy<1", "type = 'uwb' AND accuracy < 1"],
  ["source like 'hall-%' OR floor = -1", "source LIKE 'hall-%' OR floor = -1"],
  ["provider_id not like 'it''s'", "provider_id NOT LIKE 'it''s'"],
  ['speed IS NOT NULL', 'speed IS NOT NULL'],
  ['floor ISNULL', 'floor IS NULL'],
] as const) {
  test(`the builder shows ${expression}, and writes it as ${written}`, () => {
    const conditions = conditionsOf(expression);
    assert.ok(conditions);
    assert.equal(expressionOf(conditions), written);
    assert.deepEqual(conditionsOf(written), conditions);
  });
}

for (const expression of [
  '',
  'accuracy <',
  'NOT floor = 1',
  "type = 'uwb' AND (floor = 1 OR floor = 2)",
  'accuracy + 1 < 2',
  'accuracy < speed',
  "accuracy < '1'",
  'type = 1',
]) {
  test(`the builder leaves ${JSON.stringify(expression)} to the text editor`, () => {
    assert.equal(conditionsOf(expression), undefined);
  });
}

test('a missing or invalid number is reported at its field', () => {
  assert.equal(problemOf({ property: 'accuracy', by: '<', value: 'far' }), 'This must be a number');
  assert.equal(problemOf({ property: 'type', by: '=', value: ' ' }), 'Enter a value to compare with');
  assert.equal(problemOf({ property: 'accuracy', by: '<', value: '0.5' }), undefined);
  assert.equal(problemOf({ property: 'accuracy', by: 'IS NULL', value: '' }), undefined);
});

const NOW_MS = Date.UTC(2026, 2, 1, 12);

function location(id: string, ageMs: number, more: Partial<Location>): Location {
  return {
    provider_id: id,
    provider_type: 'uwb',
    source: 'hall',
    position: { type: 'Point', coordinates: [8, 50] },
    timestamp_generated: new Date(NOW_MS - ageMs).toISOString(),
    ...more,
  };
}

const UWB = location('a', 2000, { accuracy: 0.3 });
const GPS = location('b', 1000, { provider_type: 'gps', accuracy: 5 });
const OTHER = location('c', 500, { accuracy: 0.4 });

for (const { name, locations, rules, winner, why } of [
  { name: 'the only location', locations: [UWB], rules: [], winner: 'a', why: 'only' },
  { name: 'the newest without rules', locations: [UWB, GPS], rules: [], winner: 'b', why: 'newest' },
  { name: 'that of the highest rule', locations: [UWB, GPS], rules: ["type = 'uwb'"], winner: 'a', why: 'rule' },
  {
    name: 'the newest of equals',
    locations: [UWB, GPS, OTHER],
    rules: ['accuracy < 1'],
    winner: 'c',
    why: 'newest_of_equals',
  },
  {
    name: 'that of the higher of two',
    locations: [UWB, GPS],
    rules: ['accuracy < 1', "type = 'gps'"],
    winner: 'b',
    why: 'rule',
  },
  {
    name: 'the one that is recent enough',
    locations: [UWB, GPS],
    rules: ['timestamp_diff < 1500'],
    winner: 'b',
    why: 'rule',
  },
]) {
  test(`the selected location is ${name}`, () => {
    const ordered = rules.map((expression, i) => ({ expression, priority: i + 1 }));
    const found = ranked(locations, ordered, NOW_MS);
    assert.equal(found.candidates[0]?.location.provider_id, winner);
    assert.equal(found.candidates.filter(({ isWinner }) => isWinner).length, 1);
    assert.equal(found.why, why);
  });
}
