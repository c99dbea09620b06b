import assert from 'node:assert/strict';
import { test } from 'node:test';
import Polygon from 'ol/geom/Polygon.js';
import {
  AROUND,
  LABEL_PIXELS,
  placeLabels,
  type LabelStates,
  type LabelRequest,
} from '../../src/hub-ui/map/labels/labels.ts';
import { type Cluster, clusterObjects, extentOf } from '../../src/hub-ui/map/objects/clusters.ts';
import type { Spread } from '../../src/hub-ui/map/objects/density.ts';
import { areaOf, MovingObjects, markInside } from '../../src/hub-ui/map/objects/moving_objects.ts';
import { Trail } from '../../src/hub-ui/map/objects/trail.ts';
import type { Plane } from '../../src/hub-ui/map/plane/plane.ts';
import {
  assignColors,
  colorByFrom,
  colorValue,
  DARK_CATEGORIES,
  LIGHT_CATEGORIES,
  propertyNames,
} from '../../src/hub-ui/map/view/color_by.ts';
import { afterEvents } from '../../src/hub-ui/map_page/wall/fence_counts.ts';
import type { FenceEvent } from '../../src/model/events.ts';

const HALL_PLANE: Plane = { kind: 'zone', id: 'z', zone: { id: 'z', type: 'uwb' } };
const NOTHING: LabelStates = new Map();

/** A name of 40 pixels at a point, with a rank. */
function wanted(key: string, x: number, y: number, more: Partial<LabelRequest> = {}): LabelRequest {
  return { key, rank: 1, x, y, width: 40, sides: AROUND, isImportant: false, ...more };
}

interface Scene {
  readonly names: readonly LabelRequest[];
  readonly symbols?: readonly number[];
  readonly blocks?: readonly number[];
  readonly before?: LabelStates;
  readonly nowMs?: number;
  readonly most?: number;
}

/** Placed names with their sides, ordered by key. */
function standing({ names, symbols = [], blocks = [], before = NOTHING, nowMs = 0, most = 100 }: Scene) {
  const found = placeLabels(names, { before, nowMs, symbols, blocks, width: 400, height: 300, most });
  const sides = found.placed.map(({ name: { key } }) => `${key} ${found.states.get(key)?.side}`).sort();
  return { ...found, sides };
}

const A = wanted('a', 100, 100);

for (const [name, scene, sides] of [
  ['at the right, if there is room', { names: [A] }, ['a right']],
  ['at the left at the edge of the screen', { names: [wanted('a', 380, 100)] }, ['a left']],
  ['beside symbols', { names: [A], symbols: [120, 100] }, ['a left']],
  ['above, between two symbols', { names: [A], symbols: [120, 100, 80, 100] }, ['a above']],
  ['nowhere among symbols', { names: [A], symbols: [120, 100, 80, 100, 100, 85, 100, 115] }, []],
  [
    'on symbols, if it is important',
    { names: [wanted('a', 100, 100, { isImportant: true })], symbols: [120, 100, 80, 100, 100, 85, 100, 115] },
    ['a right'],
  ],
  [
    'beside numbers',
    { names: [wanted('a', 100, 100, { isImportant: true })], blocks: [120, 90, 140, 110] },
    ['a left'],
  ],
  ['next to other names', { names: [A, wanted('b', 100, 102)] }, ['a right', 'b left']],
  ['of the higher rank first', { names: [A, wanted('b', 100, 102, { rank: 2 })] }, ['a left', 'b right']],
  [
    'no more often than requested',
    { names: [A, wanted('b', 100, 200), wanted('c', 200, 200)], most: 2 },
    ['a right', 'b right'],
  ],
  [
    'at its only position or nowhere',
    {
      names: [wanted('f', 110, 100, { sides: ['here'], rank: 4 }), wanted('z', 120, 100, { sides: ['here'], rank: 3 })],
    },
    ['f here'],
  ],
] as const satisfies readonly (readonly [string, Scene, readonly string[]])[]) {
  test(`placeLabels writes names ${name}`, () => assert.deepEqual(standing(scene).sides, sides));
}

test('placeLabels lets no two names overlap, regardless of their number', () => {
  const names = Array.from({ length: 500 }, (_, i) => {
    const random = (n: number): number => ((i * n * 7_919) % 1_000) / 1_000;
    return wanted(`n${i}`, 400 * random(13), 300 * random(29), { rank: i % 4, width: 20 + (i % 50) });
  });
  const { placed } = standing({ names });
  assert.ok(placed.length > 50, `${placed.length} of them`);
  for (const [at, one] of placed.entries()) {
    for (const other of placed.slice(at + 1)) {
      const isApart =
        one.left + one.name.width <= other.left ||
        other.left + other.name.width <= one.left ||
        Math.abs(one.top - other.top) >= LABEL_PIXELS;
      assert.ok(isApart, `${one.name.key} and ${other.name.key}`);
    }
  }
});

