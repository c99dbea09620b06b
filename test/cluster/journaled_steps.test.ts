import assert from 'node:assert/strict';
import { test } from 'node:test';
import { copied } from '../../src/model/borrowed.ts';
import { packBatch } from '../../src/wire/messages.ts';
import { itemOf, locationAt, T0 } from '../support/shard_harness.ts';
import { checkLocations, type ProcessedLocation } from './simulation/check.ts';
import { keptSteps } from './simulation/journaled_steps.ts';

/** Steps of a hub with a location each: its speed, and its record. */
type HubLocations = readonly (readonly [speed: number, record?: string])[];

/** Locations after the steps of some hubs, where all records but `lost` are stored. */
function locationsOf(...hubs: readonly HubLocations[]) {
  const processed: ProcessedLocation[] = [];
  const idle = new Set<number>();
  for (const [hub, locations] of hubs.entries()) {
    const rans = locations.map(([speed, record], order) => {
      const items = [itemOf(locationAt(speed, 9, 50, { speed }), order, T0)];
      return { batch: copied(packBatch({ nowMs: T0, flushBudget: 0, items })), record, atMs: order, order };
    });
    const incarnation = `hub${hub}`;
    const found = keptSteps(incarnation, rans, { committed: new Set(['one', 'other']), evaluated: 0 });
    processed.push(...found.processed.map((speed) => ({ speed, incarnation })));
    for (const speed of found.idle) idle.add(speed);
  }
  return { processed, idle };
}

function wrongsOf(isAcknowledged: boolean, ...hubs: readonly HubLocations[]): readonly string[] {
  const wrongs: string[] = [];
  checkLocations([{ provider: 'p', speed: 1, isAcknowledged }], locationsOf(...hubs), (what) => wrongs.push(what));
  return wrongs;
}

test('Locations are processed if their step is stored, and idle if it has no record, at any position', () => {
  const { processed, idle } = locationsOf([[2, 'one'], [1], [4, 'other'], [3], [5, 'lost'], [0]]);
  assert.deepEqual(
    processed.map(({ speed }) => speed),
    [2, 4],
  );
  assert.deepEqual([...idle], [1, 3, 0]);
});

const ENDS: readonly (readonly [what: string, hubs: readonly HubLocations[], wrongs: readonly string[]])[] = [
  ['processed', [[[1, 'one']]], []],
  ['outdated', [[[2, 'one'], [1]]], []],
  [
    'outdated at two owners',
    [
      [[2, 'one'], [1], [3, 'other']],
      [[1], [4, 'one']],
    ],
    [],
  ],
  ['processed by two owners', [[[1, 'one']], [[1, 'other']]], ['location 1 of p was processed by hub0,hub1']],
  ['not kept', [[[1, 'lost']]], ['location 1 of p was acknowledged and is lost']],
  ['not kept by its first owner', [[[1, 'lost']], [[1, 'one']]], []],
];

for (const [what, hubs, wrongs] of ENDS) {
  test(`A location that is ${what} is ${wrongs.length === 0 ? 'right' : 'wrong'} when it is acknowledged`, () => {
    assert.deepEqual(wrongsOf(true, ...hubs), wrongs);
  });
}

test('A location that is not acknowledged may be lost, but is not processed by two owners', () => {
  assert.deepEqual(wrongsOf(false), []);
  assert.equal(wrongsOf(false, [[1, 'one']], [[1, 'other']]).length, 1);
});
