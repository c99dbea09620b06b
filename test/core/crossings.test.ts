import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Fence } from '../../src/model/fence.ts';
import type { Polygon } from '../../src/model/geojson.ts';
import type { FenceEvent } from '../../src/model/events.ts';
import { HALL, square } from '../support/hall.ts';
import { deleted, fence, inHall, locationAt, ShardHarness, trackable, zone } from '../support/shard_harness.ts';
import { brief } from './brief.ts';

type Spot = readonly [x: number, y: number, z?: number];

const CROSSED: Partial<Fence> = { crossing: 'segment' };

/** The square from 0 to 10 m, and the same with a hole from 4 to 6 m. */
const DOCK = square({ id: 'dock', ...CROSSED });
const HOLED: Fence = {
  ...DOCK,
  region: { type: 'Polygon', coordinates: [...(DOCK.region as Polygon).coordinates, [...ringOf(4, 4, 6, 6)]] },
};
/** A comb: three teeth upwards from y = 0 to 10, at x from 0 to 2, 4 to 6 and 8 to 10. */
const COMB: Fence = {
  ...DOCK,
  region: {
    type: 'Polygon',
    coordinates: [
      [
        ...[
          [0, 0],
          [10, 0],
          [10, 10],
          [8, 10],
          [8, 2],
          [6, 2],
          [6, 10],
          [4, 10],
          [4, 2],
          [2, 2],
          [2, 10],
          [0, 10],
          [0, 0],
        ],
      ],
    ],
  },
};

function ringOf(west: number, south: number, east: number, north: number): number[][] {
  return [
    [west, south],
    [west, north],
    [east, north],
    [east, south],
    [west, south],
  ];
}

interface Case {
  readonly name: string;
  readonly fences?: readonly Fence[];
  /** Positions of the tag, one a second unless it says otherwise. */
  readonly way: readonly Spot[];
  readonly stepSeconds?: number;
  readonly floors?: readonly number[];
  readonly hears: readonly string[];
}