test('A placed name keeps its side and has priority in its rank, but yields to a higher rank', () => {
  const first = standing({ names: [wanted('b', 100, 102)] });
  const later = standing({ names: [A, wanted('b', 100, 102)], before: first.states, nowMs: 50 });
  assert.deepEqual(later.sides, ['a left', 'b right']);
  const alone = standing({ names: [A], before: later.states, nowMs: 100 });
  assert.deepEqual(alone.sides, ['a left'], 'it does not jump as soon as the better side is free');
  const above = standing({
    names: [A, wanted('c', 90, 101, { rank: 5, width: 300 })],
    before: alone.states,
    nowMs: 150,
  });
  assert.deepEqual(above.sides, ['a left', 'c right']);
});

test('A hidden name reappears after a delay, and only with some margin', () => {
  const sides = ['right'] as const;
  const one = wanted('a', 100, 100, { sides });
  const there = standing({ names: [one] });
  const gone = standing({
    names: [one, wanted('b', 110, 100, { rank: 2, sides })],
    before: there.states,
    nowMs: 100,
  });
  assert.deepEqual(gone.sides, ['b right']);
  const early = standing({ names: [one], before: gone.states, nowMs: 600 });
  assert.deepEqual(early.sides, []);
  const late = standing({ names: [one], before: early.states, nowMs: 900 });
  assert.deepEqual(late.sides, ['a right']);
  const near = wanted('b', 142, 100, { sides, rank: 2 });
  assert.deepEqual(standing({ names: [near, one] }).sides, ['b right'], 'it would be two pixels from another');
  assert.deepEqual(standing({ names: [near, one], before: there.states }).sides, ['a right', 'b right']);
});

test('A name over a symbol moves to a free side after a second, or stays', () => {
  const before: LabelStates = new Map([['a', { side: 'right', sinceMs: 0 }]]);
  const scene = { names: [A], symbols: [125, 100], before };
  assert.deepEqual(standing({ ...scene, nowMs: 900 }).sides, ['a right']);
  assert.deepEqual(standing({ ...scene, nowMs: 1_100 }).sides, ['a left']);
  const among = [125, 100, 75, 100, 100, 85, 100, 115];
  assert.deepEqual(standing({ ...scene, symbols: among, nowMs: 1_100 }).sides, ['a right']);
});

test('Names of jittering objects do not flicker', () => {
  let before = NOTHING;
  const changes = new Map<string, number>();
  for (let frame = 0; frame < 200; frame++) {
    const names = Array.from({ length: 60 }, (_, i) => {
      const [x, y] = [(i % 10) * 42 + 5, Math.floor(i / 10) * 48 + 20];
      return wanted(`n${i}`, x + 3 * Math.sin(frame / 3 + i), y + 3 * Math.cos(frame / 3 + i), {
        width: 30 + (i % 20),
      });
    });
    const symbols = names.flatMap(({ x, y }) => [x, y]);
    const { states: standings } = standing({ names, symbols, before, nowMs: frame * 50 });
    for (const [key, { side }] of standings) {
      if (frame > 0 && before.get(key)?.side !== side) changes.set(key, (changes.get(key) ?? 0) + 1);
    }
    before = standings;
  }
  const most = Math.max(0, ...changes.values());
  assert.ok(most <= 10, `in ten seconds, a name appeared, disappeared or changed its side ${most} times`);
});

/** Points of the screen. */
function spread(...points: readonly (readonly [number, number])[]): Spread & { indices: Uint32Array } {
  return {
    x: points.map(([x]) => x),
    y: points.map(([, y]) => y),
    indices: Uint32Array.from(points.keys()),
    drawn: points.length,
  };
}

const sizes = (clusters: readonly Cluster[]): number[] => clusters.map(({ count }) => count).sort();

