import assert from 'node:assert/strict';
import { test } from 'node:test';
import { geodesicMeters } from '../../src/core/geo/geodesic.ts';
import { type TrackStay, staysOf } from '../../src/history/queries/stays.ts';
import { diceOf } from '../support/dice.ts';

type Options = Parameters<typeof staysOf>[1];
interface Places {
  readonly times: number[];
  readonly lons: number[];
  readonly lats: number[];
}

/** Stays by definition: every position is compared with the first one. */
function slowStaysOf(
  { times, lons, lats }: Places,
  { radiusMeters, minStopMs, maxGapMs }: Options,
): readonly TrackStay[] {
  const stays: TrackStay[] = [];
  const at = (values: readonly number[], i: number): number => values[i] as number;
  for (let first = 0; first < times.length; ) {
    let end = first + 1;
    while (
      end < times.length &&
      at(times, end) - at(times, end - 1) <= maxGapMs &&
      geodesicMeters(at(lons, first), at(lats, first), at(lons, end), at(lats, end)) <= radiusMeters
    ) {
      end++;
    }
    if (at(times, end - 1) - at(times, first) < minStopMs) {
      first++;
      continue;
    }
    const mean = (values: readonly number[]) => values.slice(first, end).reduce((a, b) => a + b, 0) / (end - first);
    stays.push({ first, end, lon: mean(lons), lat: mean(lats) });
    first = end;
  }
  return stays;
}

const METRE = 9e-6;

/** A track that rests, jitters, drifts, jumps and is silent at times. */
function wildWay(seed: number, count: number): Places {
  const dice = diceOf(seed);
  const places: Places = { times: [], lons: [], lats: [] };
  let [time, lon, lat, restMeters, driftMeters] = [0, 8, 50, 1, 0];
  for (let i = 0; i < count; i++) {
    if (dice(40) === 0) [restMeters, driftMeters] = [dice(4), dice(3) === 0 ? dice(100) / 100 : 0];
    if (dice(60) === 0) lon += dice(20) * METRE;
    time += dice(50) === 0 ? 1000 * dice(100) : 500 + dice(1000);
    lon += driftMeters * METRE;
    lat += (driftMeters * METRE) / 2;
    const tremble = () => ((dice(201) - 100) / 100) * restMeters * METRE;
    places.times.push(time);
    places.lons.push(lon + tremble());
    places.lats.push(lat + tremble());
  }
  return places;
}

test('Stays equal those of their definition', () => {
  let found = 0;
  for (let seed = 1; seed <= 60; seed++) {
    const dice = diceOf(1000 + seed);
    const way = wildWay(seed, 300);
    const options = { radiusMeters: 1 + dice(6), minStopMs: 1 + dice(100_000), maxGapMs: 2000 + dice(60_000) };
    const stays = staysOf(way, options);
    assert.deepEqual(stays, slowStaysOf(way, options), `seed ${seed}, ${JSON.stringify(options)}`);
    found += stays.length;
  }
  assert.ok(found > 100, `${found} stays`);
});

/** Number of positions that a search reads. This measures its cost independently of the load of the machine. */
function readsOf(way: Places, options: Options): number {
  let reads = 0;
  const lons = new Proxy(way.lons, {
    get(target, key) {
      reads++;
      return Reflect.get(target, key);
    },
  });
  staysOf({ ...way, lons }, options);
  return reads;
}

const COUNT = 20_000;
const HOUR_MS = 3_600_000;

for (const [name, xOf, minStopMs] of [
  ['rests for less than the duration of a stop', () => 0, 100 * HOUR_MS],
  ['rests, and leaves before a stop is long enough', (i: number) => (i < COUNT - 100 ? 0 : 50), 6 * HOUR_MS],
  ['stands still', () => 0, HOUR_MS],
  ['drifts slowly', (i: number) => i / 1000, 4 * HOUR_MS],
  ['trembles, now and then by more than the radius', (i: number) => (i % 997 === 0 ? 3 : (i * 7919) % 2), 5 * HOUR_MS],
  ['moves back and forth', (i: number) => Math.abs((i % 400) - 200) / 25, 5 * HOUR_MS],
] as const) {
  test(`Stays are found with a few comparisons per position if an object ${name}`, () => {
    const index = Array.from({ length: COUNT }, (_, i) => i);
    const way = {
      times: index.map((i) => 1000 * i),
      lons: index.map((i) => 8 + xOf(i) * METRE * 1.5),
      lats: index.map(() => 50),
    };
    const reads = readsOf(way, { radiusMeters: 2, minStopMs, maxGapMs: HOUR_MS });
    assert.ok(reads < 40 * COUNT, `${reads} reads for ${COUNT} positions`);
  });
}