const CASES: readonly Case[] = [
  {
    name: 'through it',
    way: [
      [-10, 5],
      [30, 5],
    ],
    hears: ['entry dock 1.25', 'exit dock 1.25-1.5'],
  },
  {
    name: 'through it, in its usual mode',
    fences: [square({ id: 'dock' })],
    way: [
      [-10, 5],
      [30, 5],
    ],
    hears: [],
  },
  {
    name: 'into it',
    way: [
      [-10, 5],
      [10, 5],
    ],
    hears: ['entry dock 1.5'],
  },
  {
    name: 'out of it',
    way: [
      [5, 5],
      [15, 5],
    ],
    hears: ['entry dock 1', 'exit dock 1-1.5'],
  },
  {
    name: 'past it',
    way: [
      [-10, 11],
      [30, 11],
    ],
    hears: [],
  },
  {
    name: 'past its corner, two meters away',
    way: [
      [8, 14],
      [14, 8],
    ],
    hears: [],
  },
  {
    name: 'to its corner',
    way: [
      [8, 12],
      [12, 8],
    ],
    hears: [],
  },
  {
    name: 'through its corner',
    way: [
      [8, 11],
      [11, 8],
    ],
    hears: ['entry dock 1.333', 'exit dock 1.333-1.667'],
  },
  {
    name: 'for longer than the gap',
    way: [
      [-10, 5],
      [30, 5],
    ],
    stepSeconds: 11,
    hears: [],
  },
  {
    name: 'for the whole gap',
    way: [
      [-10, 5],
      [30, 5],
    ],
    stepSeconds: 10,
    hears: ['entry dock 3.5', 'exit dock 3.5-6'],
  },
  {
    name: 'through two fences that overlap',
    fences: [
      DOCK,
      square({ id: 'apron', region: { type: 'Polygon', coordinates: [ringOf(5, 0, 15, 10)] }, ...CROSSED }),
    ],
    way: [
      [-10, 5],
      [30, 5],
    ],
    hears: ['entry dock 1.25', 'entry apron 1.375', 'exit dock 1.25-1.5', 'exit apron 1.375-1.625'],
  },
  {
    name: 'through a hole',
    fences: [HOLED],
    way: [
      [-10, 5],
      [30, 5],
    ],
    hears: ['entry dock 1.25', 'exit dock 1.25-1.35', 'entry dock 1.4', 'exit dock 1.4-1.5'],
  },
  {
    name: 'from one inside position to another, across a hole',
    fences: [HOLED],
    way: [
      [1, 5],
      [9, 5],
    ],
    hears: ['entry dock 1', 'exit dock 1-1.375', 'entry dock 1.625'],
  },
  {
    name: 'through three teeth of a comb',
    fences: [COMB],
    way: [
      [-10, 5],
      [30, 5],
    ],
    hears: [
      'entry dock 1.25',
      'exit dock 1.25-1.3',
      'entry dock 1.35',
      'exit dock 1.35-1.4',
      'entry dock 1.45',
      'exit dock 1.45-1.5',
    ],
  },
  {
    name: 'through a circle',
    fences: [{ ...DOCK, region: { type: 'Point', coordinates: [5, 5] }, radius: 5 }],
    way: [
      [-10, 5],
      [30, 5],
    ],
    hears: ['entry dock 1.375', 'exit dock 1.375-1.5'].map((line) => line.replaceAll('1.375', '1.25')),
  },
  {
    name: 'on its floor',
    fences: [{ ...DOCK, floor: 2 }],
    way: [
      [-10, 5],
      [30, 5],
    ],
    floors: [2, 2],
    hears: ['entry dock 1.25', 'exit dock 1.25-1.5'],
  },
  {
    name: 'to another floor',
    fences: [{ ...DOCK, floor: 2 }],
    way: [
      [-10, 5],
      [30, 5],
    ],
    floors: [2, 3],
    hears: [],
  },
  {
    name: 'below its heights',
    fences: [{ ...DOCK, extrusion: 3 }],
    way: [
      [-10, 5, -9],
      [30, 5, -1],
    ],
    hears: [],
  },
  {
    name: 'down into its heights and out of its side',
    fences: [{ ...DOCK, extrusion: 3 }],
    way: [
      [-10, 5, 7],
      [30, 5, -9],
    ],
    // 3 m high at a quarter of the way, on the ground before it leaves the side at half of it.
    hears: ['entry dock 1.25', 'exit dock 1.25-1.438'],
  },
  {
    name: 'with a delay that is longer than the visit',
    fences: [{ ...DOCK, entry_delay: 300 }],
    way: [
      [-10, 5],
      [30, 5],
    ],
    hears: [],
  },
  {
    name: 'with a delay that is shorter than the visit',
    fences: [{ ...DOCK, entry_delay: 200 }],
    way: [
      [-10, 5],
      [30, 5],
    ],
    hears: ['entry dock 1.25', 'exit dock 1.25-1.5'],
  },
  {
    name: 'with an exit delay that ends on the way',
    fences: [{ ...DOCK, exit_delay: 100 }],
    way: [
      [-10, 5],
      [30, 5],
    ],
    hears: ['entry dock 1.25', 'exit dock 1.25-1.6'],
  },
  {
    name: 'back into it before an exit delay ends',
    fences: [{ ...HOLED, exit_delay: 100 }],
    way: [
      [-10, 5],
      [30, 5],
    ],
    hears: ['entry dock 1.25', 'exit dock 1.25-1.6'],
  },
  {
    name: 'along its entry tolerance only',
    fences: [{ ...DOCK, entry_tolerance: 2 }],
    way: [
      [-10, 1],
      [30, 1],
    ],
    hears: [],
  },
  {
    name: 'past its entry tolerance',
    fences: [{ ...DOCK, entry_tolerance: 2 }],
    way: [
      [-10, 5],
      [30, 5],
    ],
    // Its time is that of the first position inside.
    hears: ['entry dock 1.25', 'exit dock 1.25-1.5'],
  },
  {
    name: 'past its exit tolerance',
    fences: [{ ...DOCK, exit_tolerance: 4 }],
    way: [
      [5, 5],
      [25, 5],
    ],
    hears: ['entry dock 1', 'exit dock 1-1.45'],
  },
  {
    name: 'with a timeout on the way',
    fences: [{ ...DOCK, timeout: 100 }],
    way: [
      [-10, 5],
      [30, 5],
    ],
    hears: ['entry dock 1.25', 'exit dock 1.25-1.35'],
  },
];