for (const [name, points, counts, alone] of [
  [
    'three in a cell',
    [
      [10, 10],
      [20, 20],
      [30, 30],
    ],
    [3],
    0,
  ],
  [
    'no cluster of one',
    [
      [10, 10],
      [200, 200],
    ],
    [],
    2,
  ],
  [
    'two that cover each other',
    [
      [10, 10],
      [15, 10],
    ],
    [2],
    0,
  ],
  [
    'distinguishable ones',
    [
      [5, 10],
      [45, 10],
    ],
    [],
    2,
  ],
  [
    'both sides of the edge of a cell',
    [
      [40, 10],
      [45, 10],
      [50, 10],
      [54, 10],
      [58, 10],
      [60, 10],
    ],
    [6],
    0,
  ],
  [
    'objects that a number would cover',
    [
      [40, 10],
      [45, 10],
      [50, 10],
      [60, 10],
    ],
    [4],
    0,
  ],
] as const) {
  test(`clusterObjects gathers ${name}`, () => {
    const screen = spread(...points);
    const clusters = clusterObjects(screen, { origin: [0, 0] });
    assert.deepEqual([sizes(clusters), screen.drawn], [counts, alone]);
    assert.ok(clusters.every(({ count, members }) => count > 1 && new Set(members).size === count));
  });
}

test('clusterObjects shows the same numbers while the map is dragged', () => {
  const points = Array.from({ length: 60 }, (_, i): [number, number] => [(i * 37) % 400, (i * 91) % 300]);
  const seen = [0, 13, 26, 39].map((by) => {
    const moved = points.map(([x, y]): [number, number] => [x + by, y + by]);
    return sizes(clusterObjects(spread(...moved), { origin: [by, by] }));
  });
  assert.ok((seen[0]?.length ?? 0) > 3);
  for (const each of seen) assert.deepEqual(each, seen[0]);
});

test('clusterObjects omits selected objects, and extentOf covers the others', () => {
  const screen = spread([10, 10], [20, 20], [30, 12], [12, 30]);
  const [cluster] = clusterObjects(screen, { origin: [0, 0], keep: 1 });
  assert.deepEqual([cluster?.count, screen.drawn, screen.indices[0]], [3, 1, 1]);
  assert.deepEqual(extentOf(cluster ?? assert.fail(), { x: [1, 50, 3, 2], y: [7, 60, 9, 8] }), [1, 7, 3, 9]);
});

for (const [name, counts, before, wantedColors] of [
  ['by how frequent values are', { red: 5, blue: 9 }, {}, { blue: 1, red: 2 }],
  ['by name, if two are equally frequent', { '10': 2, '9': 2 }, {}, { '9': 1, '10': 2 }],
  ['as before, whatever is more frequent now', { red: 9, blue: 5 }, { blue: 1, red: 2 }, { red: 2, blue: 1 }],
  ['that are free', { red: 9, green: 5 }, { blue: 1, red: 2 }, { red: 2, green: 1 }],
  [
    'to the eight most frequent values, which retain them for a while',
    { a: 9, b: 9, c: 9, d: 9, e: 9, f: 9, g: 9, h: 8, i: 9 },
    { h: 8 },
    { a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7, h: 8 },
  ],
  ['to others eventually', { a: 9, b: 9, c: 9, d: 9, e: 9, f: 9, g: 9, h: 2, i: 9 }, { h: 8 }, { i: 8 }],
] as const) {
  test(`assignColors gives colors ${name}`, () => {
    const found = assignColors(new Map(Object.entries(counts)), new Map(Object.entries(before)));
    for (const [value, color] of Object.entries(wantedColors)) assert.equal(found.get(value), color, value);
    assert.ok(found.size <= 8 && new Set(found.values()).size === found.size);
  });
}

const CART = {
  id: 'c',
  type: 'virtual',
  parent: 'truck',
  properties: { owner: 'Kim', load: 3, isFull: false, tags: [] },
} as const;

for (const [by, value] of [
  ['state', undefined],
  ['type', 'virtual'],
  ['provider_type', 'uwb'],
  ['floor', '-2'],
  ['parent', 'truck'],
  ['property:owner', 'Kim'],
  ['property:load', '3'],
  ['property:isFull', 'false'],
  ['property:tags', undefined],
  ['property:nothing', undefined],
] as const) {
  test(`colorValue of an object by ${by} is ${value}`, () => {
    const entity = { ...CART, properties: { ...CART.properties, tags: [] } };
    assert.equal(colorValue({ entity, providerType: 'uwb', floor: -2 }, by), value);
    assert.equal(colorByFrom(by), by);
  });
}

test('An invalid color mode in the URL falls back to the stored one', () => {
  for (const text of [undefined, '', 'property:', 'shape']) assert.equal(colorByFrom(text), 'state');
});

test('propertyNames are those with values that can be colored, the most frequent first', () => {
  const entities = [CART, { ...CART, properties: { load: 1, plan: {} } }].map((each) => each as never);
  assert.deepEqual(propertyNames(entities), ['load', 'isFull', 'owner']);
});

