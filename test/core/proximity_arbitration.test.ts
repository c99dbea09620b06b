import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { arbitrate, centroidOf, heldBy, type ProximityState } from '../../src/core/location/proximity_arbitration.ts';
import type { ProximityResolution, Zone } from '../../src/model/zone.ts';

/** Meters of a degree of latitude at 50°. */
const METERS_PER_DEGREE = 111_229;

/** A reader `north` meters north of the first. */
function reader(
  id: string,
  north: number,
  resolution: ProximityResolution | null = {},
  more: Partial<Zone> = {},
): Zone {
  const position = { type: 'Point' as const, coordinates: [8, 50 + north / METERS_PER_DEGREE] };
  return { id, type: 'ibeacon', position, radius: 5, proximity_resolution: resolution, ...more };
}

/** Seconds, reader, and RSSI in dBm. */
type Sighted = readonly [second: number, id: string, rssi?: number | undefined, confidence?: number];

/** Start of a window: a multiple of 3 s. */
const START_MS = 3_000_000;

/** A tag among readers. */
class Tag {
  state: ProximityState | undefined;
  readonly #zones: ReadonlyMap<string, Zone>;

  constructor(zones: readonly Zone[]) {
    this.#zones = new Map(zones.map((zone) => [zone.id, zone]));
  }

  readonly find = (id: string): Zone | undefined => this.#zones.get(id);

  /** Returns the zone that holds the tag after the sighting. */
  sight([second, id, rssi, confidence]: Sighted): Zone {
    const zone = this.find(id) as Zone;
    const eventTimeMs = START_MS + second * 1000;
    this.state ??= heldBy(zone, id, eventTimeMs);
    return arbitrate(this.state, { zone, source: id, eventTimeMs, rssi, confidence }, this.find);
  }

  /** Returns the ids of the zones that hold the tag, without repetitions. */
  path(sightings: readonly Sighted[]): string {
    const ids = sightings.map((each) => this.sight(each).id);
    return ids.filter((id, i) => id !== ids[i - 1]).join(' ');
  }
}

/** Readers sightings every second from `from` to before `to`. */
function seconds(from: number, to: number, ...sightings: readonly (readonly [id: string, rssi?: number])[]): Sighted[] {
  const all: Sighted[] = [];
  for (let second = from; second < to; second++) for (const [id, rssi] of sightings) all.push([second, id, rssi]);
  return all;
}

const A = reader('a', 0);
const B = reader('b', 8);
const FAR = reader('far', 500);

