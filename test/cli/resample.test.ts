import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { resample } from '../../src/cli/replay/interpolate.ts';
import { paced } from '../../src/cli/replay/pace.ts';
import type { RecordedFrame } from '../../src/cli/replay/recording.ts';

interface Sample {
  readonly provider?: string;
  readonly ms: number;
  readonly at: readonly number[];
  readonly crs?: string;
  readonly floor?: number;
}

function recorded(samples: readonly Sample[]): RecordedFrame[] {
  return samples.map(({ provider = 'a', ms, at, crs = 'EPSG:4326', floor }, index) => ({
    line: index + 1,
    atMs: ms,
    location: {
      provider_id: provider,
      position: { type: 'Point', coordinates: at },
      crs,
      timestamp_generated: new Date(ms).toISOString(),
      ...(floor === undefined ? {} : { floor }),
    },
  }));
}

function coordinates(samples: readonly Sample[], hz: number): unknown[] {
  const { locations } = resample(recorded(samples), { hz, path: 'file' });
  return [...locations()].map(({ location }) => (location['position'] as { coordinates: unknown }).coordinates);
}

const lines: [name: string, samples: Sample[], hz: number, expected: number[][]][] = [
  [
    'moves on a straight line',
    [
      { ms: 0, at: [0, 10] },
      { ms: 1000, at: [4, 20] },
    ],
    2,
    [
      [0, 10],
      [2, 15],
      [4, 20],
    ],
  ],
  [
    'moves in height',
    [
      { ms: 0, at: [0, 0, 100] },
      { ms: 1000, at: [0, 0, 200] },
    ],
    2,
    [
      [0, 0, 100],
      [0, 0, 150],
      [0, 0, 200],
    ],
  ],
  ['retains a single sample', [{ ms: 5, at: [1, 2] }], 10, [[1, 2]]],
  [
    'puts samples into the order of time',
    [
      { ms: 1000, at: [4, 0] },
      { ms: 0, at: [0, 0] },
    ],
    1,
    [
      [0, 0],
      [4, 0],
    ],
  ],
  [
    'takes the last sample of an instant',
    [
      { ms: 0, at: [0, 0] },
      { ms: 0, at: [1, 0] },
    ],
    1,
    [[1, 0]],
  ],
  [
    'crosses the antimeridian the short way',
    [
      { ms: 0, at: [179, 0] },
      { ms: 4000, at: [-179, 0] },
    ],
    0.5,
    [
      [179, 0],
      [180, 0],
      [-179, 0],
    ],
  ],
  [
    'takes the longer path in meters',
    [
      { ms: 0, at: [179, 0], crs: 'local' },
      { ms: 2000, at: [-179, 0], crs: 'local' },
    ],
    1,
    [
      [179, 0],
      [0, 0],
      [-179, 0],
    ],
  ],
  [
    'stays until the sample of another floor',
    [
      { ms: 0, at: [0, 0], floor: 0 },
      { ms: 2000, at: [2, 0], floor: 1 },
    ],
    1,
    [
      [0, 0],
      [0, 0],
      [2, 0],
    ],
  ],
];

for (const [name, samples, hz, expected] of lines) {
  test(`resample ${name}`, () => {
    assert.deepEqual(coordinates(samples, hz), expected);
  });
}

test('resample continues past the antimeridian', () => {
  const found = coordinates(
    [
      { ms: 0, at: [179, 0] },
      { ms: 4000, at: [-177, 0] },
    ],
    1,
  ) as number[][];
  assert.deepEqual(
    found.map(([x]) => x),
    [179, 180, -179, -178, -177],
  );
});

test('resample emits each provider at its rate, all in the order of time, as many as it counts', () => {
  const sample = fc.record({
    provider: fc.constantFrom('a', 'b', 'c'),
    ms: fc.integer({ min: 0, max: 5000 }),
    at: fc.tuple(fc.integer({ min: -180, max: 180 }), fc.integer({ min: -90, max: 90 })),
  });
  const rates = fc.constantFrom(0.3, 1, 3, 7, 10);
  fc.assert(
    fc.property(fc.array(sample, { minLength: 1, maxLength: 20 }), rates, (samples, hz) => {
      const { count, locations } = resample(recorded(samples), { hz, path: 'file' });
      const emitted = [...locations()];
      assert.equal(emitted.length, count);
      const latest = new Map<unknown, number>();
      let before = Number.NEGATIVE_INFINITY;
      for (const { atMs, location } of emitted) {
        const own = latest.get(location['provider_id']);
        if (own !== undefined) assert.ok(Math.abs(atMs - own - 1000 / hz) < 1e-6);
        assert.ok(atMs >= before - 1e-6);
        latest.set(location['provider_id'], atMs);
        before = atMs;
      }
      for (const [provider, lastMs] of latest) {
        const times = samples.filter((each) => each.provider === provider).map(({ ms }) => ms);
        assert.ok(lastMs <= Math.max(...times) + 1e-6 && lastMs > Math.max(...times) - 1000 / hz - 1e-6);
      }
    }),
    { seed: 11, numRuns: 200 },
  );
});

/** Runs a recording through `paced` with a simulated clock. Returns the times of batches. */
async function due(
  ms: readonly number[],
  { speed, batch }: { speed: number; batch: number },
): Promise<[number, number][]> {
  let now = 50;
  const wait = async (span: number) => {
    now += span;
  };
  const batches: [number, number][] = [];
  const samples = recorded(ms.map((each) => ({ ms: each, at: [0, 0] })));
  for await (const each of paced(samples, { speed, batch, nowMs: () => now, wait }))
    batches.push([now - 50, each.length]);
  return batches;
}

const paces: [name: string, ms: number[], speed: number, batch: number, expected: [atMs: number, count: number][]][] = [
  [
    'returns each location when it is due',
    [1000, 1100, 1300],
    1,
    10,
    [
      [0, 1],
      [100, 1],
      [300, 1],
    ],
  ],
  [
    'divides by the speed',
    [1000, 1100, 1300],
    2,
    10,
    [
      [0, 1],
      [50, 1],
      [150, 1],
    ],
  ],
  [
    'combines locations due within 25 ms',
    [0, 10, 24, 25, 100],
    1,
    10,
    [
      [0, 3],
      [25, 1],
      [100, 1],
    ],
  ],
  [
    'fills no batch beyond its size',
    [0, 1, 2, 3, 4],
    1,
    2,
    [
      [0, 2],
      [2, 2],
      [4, 1],
    ],
  ],
  [
    'never waits as fast as possible',
    [0, 1e6, 2e6],
    Number.POSITIVE_INFINITY,
    2,
    [
      [0, 2],
      [0, 1],
    ],
  ],
  ['returns nothing without locations', [], 1, 2, []],
];

for (const [name, ms, speed, batch, expected] of paces) {
  test(`paced ${name}`, async () => {
    assert.deepEqual(await due(ms, { speed, batch }), expected);
  });
}