describe('A fence whose crossing is "segment"', () => {
  for (const { name, fences = [DOCK], way, stepSeconds = 1, floors, hears } of CASES) {
    it(`evaluates a way ${name}`, async () => {
      const harness = await ShardHarness.open();
      harness.tell(0, zone(), ...fences.map(fence));
      for (const [i, spot] of way.entries()) {
        const second = 1 + i * stepSeconds;
        harness.tell(second, inHall(second, spot, floors && { floor: floors[i] ?? 0 }));
      }
      harness.step(60);
      const events = harness.takeFenceEvents();
      assert.deepEqual(
        short(events).filter((line) => !/^exit .*-6\d/.test(line)),
        hears,
      );
      for (const event of events) {
        const time = Date.parse((event.exit_time ?? event.entry_time) as string) % 1000;
        const isBetween = time !== 0 && event.properties?.['hub.crossed'] === true;
        assert.equal(isBetween, time !== 0, JSON.stringify(event));
      }
    });
  }

  it('applies to trackables by their extent', async () => {
    const harness = await ShardHarness.open();
    harness.tell(0, zone(), fence(DOCK), trackable('cart', ['tag'], { radius: 2 }));
    harness.tell(1, inHall(1, [-10, 11]));
    harness.tell(2, inHall(2, [30, 11]));
    const events = harness.takeFenceEvents();
    assert.deepEqual(new Set(events.map(({ trackable_id: id }) => id)), new Set(['cart']));
    assert.equal(events.length, 2);
    // It reaches 1.73 m to the west of the square, 1 m above it.
    const [entry = Number.NaN] = events.map((event) => Date.parse(event.entry_time as string) % 1000);
    assert.ok(Math.abs(entry - (10 - Math.sqrt(3)) * 25) < 2, String(entry));
  });

  it('applies to trackables that another one carries', async () => {
    const harness = await ShardHarness.open();
    harness.tell(0, zone(), fence(DOCK), trackable('truck', ['tag']), trackable('box', [], { parent: 'truck' }));
    harness.tell(1, inHall(1, [-10, 5]));
    harness.tell(2, inHall(2, [30, 5]));
    const events = harness.takeFenceEvents().filter(({ trackable_id: id }) => id === 'box');
    assert.deepEqual(brief(events), ['entry dock box 1.25', 'exit dock box 1.25-1.5']);
  });

  it('keeps the properties of the fence next to the mark', async () => {
    const harness = await ShardHarness.open();
    for (const properties of [{ color: 'red' }, {}, { 'hub.crossed': 7, color: 'red' }]) {
      harness.tell(0, zone(), fence({ ...DOCK, properties }));
      harness.tell(1, inHall(1, [-10, 5]));
      harness.tell(2, inHall(2, [30, 5]));
      for (const event of harness.takeFenceEvents()) {
        assert.deepEqual(event.properties, { ...properties, 'hub.crossed': true });
      }
      harness.tell(3, deleted('provider', 'tag'));
    }
  });

  it('evaluates no way of an object that stays in a zone that moves', async () => {
    const harness = await ShardHarness.open();
    const east = {
      ...HALL,
      ground_control_points: (HALL.ground_control_points ?? []).map(([x = 0, y = 0], i) =>
        i % 2 === 0 ? [x + 0.002, y] : [x, y],
      ),
    };
    // A fence of the earth, between the two places of the hall.
    const region = { type: 'Polygon' as const, coordinates: [ringOf(9.001, 49.9, 9.0015, 50.1)] };
    harness.tell(0, zone(), fence({ id: 'dock', region, ...CROSSED }));
    harness.tell(1, inHall(1, [5, 5]));
    harness.tell(1.5, zone(east as typeof HALL));
    harness.tell(2, inHall(2, [6, 5]));
    assert.deepEqual(short(harness.takeFenceEvents()), []);
  });

  it('crosses the antimeridian and the pole', async () => {
    const harness = await ShardHarness.open();
    const taveuni = { type: 'Polygon' as const, coordinates: [ringOf(179.9999, -16.9, 180.0001, -16.7)] };
    const pole = { type: 'Point' as const, coordinates: [0, 90] };
    harness.tell(
      0,
      fence({ id: 'line', region: taveuni, ...CROSSED }),
      fence({ id: 'pole', region: pole, radius: 50, ...CROSSED }),
    );
    for (const [name, from, to] of [
      ['ship', [179.999, -16.8], [-179.999, -16.8]],
      ['bear', [20, 89.999], [-160, 89.999]],
    ] as const) {
      harness.tell(1, locationAt(1, from[0], from[1], { provider_id: name }));
      harness.tell(2, locationAt(2, to[0], to[1], { provider_id: name }));
    }
    const lines = brief(harness.takeFenceEvents());
    assert.deepEqual(lines.slice(0, 2), ['entry line ship 1.45', 'exit line ship 1.45-1.55']);
    assert.match(lines.slice(2).join(), /^entry pole bear 1\.2\d+,exit pole bear 1\.2\d+-1\.7\d+$/);
  });

  it('does not depend on the division into steps', async () => {
    const way: readonly Spot[] = [
      [-10, 5],
      [30, 5],
      [5, 5],
      [5, -30],
      [5, 30],
    ];
    const locations = way.map((spot, i) => inHall(1 + i, spot));
    const [one, each] = [await ShardHarness.open(), await ShardHarness.open()];
    for (const harness of [one, each]) harness.tell(0, zone(), fence(DOCK), trackable('cart', ['tag']));
    one.tell(10, ...locations);
    for (const location of locations) each.tell(10, location);
    assert.deepEqual(one.observed.fenceEvents, each.observed.fenceEvents);
    assert.ok(one.observed.fenceEvents.length > 8);
  });

  it('gives the events of the same object seen every few centimeters', async () => {
    const coordinate = fc.integer({ min: -1200, max: 2200 }).map((cm) => cm / 100 + 0.0037);
    const way = fc.array(fc.tuple(coordinate, coordinate), { minLength: 2, maxLength: 4 });
    // No timers: a timer that runs already fires before the next location is known.
    const timing = fc.constantFrom({}, { exit_tolerance: 1.5 }, { entry_tolerance: 1.2 });
    await fc.assert(
      fc.asyncProperty(way, timing, fc.boolean(), async (spots, own, isComb) => {
        const entity: Fence = { ...(isComb ? COMB : DOCK), ...own };
        const sparse = await played(entity, spots, 1);
        const dense = await played({ ...entity, crossing: 'none' }, spots, 400);
        assert.deepEqual(significant(sparse, dense), significant(dense, sparse));
      }),
      { numRuns: 25, seed: 7 },
    );
  });
});

