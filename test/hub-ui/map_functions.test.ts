import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isMatch, searchEntities, wordsOf } from '../../src/hub-ui/hub/entity_search.ts';
import { MoveCollector, ROW } from '../../src/hub-ui/hub/moves.ts';
import { backoffMs } from '../../src/hub-ui/hub/retry.ts';
import { MovingObjects } from '../../src/hub-ui/map/objects/moving_objects.ts';
import { northOf, georeference, georeferenceZone, zoneOutline } from '../../src/hub-ui/map/plane/georeference.ts';
import { labelPosition } from '../../src/hub-ui/map/plane/label_position.ts';
import { EARTH, fromMap, mapX, mapY, planeOfZone, toMap, unitsPerMeter } from '../../src/hub-ui/map/plane/plane.ts';
import type { Trackable } from '../../src/model/trackable.ts';
import type { Zone } from '../../src/model/zone.ts';
import { earth, HALL } from './ui_site.ts';

const ZONE = HALL as Zone;

function near(found: readonly number[] | undefined, expected: readonly number[], within: number): void {
  for (const [i, value] of expected.entries()) {
    assert.ok(Math.abs((found?.[i] ?? Number.NaN) - value) <= within, `${found} is not ${expected}`);
  }
}

test('toMap and fromMap are inverse functions', () => {
  for (const position of [
    [0, 0],
    [8.6821, 50.1109],
    [-179.5, -84],
    [179.99, 84.9],
  ]) {
    near(fromMap(EARTH, toMap(EARTH, position)), position, 1e-8);
    near(fromMap(planeOfZone(ZONE), toMap(planeOfZone(ZONE), position)), position, 0.01);
  }
});

test('unitsPerMeter is the Mercator scale factor', () => {
  assert.equal(unitsPerMeter(EARTH, [0, 0]), 1);
  near([unitsPerMeter(EARTH, [0, mapY(60)])], [2], 1e-9);
  assert.equal(unitsPerMeter(planeOfZone(ZONE), [0, 5e6]), 1);
});

test('georeferenceZone converts local coordinates of a zone to map coordinates and back', () => {
  const placed = georeferenceZone(ZONE);
  const [longitude, latitude] = earth(40, 25);
  near(placed?.toMap([40, 25]), [mapX(longitude), mapY(latitude)], 0.02);
  near(placed?.fromMap([mapX(longitude), mapY(latitude)]), [40, 25], 0.02);
});

test('georeference returns no transform if control points are insufficient', () => {
  assert.equal(georeference([]), undefined);
  assert.equal(
    georeference([
      [8, 50],
      [0, 0],
    ]),
    undefined,
  );
  assert.equal(
    georeference([
      [8, 50],
      [0, 0],
      [8, 50],
      [10, 0],
    ]),
    undefined,
  );
});

test('northOf returns the direction of north in a rotated zone', () => {
  assert.equal(northOf(EARTH), 0);
  // The x axis of the hall points north: to the right of the view.
  near([northOf(planeOfZone(ZONE))], [90], 0.1);
});

test('zoneOutline is the hull of the control points in any order', () => {
  const [a, b, c, d] = [
    [0, 0],
    [100, 0],
    [100, 60],
    [0, 60],
  ] as const;
  const rows = [c, a, [50, 30], d, b].flatMap((local) => [earth(local[0] ?? 0, local[1] ?? 0), [...local]]);
  const outline = zoneOutline({ ...ZONE, ground_control_points: rows }, planeOfZone(ZONE));
  assert.deepEqual(outline, [a, b, c, d]);
});

function motion(id: string, x: number, { at = 0, more = {} }: { at?: number; more?: object } = {}): unknown {
  const timestamp = new Date(1_800_000_000_000 + at).toISOString();
  const position = { type: 'Point', coordinates: [x, 1] };
  return { id, name: id, location: { position, provider_type: 'uwb', timestamp_generated: timestamp, ...more } };
}