test('markInside finds objects by position and floor', () => {
  const square = new Polygon([
    [
      [0, 0],
      [10, 0],
      [10, 10],
      [0, 10],
      [0, 0],
    ],
    [
      [4, 4],
      [6, 4],
      [6, 6],
      [4, 6],
      [4, 4],
    ],
  ]);
  const objects = new MovingObjects(HALL_PLANE);
  const places = [
    [1, 1, 0],
    [5, 5, 0],
    [1, 1, 1],
    [11, 5, 0],
    [1, 2, Number.NaN],
  ] as const;
  for (const [at, [x, y, floor]] of places.entries()) {
    const index = objects.add({ id: `o${at}`, name: undefined, providerType: 'uwb' });
    objects.move(index, x, y);
    objects.floor[index] = floor;
  }
  markInside(objects, [areaOf(square, 0)]);
  assert.deepEqual([...objects.inside.subarray(0, 5)], [1, 0, 0, 0, 1]);
  markInside(objects, [areaOf(square, null)]);
  assert.deepEqual([...objects.inside.subarray(0, 5)], [1, 0, 1, 0, 1]);
});

test('A trail starts with the tail, grows in steps, is bounded, and ends at a jump', () => {
  const objects = new MovingObjects(HALL_PLANE);
  const index = objects.add({ id: 'a', name: undefined, providerType: 'uwb' });
  for (const x of [1, 2, 3]) objects.move(index, x, 0);
  const trail = new Trail();
  trail.follow(objects, index);
  assert.deepEqual(trail.points, [1, 0, 2, 0, 3, 0]);
  objects.move(index, 3.1, 0);
  trail.follow(objects, index);
  assert.equal(trail.points.length, 6, 'it stands still');
  for (let x = 4; x < 5_000; x++) {
    objects.move(index, x, 0);
    trail.follow(objects, index);
  }
  assert.ok(trail.points.length <= 2_000, `${trail.points.length}`);
  objects.move(index, 9_000, 0);
  trail.follow(objects, index);
  assert.deepEqual(trail.points, [9_000, 0]);
});

test('Neither tails nor trails connect the positions before and after a long silence', () => {
  const objects = new MovingObjects(HALL_PLANE);
  const added = [{ index: 0, id: 'a', name: undefined, providerType: 'uwb' }];
  const at = (x: number, nowMs: number): void => {
    const rows = Float64Array.of(0, x, 0, Number.NaN, Number.NaN, Number.NaN, nowMs);
    const isFirst = objects.count === 0;
    objects.take({ added: isFirst ? added : [], rows, outlines: new Float64Array(0), isReset: false }, nowMs);
  };
  const trail = new Trail();
  for (const [x, nowMs] of [
    [1, 1_000],
    [2, 2_000],
    [3, 30_000],
  ] as const) {
    at(x, nowMs);
    trail.follow(objects, 0);
  }
  assert.equal(objects.tailLength[0], 3);
  assert.deepEqual(trail.points, [1, 0, 2, 0, 3, 0]);
  at(20, 60_001);
  trail.follow(objects, 0);
  assert.equal(objects.tailLength[0], 1);
  assert.deepEqual(trail.points, [20, 0]);
});

test('A trail has the reported positions, although the object glides past them', () => {
  const objects = new MovingObjects(HALL_PLANE);
  const added = [{ index: 0, id: 'a', name: undefined, providerType: 'uwb' }];
  const trail = new Trail();
  const corners = [
    [0, 0],
    [9, 0],
    [9, 9],
    [0, 9],
  ] as const;
  for (const [k, [x, y]] of corners.entries()) {
    const nowMs = 1_000 * k;
    objects.advance(nowMs + 100);
    const rows = Float64Array.of(0, x, y, Number.NaN, Number.NaN, Number.NaN, nowMs);
    const view = { atMs: nowMs, extent: [-10, -10, 10, 10], step: 0.1, unitsPerMeter: 1 };
    objects.take({ added: k === 0 ? added : [], rows, outlines: new Float64Array(0), isReset: false }, nowMs, view);
    objects.advance(nowMs + 500);
    trail.follow(objects, 0);
  }
  assert.deepEqual(
    trail.points.filter((_, i) => i % 2 === 0).map((x, i) => [x, trail.points[2 * i + 1]]),
    corners.slice(0, -1),
  );
  const [headX, headY] = trail.head;
  assert.ok(headX > 0 && headX < 9 && headY > 0 && headY < 10, `on its way to the last corner: ${trail.head}`);
});