async function played(entity: Fence, way: readonly Spot[], pieces: number): Promise<FenceEvent[]> {
  const harness = await ShardHarness.open();
  harness.tell(0, zone(), fence(entity));
  for (const [i, [x, y]] of way.entries()) {
    const [toX, toY] = way[i + 1] ?? [x, y];
    for (let k = 0; k < pieces && (k === 0 || i + 1 < way.length); k++) {
      const second = 1 + i + k / pieces;
      harness.tell(second, inHall(second, [x + ((toX - x) * k) / pieces, y + ((toY - y) * k) / pieces]));
    }
  }
  return harness.takeFenceEvents();
}

/** Returns the events that have no event of the same kind within 20 ms among the others. */
function significant(events: readonly FenceEvent[], others: readonly FenceEvent[]): string[] {
  const close = (a: FenceEvent, b: FenceEvent): boolean => {
    const time = ({ entry_time: entry, exit_time: exit }: FenceEvent): number => Date.parse((exit ?? entry) as string);
    return a.event_type === b.event_type && Math.abs(time(a) - time(b)) <= 20;
  };
  return events.filter((event) => !others.some((other) => close(event, other))).map((event) => brief([event]).join());
}

function short(events: readonly FenceEvent[]): string[] {
  return brief(events).map((line) => line.replace(' tag ', ' '));
}

