import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BusyMeter, MemoryWatch } from '../../workers/memory_watch.ts';

const MIB = 2 ** 20;

/** Runs one check per memory size (MiB) and load. Returns the memory size at each collection. */
function collections(looks: readonly (readonly [mib: number, busy: number])[], leftMib: number): number[] {
  const collected: number[] = [];
  let [inUse, busy] = [100, 0];
  const watch = new MemoryWatch({
    collect() {
      collected.push(inUse);
      inUse = leftMib;
    },
    inUse: () => inUse * MIB,
    young: () => 0,
    busy: () => busy,
  });
  for (const look of looks) {
    [inUse, busy] = look;
    watch.look();
  }
  return collected;
}

const rows: readonly (readonly [
  name: string,
  looks: readonly [number, number][],
  left: number,
  collected: number[],
])[] = [
  // biome-ignore-start format: rows
  [
    'collects after lasting growth by half',
    [
      [140, 0],
      [149, 0],
      [151, 0],
      [151, 0],
      [151, 0],
    ],
    100,
    [151],
  ],
  [
    'leaves short-lived memory to the engine',
    [
      [300, 0],
      [300, 0],
      [120, 0],
      [300, 0],
      [300, 0],
    ],
    100,
    [],
  ],
  [
    'waits until the thread is calm',
    [
      [500, 0.9],
      [500, 0.6],
      [500, 0.6],
      [500, 0.4],
    ],
    100,
    [500],
  ],
  [
    'waits until the thread is idle if less can be freed',
    [
      [300, 0.4],
      [310, 0.2],
      [320, 0.2],
      [330, 0.05],
    ],
    100,
    [330],
  ],
  [
    'treats what a collection could not free as needed',
    [
      [200, 0],
      [200, 0],
      [200, 0],
      [299, 0],
      [299, 0],
      [299, 0],
    ],
    200,
    [200],
  ],
  [
    'retries at growing intervals after a collection that freed too little',
    [[400, 0], [400, 0], [400, 0], ...Array.from({ length: 27 }, (): [number, number] => [300, 0])],
    300,
    [400, 300, 300],
  ],
  [
    'measures growth from the lower size after memory was freed',
    [
      [40, 0],
      [100, 0],
      [100, 0],
      [100, 0],
    ],
    40,
    [100],
  ],
  // biome-ignore-end format: rows
];
for (const [name, looks, left, collected] of rows) {
  test(`The memory watch ${name}`, () => assert.deepEqual(collections(looks, left), collected));
}

test('A thread that rests at less load is collected at less', () => {
  for (const [busy, expected] of [
    [0.05, 0],
    [0.01, 1],
  ] as const) {
    let [mib, collected] = [100, 0];
    const options = { inUse: () => mib * MIB, young: () => 0, busy: () => busy, resting: 0.02 };
    const watch = new MemoryWatch({ ...options, collect: () => collected++ });
    mib = 300;
    for (let look = 0; look < 4; look++) watch.look();
    assert.equal(collected, expected, `at a load of ${busy}`);
  }
});

test('Memory of the young generation is released after a flood of allocations, not during it', () => {
  const collected: number[] = [];
  let [youngMib, busy] = [10, 0];
  const watch = new MemoryWatch({
    collect() {
      collected.push(youngMib);
      youngMib = 10;
    },
    inUse: () => 100 * MIB,
    young: () => youngMib * MIB,
    busy: () => busy,
  });
  const looks = (count: number, mib: number, part: number) => {
    for (let look = 0; look < count; look++) {
      [youngMib, busy] = [collected.length > 0 ? youngMib : mib, part];
      watch.look();
    }
  };
  looks(100, 120, 0.4);
  looks(100, 120, 0.15);
  looks(2, 120, 0.05);
  assert.deepEqual(collected, []);
  looks(100, 120, 0.05);
  assert.deepEqual(collected, [120]);
});

test('The memory watch sees old garbage of this thread, and memory outside its heap', () => {
  let collected = 0;
  const watch = new MemoryWatch({ collect: () => collected++, busy: () => 0 });
  watch.look();
  assert.equal(collected, 0);
  const grown = 200 * MIB + process.memoryUsage.rss();
  const held = Buffer.alloc(grown, 1);
  for (let look = 0; look < 3; look++) watch.look();
  assert.equal(collected, 1);
  assert.equal(held.length, grown);
});

test('The busy meter returns the fraction of time worked since the previous reading', () => {
  let nowMs = 5;
  const meter = new BusyMeter(() => nowMs);
  const work = (fromMs: number, toMs: number) => {
    nowMs = fromMs;
    meter.begin();
    nowMs = toMs;
    meter.end();
  };
  work(10, 20);
  work(50, 65);
  nowMs = 105;
  assert.equal(meter.part(), 0.25);
  nowMs = 205;
  assert.equal(meter.part(), 0);
});