/** Name, readers, sightings, and the zones that hold the tag. */
const TABLE: readonly (readonly [name: string, zones: readonly Zone[], sightings: readonly Sighted[], path: string])[] =
  [
    ['stays between two readers of equal strength', [A, B], seconds(0, 60, ['a', -60], ['b', -60]), 'a'],
    ['stays if the other reader is 5.9 dB stronger', [A, B], seconds(0, 60, ['a', -66], ['b', -60.1]), 'a'],
    [
      'changes if the other reader is 6 dB stronger in two windows',
      [A, B],
      seconds(0, 7, ['a', -66], ['b', -60]),
      'a b',
    ],
    [
      'stays if it is stronger in one window only',
      [A, B],
      [
        ...seconds(0, 3, ['a', -70], ['b', -60]),
        ...seconds(3, 6, ['a', -60], ['b', -60]),
        ...seconds(6, 9, ['a', -70], ['b', -60]),
        ...seconds(9, 12, ['a', -60], ['b', -60]),
      ],
      'a',
    ],
    [
      'ignores a single outlier, as the median does',
      [A, B],
      seconds(0, 30, ['a', -60], ['b', -65]).map(
        (sighting): Sighted => (sighting[1] === 'b' && sighting[0] % 3 === 1 ? [sighting[0], 'b', -20] : sighting),
      ),
      'a',
    ],
    ['stays for the exit grace without RSSI', [A, B], [[0, 'a'], ...seconds(1, 15, ['b'])], 'a'],
    ['changes after the exit grace without RSSI', [A, B], [[0, 'a'], ...seconds(1, 16, ['b'])], 'a b'],
    ['does not flap between readers without RSSI', [A, B], seconds(0, 120, ['a'], ['b']), 'a'],
    [
      'stays for the minimum dwell',
      [reader('a', 0, { min_dwell_duration: 30_000 }), B],
      seconds(0, 30, ['a', -80], ['b', -50]),
      'a',
    ],
    [
      'changes after the minimum dwell',
      [reader('a', 0, { min_dwell_duration: 30_000 }), B],
      seconds(0, 31, ['a', -80], ['b', -50]),
      'a b',
    ],
    [
      'never leaves a zone with an infinite dwell',
      [reader('a', 0, { min_dwell_duration: -1 }), B],
      [[0, 'a'], ...seconds(1, 100, ['b', -50])],
      'a',
    ],
    [
      'waits only 3 s for a reader beyond the boundary grace',
      [reader('a', 0, { boundary_grace_distance: 2 }), FAR],
      [[0, 'a'], ...seconds(1, 6, ['far'])],
      'a far',
    ],
    [
      'waits the exit grace for a reader within it',
      [reader('a', 0, { boundary_grace_distance: 2 }), B],
      [[0, 'a'], ...seconds(1, 15, ['b'])],
      'a',
    ],
    [
      'enters at once after the state is stale',
      [reader('a', 0, { stale_state_ttl: 8000 }), B],
      [
        [0, 'a'],
        [8.001, 'b'],
      ],
      'a b',
    ],
    [
      'stays as long as it is not stale',
      [reader('a', 0, { stale_state_ttl: 8000 }), B],
      [
        [0, 'a'],
        [8, 'b'],
      ],
      'a',
    ],
    [
      'takes the strongest of the others after the exit grace',
      [A, B, reader('c', 9)],
      [[0, 'a', -60], ...seconds(13, 16, ['c', -50], ['b', -80])],
      'a c',
    ],
    [
      'does not enter below the confidence sent',
      [A, reader('b', 8, { entry_confidence_min: 0.5 })],
      [
        [0, 'a'],
        [20, 'b', undefined, 0.4],
      ],
      'a',
    ],
    [
      'enters from the confidence sent',
      [A, reader('b', 8, { entry_confidence_min: 0.5 })],
      [
        [0, 'a'],
        [20, 'b', undefined, 0.5],
      ],
      'a b',
    ],
    [
      'takes the share of the received power as confidence',
      [A, reader('b', 8, { entry_confidence_min: 0.9 }), reader('c', 9)],
      [
        [0, 'a', -60],
        [20, 'c', -57],
        [20.5, 'b', -50],
      ],
      'a c',
    ],
    [
      'stays in a zone without resolution as in one with the defaults',
      [reader('a', 0, null), B],
      [[0, 'a'], ...seconds(1, 15, ['b'])],
      'a',
    ],
    [
      'does not return from a zone without resolution to one with it',
      [A, reader('b', 8, null)],
      seconds(0, 60, ['a', -70], ['b', -60]),
      'a b',
    ],
  ];