test('Moves stores the newest position of each object until it is taken', () => {
  const moves = new MoveCollector();
  moves.add([
    motion('a', 1),
    motion('b', 5),
    motion('a', 2, { at: 10 }),
    motion('a', 3, { at: 20, more: { floor: -1 } }),
  ]);
  const batch = moves.take();
  assert.equal(batch.isReset, true);
  assert.deepEqual(
    batch.added.map(({ id, index }) => [id, index]),
    [
      ['a', 0],
      ['b', 1],
    ],
  );
  assert.equal(batch.rows.length, 2 * ROW);
  assert.deepEqual([...batch.rows.slice(0, 3)], [0, 3, 1]);
  assert.equal(batch.rows[5], -1);
  assert.equal(moves.isEmpty, true);
  moves.add([motion('b', 6, { at: 30 })]);
  const next = moves.take();
  assert.equal(next.isReset, false);
  assert.deepEqual(next.added, []);
  assert.deepEqual([...next.rows.slice(0, 2)], [1, 6]);
});

test('Moves does not let a late list overwrite newer updates', () => {
  const moves = new MoveCollector();
  moves.add([motion('a', 2, { at: 10 })]);
  moves.add([motion('a', 1, { at: 5 }), motion('b', 7)], { isList: true });
  assert.deepEqual(
    [...moves.take().rows].filter((_, i) => i % ROW === 1),
    [2, 7],
  );
});

test('MovingObjects takes batches on either plane, and resets with the first batch of a new feed', () => {
  const geometry = {
    type: 'Polygon',
    coordinates: [
      [
        [0, 0],
        [1, 0],
        [1, 1],
        [0, 0],
      ],
    ],
  };
  const moves = new MoveCollector();
  moves.add([{ ...(motion('a', 8.5) as object), geometry }, motion('b', 9)]);
  const objects = new MovingObjects(EARTH);
  objects.take(moves.take(), 5_000);
  assert.equal(objects.count, 2);
  near([objects.x[0] ?? 0, objects.y[0] ?? 0], [mapX(8.5), mapY(1)], 1e-6);
  near([...(objects.outlines[0] ?? [])], [0, 0, mapX(1), 0, mapX(1), mapY(1), 0, 0], 1e-6);

  objects.remove('b');
  assert.equal(objects.removed[1], 1);
  moves.add([motion('b', 9, { at: 50 }), motion('a', 8.6, { at: 50 })]);
  objects.take(moves.take(), 6_000);
  assert.equal(objects.removed[1], 0);
  assert.equal(objects.outlines[0], undefined);
  assert.equal(objects.lastSeenMs[1], 6_000);

  moves.restart();
  moves.add([motion('c', 1)]);
  objects.take(moves.take(), 7_000);
  assert.equal(objects.count, 1);
  assert.equal(objects.indexOf('a'), undefined);
  assert.equal(objects.indexOf('c'), 0);
});

test('MovingObjects grows with the objects it receives', () => {
  const moves = new MoveCollector();
  moves.add(Array.from({ length: 3_000 }, (_, i) => motion(`tag-${i}`, i / 1_000)));
  const objects = new MovingObjects(EARTH);
  objects.take(moves.take(), 0);
  assert.equal(objects.count, 3_000);
  near([objects.x[2_999] ?? 0], [mapX(2.999)], 1e-6);
  assert.equal(objects.facts[2_999]?.id, 'tag-2999');
});

test('The search looks at ids, names, foreign ids and properties, for all words', () => {
  const trackable = {
    id: '0b680db2',
    type: 'omlox',
    name: 'Forklift 7',
    properties: { driver: 'Kim Özil', tools: ['Saw'] },
  } as unknown as Trackable;
  for (const text of ['fork', '0B68', 'kim 7', 'saw', 'özil', 'driver'])
    assert.ok(isMatch(trackable, wordsOf(text)), text);
  for (const text of ['kim 9', 'hammer']) assert.ok(!isMatch(trackable, wordsOf(text)), text);
  assert.ok(isMatch(ZONE, wordsOf('hall')));
});

