import assert from 'node:assert/strict';
import { test } from 'node:test';
import { identityOf, sizeOf } from '../../src/socket/params.ts';

const TOPIC = 'location_updates';
const ring = [
  [7, 51],
  [8, 51],
  [8, 52],
];
const region = (...rings: unknown[]) => ({ region: { type: 'Polygon', coordinates: rings } });

for (const [same, one, other] of [
  [true, { provider_id: ['a', 'b'] }, { provider_id: ['b', 'a'] }],
  [true, { near: [7, 51], radius: 5 }, { radius: 5, near: [7, 51] }],
  [false, { near: [7, 51], radius: 5 }, { near: [51, 7], radius: 5 }],
  [true, region(ring), region([...ring])],
  [false, region(ring), region([...ring].reverse())],
  [false, region(ring, ring), region([...ring, ...ring])],
  [false, region(ring), {}],
] as const) {
  test(`Subscriptions with ${JSON.stringify(one)} and ${JSON.stringify(other)} are ${same ? 'the same' : 'two'}`, () => {
    assert.equal(identityOf(TOPIC, one) === identityOf(TOPIC, other), same);
  });
}

test('The size of params counts the numbers of a region', () => {
  assert.equal(sizeOf(region(ring), 1000), 'region'.length + 1 + 6);
  assert.ok(sizeOf(region(Array.from({ length: 600 }, () => [1, 2])), 1000) > 1000);
});