describe('Arbitration between readers', () => {
  for (const [name, zones, sightings, path] of TABLE) {
    it(name, () => assert.equal(new Tag(zones).path(sightings), path));
  }

  it('changes with the first sighting after the second window, even one of the zone that loses the tag', () => {
    const tag = new Tag([A, B]);
    for (const each of seconds(0, 6, ['a', -70], ['b', -60])) assert.equal(tag.sight(each).id, 'a');
    assert.equal(tag.sight([6, 'a', -70]).id, 'b');
  });

  it('enters the zone of the next sighting if its own was deleted', () => {
    const zones = new Map([
      [A.id, A],
      [B.id, B],
    ]);
    const state = heldBy(A, 'a', START_MS);
    zones.delete('a');
    const sighting = { zone: B, source: 'b', eventTimeMs: START_MS + 1, rssi: undefined, confidence: undefined };
    assert.equal(arbitrate(state, sighting, (id) => zones.get(id)).id, 'b');
  });

  it('retains at most 8 readers with 16 samples, whatever it hears', () => {
    const zones = Array.from({ length: 30 }, (_, i) => reader(`r${i}`, i));
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat({ max: 29 }), fc.nat({ max: 900 }), fc.integer({ min: -95, max: -30 }))),
        (all) => {
          const tag = new Tag(zones);
          let second = 0;
          for (const [zone, step, rssi] of all) {
            second += step / 1000;
            const held = tag.sight([second, `r${zone}`, rssi]);
            const { readers, zoneId } = tag.state as ProximityState;
            assert.equal(held.id, zoneId);
            assert.ok(readers.length <= 8 && readers.every(({ samples }) => samples.length <= 16));
          }
        },
      ),
      { numRuns: 200, seed: 3 },
    );
  });

  it('never changes more often than every two windows while both readers are sightings', () => {
    const samples = fc.array(fc.tuple(fc.integer({ min: -90, max: -40 }), fc.integer({ min: -90, max: -40 })), {
      minLength: 30,
      maxLength: 120,
    });
    const zones = [reader('a', 0, { min_dwell_duration: 0 }), reader('b', 8, { min_dwell_duration: 0 })];
    fc.assert(
      fc.property(samples, (all) => {
        const tag = new Tag(zones);
        let changedAt = 0;
        let held = 'a';
        for (const [second, [a, b]] of all.entries()) {
          for (const sightings of [
            [second, 'a', a],
            [second, 'b', b],
          ] as const) {
            const { id } = tag.sight(sightings);
            if (id === held) continue;
            assert.ok(second - changedAt >= 6, `changed at ${changedAt} s and ${second} s`);
            [held, changedAt] = [id, second];
          }
        }
      }),
      { numRuns: 200, seed: 4 },
    );
  });
});

describe('The centroid of readers', () => {
  const centroid = { position_mode: 'centroid' as const };
  const three = [reader('a', 0, centroid), reader('b', 10), reader('c', 20)];

  it('is the weighted mean of three readers, with the spread as accuracy', () => {
    const tag = new Tag(three);
    const held = [
      [0, 'a', -60],
      [0, 'b', -60],
      [0, 'c', -60],
    ].map((sighting) => tag.sight(sighting as unknown as Sighted))[0] as Zone;
    const found = centroidOf(tag.state as ProximityState, held, tag.find);
    assert.ok(found !== undefined);
    assert.ok(Math.abs((found.lat - 50) * METERS_PER_DEGREE - 10) < 0.01, String(found.lat));
    assert.ok(Math.abs(found.lon - 8) < 1e-9);
    // Distances 10, 0 and 10 m.
    assert.ok(Math.abs(found.accuracy - Math.sqrt(200 / 3)) < 0.01, String(found.accuracy));
  });

  it('weights a reader that is 20 dB stronger tenfold', () => {
    const tag = new Tag(three);
    for (const sightings of [
      [0, 'a', -40],
      [0, 'b', -60],
      [0, 'c', -60],
    ] as const)
      tag.sight(sightings);
    const found = centroidOf(tag.state as ProximityState, three[0] as Zone, tag.find);
    assert.ok(Math.abs(((found?.lat ?? 0) - 50) * METERS_PER_DEGREE - 30 / 12) < 0.01, String(found?.lat));
  });

  const NONE: readonly (readonly [name: string, zones: readonly Zone[], sightings: readonly Sighted[]])[] = [
    [
      'of two readers',
      three,
      [
        [0, 'a', -60],
        [0, 'b', -60],
      ],
    ],
    [
      'of readers without RSSI',
      three,
      [
        [0, 'a'],
        [0, 'b'],
        [0, 'c'],
      ],
    ],
    [
      'of readers sightings more than 3 s ago',
      three,
      [
        [0, 'b', -60],
        [0, 'c', -60],
        [3.001, 'a', -60],
      ],
    ],
    [
      'of readers on other floors',
      [three[0] as Zone, reader('b', 10, {}, { floor: 1 }), reader('c', 20)],
      [
        [0, 'a', -60],
        [0, 'b', -60],
        [0, 'c', -60],
      ],
    ],
    [
      'of a zone that does not ask for it',
      [A, B, FAR],
      [
        [0, 'a', -60],
        [0, 'b', -60],
        [0, 'far', -60],
      ],
    ],
  ];
  for (const [name, zones, sightings] of NONE) {
    it(`is none ${name}`, () => {
      const tag = new Tag(zones);
      tag.path(sightings);
      assert.equal(centroidOf(tag.state as ProximityState, tag.find('a') as Zone, tag.find), undefined);
    });
  }
});