test('A search matches words by prefix, and codes only by distinctive parts', () => {
  const id = '99a07bfe-1199-4c0b-8a99-3a1f6a1de099';
  const has = (entity: object, text: string): boolean => isMatch({ id, ...entity } as Trackable, wordsOf(text));
  for (const name of ['Pallet 99', 'Pallet 990', 'Pallet99', 'PALLET-99', 'Old pallet, 99']) {
    assert.ok(has({ name }, 'Pallet 99'), name);
  }
  for (const name of ['Pallet 9', 'Pallet 199', 'Pallet A1B99', 'Pallets 1.099']) {
    assert.ok(!has({ name }, 'Pallet 99'), name);
  }
  const tagged = { name: 'Pallet 5', properties: { erp: 'f2994d3e-6a53-4a3e-9a43-0d8f4a4f2b11', kg: 990.5, row: 12 } };
  for (const text of ['99', 'pallet 99', 'pallet kg 990', '3A1F6A1DE099', '0b-8a99'])
    assert.ok(!has(tagged, text), text);
  for (const text of [id, '99a07b', '99A07BFE-1199', 'f2994d', 'pallet 12', '990.5', 'erp'])
    assert.ok(has(tagged, text), text);
  assert.ok(has({ name: 'AA:BB:CC:DD:EE:99' }, 'aa:bb:c') && !has({ name: 'AA:BB:CC:DD:EE:99' }, '99'));
  assert.ok(has({ id: 'demo-tag-29' }, 'tag-29') && has({ id: 'demo-tag-29' }, '29'));
  assert.ok(has({ name: 'Gabelstapler Süd' }, 'gabel sud') && has({ name: '第3仓库' }, '仓库'));
  assert.ok(has({ name: 'Tag #7' }, '#7') && !has({ name: 'Tag 7' }, '#7'));
});

test('searchEntities ranks an exact name first, however many names begin with the text', () => {
  const named = Array.from({ length: 300 }, (_, i): [string, Trackable] => {
    return [`t${299 - i}`, { id: `t${299 - i}`, name: `Pallet ${299 - i}`, type: 'omlox' }];
  });
  const found = searchEntities({ trackables: new Map(named) }, 'pallet 2', 12);
  assert.equal(found[0]?.entity.name, 'Pallet 2');
  assert.equal(found.length, 12);
});

test('searchEntities puts names that begin with the text first, and stops in time', () => {
  const named = (id: string, name: string): [string, Trackable] => [id, { id, name, type: 'omlox' }];
  const trackables = new Map([named('1', 'Big cart'), named('2', 'Cart 1'), named('3', 'Cart 2')]);
  const ids = (most: number) => searchEntities({ trackables }, 'cart', most).map(({ entity }) => entity.id);
  assert.deepEqual(ids(5), ['2', '3', '1']);
  assert.deepEqual(ids(2), ['2', '3']);
  assert.deepEqual(searchEntities({ trackables }, '  ', 5), []);
});

test('waitBefore doubles up to a limit, with jitter', () => {
  assert.deepEqual(
    [1, 2, 3, 20].map((attempt) => backoffMs(attempt, () => 1)),
    [500, 1_000, 2_000, 15_000],
  );
  assert.equal(
    backoffMs(3, () => 0),
    1_000,
  );
});

const WIDE = [
  [0, 0],
  [100, 0],
  [100, 50],
  [0, 50],
];
const DIAMOND = [
  [0, -50],
  [50, 0],
  [0, 50],
  [-50, 0],
];
const HOLE = [
  [20, 30],
  [90, 30],
  [90, 49],
  [20, 49],
];

for (const [name, rings, widthPixels, wanted] of [
  ['below the upper edge', [WIDE], 60, [50, 37]],
  ['lower, if a tip has no room', [DIAMOND], 40, [0, 27.75]],
  ['beside a hole', [WIDE, HOLE], 15, [10, 37]],
  ['below a hole that leaves no room', [WIDE, HOLE], 60, [50, 29.5]],
  ['nowhere in a narrow shape', [WIDE], 120, undefined],
  ['nowhere in nothing', [[]], 10, undefined],
] as const) {
  test(`labelPosition places a name ${name}`, () => {
    const found = labelPosition(rings, { widthPixels, resolution: 1 });
    if (wanted === undefined) return assert.equal(found, undefined);
    const { left, right, y } = found ?? assert.fail('it is nowhere');
    const x = (left + right) / 2;
    assert.ok(Math.abs(x - wanted[0]) < 0.01 && Math.abs(y - wanted[1]) <= 3, `${x},${y}`);
  });
}