describe('A gate', () => {
  const GATE: Fence = {
    id: 'gate',
    region: {
      type: 'LineString',
      coordinates: [
        [0, 0],
        [0, 10],
      ],
    },
    crs: 'local',
    zone_id: HALL.id,
    properties: { lane: 1 },
  };
  const rows: readonly [name: string, gate: Partial<Fence>, way: readonly Spot[], hears: readonly string[]][] = [
    [
      'to its right',
      {},
      [
        [-10, 5],
        [30, 5],
      ],
      ['right 1.25'],
    ],
    [
      'to its left',
      {},
      [
        [30, 5],
        [-10, 5],
      ],
      ['left 1.75'],
    ],
    [
      'beside it',
      {},
      [
        [-10, 12],
        [30, 12],
      ],
      [],
    ],
    [
      'there and back',
      {},
      [
        [-5, 5],
        [5, 5],
        [-5, 5],
      ],
      ['right 1.5', 'left 2.5'],
    ],
    [
      'over a position on it',
      {},
      [
        [-5, 5],
        [0, 5],
        [5, 5],
      ],
      ['right 2'],
    ],
    [
      'on another floor',
      { floor: 1 },
      [
        [-10, 5],
        [30, 5],
      ],
      [],
    ],
    [
      'above it',
      { extrusion: 3 },
      [
        [-10, 5, 4],
        [30, 5, 4],
      ],
      [],
    ],
    [
      'down through its height',
      { extrusion: 3 },
      [
        [-10, 5, 3.5],
        [30, 5, -0.5],
      ],
      ['right 1.25'],
    ],
    [
      'whatever its crossing says',
      { crossing: 'none' },
      [
        [-10, 5],
        [30, 5],
      ],
      ['right 1.25'],
    ],
  ];
  for (const [name, more, way, hears] of rows) {
    it(`has one event for a way ${name}`, async () => {
      const harness = await ShardHarness.open();
      harness.tell(0, zone(), fence({ ...GATE, ...more }));
      for (const [i, spot] of way.entries()) harness.tell(1 + i, inHall(1 + i, spot));
      harness.step(60);
      const events = harness.takeFenceEvents();
      assert.deepEqual(
        events.map((event) => {
          assert.equal(event.event_type, 'region_exit');
          assert.equal(event.entry_time, event.exit_time);
          assert.equal(event.properties?.['lane'], 1);
          return `${event.properties?.['hub.direction']} ${brief([event])[0]?.split('-')[1]}`;
        }),
        hears,
      );
      assert.deepEqual(harness.ask(61, { ask: 'fence_providers', id: 'gate', spatial: false }), { ids: [] });
      assert.deepEqual(harness.ask(61, { ask: 'fence_providers', id: 'gate', spatial: true }), { ids: [] });
    });
  }

  it('can become a fence, and a fence a gate', async () => {
    const harness = await ShardHarness.open();
    harness.tell(0, zone(), fence(GATE));
    harness.tell(1, inHall(1, [-10, 5]));
    harness.tell(1.5, fence({ ...DOCK, id: 'gate', crossing: 'none' }));
    harness.tell(2, inHall(2, [5, 5]));
    harness.tell(2.5, fence(GATE));
    harness.tell(3, inHall(3, [-5, 5]));
    harness.tell(4, deleted('fence', 'gate'));
    harness.tell(5, inHall(5, [5, 5]));
    assert.deepEqual(short(harness.takeFenceEvents()), ['entry gate 2', 'exit gate 2-2.5', 'exit gate 2.5-2.5']);
    assert.equal(harness.shard.state.crossing.fences, 0);
  });
});
