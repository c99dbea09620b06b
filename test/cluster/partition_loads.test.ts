import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PartitionLoads } from '../../src/cluster/routing/partition_loads.ts';
import { diceOf } from '../support/dice.ts';

/** Loads of providers that are named after their partitions. */
function openLoads() {
  let elapsedMs = 0;
  const loads = new PartitionLoads({ partitionOf: (_, id) => Number(id), elapsed: () => elapsedMs });
  const take = (id: number): void => {
    if (loads.isSample()) loads.count(String(id));
  };
  /** Rates after that many seconds, measured four times a second as heartbeats do. */
  const after = (seconds: number, perQuarter: () => void): ReadonlyMap<number, number> => {
    let measured: ReadonlyMap<number, number> = new Map();
    for (let quarter = 0; quarter < 4 * seconds; quarter++) {
      perQuarter();
      elapsedMs += 250;
      measured = loads.measured();
    }
    return measured;
  };
  return { loads, take, after };
}

test('PartitionLoads are the rates of locations, for any order of their providers', () => {
  const dice = diceOf(1);
  const orders: readonly (readonly [string, (i: number) => number])[] = [
    ['alternating', (i) => i % 4],
    ['in sequence', (i) => Math.floor(i / 250)],
    ['at random', () => dice(4)],
  ];
  for (const [name, providerAt] of orders) {
    const { take, after } = openLoads();
    const measured = after(60, () => {
      for (let i = 0; i < 1000; i++) take(providerAt(i));
    });
    assert.deepEqual([...measured.keys()].sort(), [0, 1, 2, 3], name);
    for (const rate of measured.values()) assert.ok(Math.abs(rate - 1000) < 100, `${name}: ${rate} a second`);
  }
});

test('PartitionLoads ignore old locations', () => {
  const { take, after } = openLoads();
  const busy = after(60, () => {
    for (let i = 0; i < 500; i++) take(7);
  });
  assert.ok(Math.abs((busy.get(7) ?? 0) - 2000) < 50);
  const since = after(10, () => undefined).get(7) ?? 0;
  assert.ok(Math.abs(since - 2000 / Math.E) < 50, `${since} after ten seconds`);
  assert.equal(after(120, () => undefined).size, 0);
});