test('A trail has the position that a glide did not reach before its object jumped', () => {
  const objects = new MovingObjects(HALL_PLANE);
  const trail = new Trail();
  const rows = (x: number, nowMs: number) => Float64Array.of(0, x, 0, Number.NaN, Number.NaN, Number.NaN, nowMs);
  const batch = { added: [], outlines: new Float64Array(0), isReset: false };
  const view = { extent: [-100, -100, 100, 100], step: 0.1, unitsPerMeter: 1 };
  const added = [{ index: 0, id: 'a', name: undefined, providerType: 'uwb' }];
  objects.take({ ...batch, added, rows: rows(1, 0) }, 0);
  objects.take({ ...batch, rows: rows(11, 1_000) }, 1_000, { ...view, atMs: 1_000 });
  // Faster than anything on a site: the object is drawn there at once.
  objects.take({ ...batch, rows: rows(90, 1_010) }, 1_010, { ...view, atMs: 1_010 });
  trail.follow(objects, 0);
  assert.deepEqual([objects.x[0], trail.points], [90, [1, 0, 11, 0, 90, 0]]);
});

test('afterEvents counts entries and exits of the fences that are counted', () => {
  const inside = new Map([['f', new Set(['a'])]]);
  const event = (fenceId: string, type: 'region_entry' | 'region_exit', id: string, provider?: string): FenceEvent =>
    ({ fence_id: fenceId, event_type: type, trackable_id: id, provider_id: provider }) as FenceEvent;
  const ids = (events: readonly FenceEvent[], counted: 'trackables' | 'providers') => [
    ...(afterEvents(inside, events, counted).get('f') ?? []),
  ];
  assert.deepEqual(ids([event('f', 'region_entry', 'b'), event('f', 'region_exit', 'a')], 'trackables'), ['b']);
  assert.deepEqual(ids([event('f', 'region_entry', 'a')], 'trackables'), ['a'], 'a second entry changes nothing');
  assert.deepEqual(ids([event('f', 'region_entry', 'b', 'tag')], 'providers'), ['a', 'tag']);
  assert.equal(afterEvents(inside, [event('g', 'region_entry', 'b')], 'trackables'), inside);
});

/** Linear red, green and blue, between 0 and 1. */
type Light = readonly [number, number, number];

function lightOf(color: string): Light {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return [r, g, b];
}

/** Color vision deficiencies by Machado, Oliveira and Fernandes (2009), severity 1. */
const EYES = {
  'all colors': [1, 0, 0, 0, 1, 0, 0, 0, 1],
  protanopia: [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
  deuteranopia: [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
  tritanopia: [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039],
} as const;

function seenBy(eyes: keyof typeof EYES, [r, g, b]: Light): Light {
  const m = EYES[eyes];
  const row = (at: 0 | 3 | 6): number => Math.min(1, Math.max(0, m[at] * r + m[at + 1]! * g + m[at + 2]! * b));
  return [row(0), row(3), row(6)];
}

/** A color in Oklab, in which distances are perceptual. */
function oklab([r, g, b]: Light): readonly [number, number, number] {
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

function contrast(one: string, other: string): number {
  const luminance = ([r, g, b]: Light): number => 0.2126 * r + 0.7152 * g + 0.0722 * b;
  const [dark = 0, light = 0] = [luminance(lightOf(one)), luminance(lightOf(other))].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

for (const [theme, { values, other }, ground] of [
  ['light', LIGHT_CATEGORIES, '#f2f4f5'],
  ['dark', DARK_CATEGORIES, '#0f1317'],
] as const) {
  for (const [eyes, least] of [
    ['all colors', 0.14],
    ['protanopia', 0.09],
    ['deuteranopia', 0.09],
    ['tritanopia', 0.09],
  ] as const) {
    test(`Colors of values are distinguishable in the ${theme} theme for people with ${eyes}`, () => {
      const seen = [...values, other].map((color) => ({ color, lab: oklab(seenBy(eyes, lightOf(color))) }));
      for (const [at, one] of seen.entries()) {
        for (const two of seen.slice(at + 1)) {
          const distance = Math.hypot(...one.lab.map((each, axis) => each - (two.lab[axis] ?? 0)));
          assert.ok(distance >= least, `${one.color} and ${two.color}: ${distance.toFixed(3)}`);
        }
      }
    });
  }
  test(`Colors of values have enough contrast to the background of the ${theme} theme`, () => {
    for (const color of [...values, other])
      assert.ok(contrast(color, ground) >= 3, `${color}: ${contrast(color, ground)}`);
  });
}
