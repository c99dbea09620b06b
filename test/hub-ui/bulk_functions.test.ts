import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Edit, planAssignment, planEdits, propertyValue, undone } from '../../src/hub-ui/bulk/bulk_plan.ts';
import {
  anchorsIn,
  anchorsOnFloor,
  angleOf,
  fencesOnFloor,
  gridOf,
  nameFrom,
  ringInMeters,
  sizeOf,
  zoneOnFloor,
} from '../../src/hub-ui/bulk/copies.ts';
import { MIRROR_PROPERTY } from '../../src/model/mirror_mark.ts';
import type { Anchor } from '../../src/model/anchor.ts';
import type { Fence } from '../../src/model/fence.ts';
import type { Trackable } from '../../src/model/trackable.ts';
import type { Zone } from '../../src/model/zone.ts';
import { earth } from './ui_site.ts';

function ring(corners: readonly (readonly number[])[]): Fence['region'] {
  return { type: 'Polygon', coordinates: [[...corners, corners[0] ?? []]] } as Fence['region'];
}

const BAY: Fence = {
  id: 'bay',
  name: 'Bay',
  crs: 'local',
  zone_id: 'hall',
  foreign_id: 'B1',
  floor: 0,
  exit_delay: 2_000,
  region: ring([
    [0, 0, 1],
    [4, 0, 1],
    [4, 2, 1],
    [0, 2, 1],
  ]),
  properties: { gate: 1 },
};
const DOCK: Fence = { ...BAY, id: 'dock', name: 'Dock', floor: 2, exit_delay: 5_000, properties: { gate: 1, lamp: 2 } };

for (const [what, edits, expected] of [
  ['a floor, if it differs', [{ path: ['floor'], value: 2 }], ['bay floor 0→2']],
  ['a timer of all', [{ path: ['exit_delay'], value: -1 }], ['bay exit_delay 2000→-1', 'dock exit_delay 5000→-1']],
  ['removed members', [{ path: ['floor'], value: undefined }], ['bay floor 0→', 'dock floor 2→']],
  [
    'a property, next to the others',
    [{ path: ['properties', 'lamp'], value: 3 }],
    ['bay properties.lamp →3', 'dock properties.lamp 2→3'],
  ],
  [
    'several at once',
    [
      { path: ['floor'], value: 2 },
      { path: ['exit_delay'], value: 2_000 },
    ],
    ['bay floor 0→2', 'dock exit_delay 5000→2000'],
  ],
  ['nothing if all values are already equal', [{ path: ['properties', 'gate'], value: 1 }], []],
] as readonly (readonly [string, readonly Edit[], readonly string[]])[]) {
  test(`planEdits changes ${what}`, () => {
    const { rows, writes, changed } = planEdits('fences', [BAY, DOCK], edits);
    const planned = rows.map(({ id, path, from, to }) => `${id} ${path.join('.')} ${from ?? ''}→${to ?? ''}`);
    assert.deepEqual(planned, expected);
    assert.equal(changed, new Set(rows.map(({ id }) => id)).size);
    for (const { before, after } of writes) assert.notDeepEqual(before, after);
  });
}

test('planEdits sends only changed members, and its undo is the inverse edit', () => {
  const { writes } = planEdits('fences', [DOCK], [{ path: ['properties', 'lamp'], value: undefined }]);
  const [write] = writes;
  assert.deepEqual(write?.before, { properties: { gate: 1, lamp: 2 } });
  assert.deepEqual(write?.after, { properties: { gate: 1 } });
  assert.deepEqual(undone(writes)[0]?.after, write?.before);
});

const CARTS = [
  { id: 'a', type: 'omlox', name: 'Cart A', location_providers: ['t1', 't2', 'other'] },
  { id: 'b', type: 'omlox', name: 'Cart B', location_providers: ['t2'] },
  { id: 'c', type: 'omlox', name: 'Cart C' },
] as const satisfies readonly Trackable[] as unknown as readonly Trackable[];
const TAGS = ['t1', 't2', 't3'].map((id) => ({ id, type: 'uwb' }) as const);

for (const [to, expected, left] of [
  ['c', ['t1 Cart A→Cart C', 't2 Cart A, Cart B→Cart C', 't3 →Cart C'], { a: ['other'], b: [], c: ['t1', 't2', 't3'] }],
  ['a', ['t2 Cart A, Cart B→Cart A', 't3 →Cart A'], { a: ['t1', 't2', 'other', 't3'], b: [] }],
  [undefined, ['t1 Cart A→', 't2 Cart A, Cart B→'], { a: ['other'], b: [] }],
] as const) {
  test(`planAssignment moves providers to ${to ?? 'no trackable'}, and changes no other trackable`, () => {
    const target = CARTS.find(({ id }) => id === to);
    const { rows, writes } = planAssignment(TAGS, CARTS, target);
    assert.deepEqual(
      rows.map(({ id, from, to: next }) => `${id} ${from ?? ''}→${next ?? ''}`),
      expected,
    );
    const after = writes.map(({ id, after: members }) => [id, members['location_providers'] ?? []]);
    assert.deepEqual(Object.fromEntries(after), left);
  });
}

for (const [text, expected] of [
  ['7', 7],
  ['true', true],
  ['"7"', '7'],
  ['Lab 3', 'Lab 3'],
  ['{"a": 1}', { a: 1 }],
  ['', ''],
] as const) {
  test(`propertyValue reads ${text || 'nothing'}`, () => assert.deepEqual(propertyValue(text), expected));
}

for (const [pattern, expected] of [
  ['{name} {n}', 'Bay 4'],
  ['{row}-{column} on {floor}', '2-1 on 3'],
  ['{what} {name}', '{what} Bay'],
  ['', ''],
] as const) {
  test(`nameFrom builds a name from "${pattern}"`, () => {
    assert.equal(nameFrom(pattern, { name: 'Bay', floor: 3, n: 4, row: 2, column: 1 }), expected);
  });
}

test('A grid of copies is spaced in meters, keeps heights and timers, and gets new ids', () => {
  const grid = { columns: 3, rows: 2, stepX: 5, stepY: 3, angle: 0, pattern: '{name} {row}.{column}' };
  const copies = gridOf(BAY, grid);
  assert.deepEqual(
    copies.map(({ name }) => name),
    ['Bay 1.2', 'Bay 1.3', 'Bay 2.1', 'Bay 2.2', 'Bay 2.3'],
  );
  for (const copy of copies) {
    assert.deepEqual([copy.exit_delay, copy.zone_id, copy.crs, copy.floor], [2_000, 'hall', 'local', 0]);
    assert.ok(!('id' in copy) && !('foreign_id' in copy), 'a copy has no identity of the original');
  }
  const moved = copies[4]?.region?.coordinates as number[][][];
  assert.deepEqual(moved[0]?.[0], [10, 3, 1]);
});

test('A copy of a mirrored fence belongs to this hub', () => {
  const mirrored = { ...BAY, properties: { color: 'red', [MIRROR_PROPERTY]: { link: 'l', hub: 'h', id: 'bay' } } };
  const grid = { columns: 2, rows: 1, stepX: 5, stepY: 3, angle: 0, pattern: '{name} {n}' };
  const copies = [
    ...gridOf(mirrored, grid),
    ...fencesOnFloor([mirrored], { floor: 2, pattern: '{name}', zoneIds: new Map() }),
  ];
  assert.deepEqual(
    copies.map(({ properties }) => properties),
    [{ color: 'red' }, { color: 'red' }],
  );
});

test('A georeferenced grid has its spacing in meters, and follows the longest edge', () => {
  // The hall is rotated by 90 degrees: its x axis points north.
  const corners = [earth(0, 0), earth(4, 0), earth(4, 2), earth(0, 2)];
  const bay: Fence = { id: 'bay', region: ring(corners) };
  assert.ok(Math.abs(Math.abs(angleOf(bay)) % 90) < 0.1, String(angleOf(bay)));
  const turned: Fence = {
    ...bay,
    crs: 'local',
    region: ring([
      [0, 0],
      [10, 5],
      [9, 7],
      [-1, 2],
    ]),
  };
  assert.ok(Math.abs(angleOf(turned) - 26.57) < 0.01, String(angleOf(turned)));
  const { width, height } = sizeOf(turned, angleOf(turned));
  assert.ok(Math.abs(width - 11.18) < 0.01 && Math.abs(height - 2.24) < 0.01, `${width} by ${height}`);
  const [copy] = gridOf(bay, { columns: 2, rows: 1, stepX: 10, stepY: 0, angle: 30, pattern: '{name}' });
  const moved = copy?.region?.coordinates as number[][][];
  const both = [...corners.slice(0, 1), ...(moved[0] ?? []).slice(0, 1)];
  const [, [east, north] = [0, 0]] = ringInMeters({ id: '', region: ring(both) });
  assert.ok(Math.abs(Math.hypot(east, north) - 10) < 0.001, `${east}, ${north}`);
  assert.ok(Math.abs(east - 8.66) < 0.01 && Math.abs(north - 5) < 0.01, `${east}, ${north}`);
});

test('A circle is copied by its center, and its width equals its height', () => {
  const round: Fence = { id: 'r', radius: 3, crs: 'EPSG:32632', region: { type: 'Point', coordinates: [500, 900, 2] } };
  assert.deepEqual(sizeOf(round, 12), { width: 6, height: 6 });
  const [copy] = gridOf(round, { columns: 1, rows: 2, stepX: 0, stepY: 7, angle: 0, pattern: '{name} {n}' });
  assert.deepEqual([copy?.region?.coordinates, copy?.name], [[500, 907, 2], 'r 2']);
});

test('Copies of a floor get new names, and its fences follow the copied zones', () => {
  const zoneIds = new Map([['hall', 'new-hall']]);
  const [bay, dock] = fencesOnFloor([BAY, { ...DOCK, zone_id: 'yard' }], {
    floor: 3,
    pattern: '{name} F{floor}',
    zoneIds,
  });
  assert.deepEqual([bay?.name, bay?.floor, bay?.zone_id], ['Bay F3', 3, 'new-hall']);
  assert.deepEqual([dock?.name, dock?.zone_id], ['Dock F3', 'yard']);
  const zone = zoneOnFloor({ id: 'hall', type: 'uwb', name: 'Hall', foreign_id: 'h' } as Zone, {
    floor: 3,
    pattern: '{name} F{floor}',
    n: 1,
  });
  assert.deepEqual(zone, { type: 'uwb', name: 'Hall F3', floor: 3 });
});

test('Anchors of the zones of a floor are copied into the copied zones', () => {
  const zones = [{ id: 'z1', foreign_id: 'hall', type: 'uwb' }] as readonly Zone[];
  const place = { local_position: { type: 'Point' as const, coordinates: [3, 4, 2] } };
  const anchors: readonly Anchor[] = [
    { id: 'a1', name: 'North', zone_id: 'z1', ...place },
    { id: 'a2', zone_id: 'hall', properties: { rack: 7 } },
    { id: 'a3', zone_id: 'yard' },
    { id: 'a4' },
  ];
  const theirs = anchorsIn(anchors, zones);
  assert.deepEqual(
    theirs.map(({ id }) => id),
    ['a1', 'a2'],
  );
  const zoneIds = new Map([
    ['z1', 'z2'],
    ['hall', 'z2'],
  ]);
  assert.deepEqual(anchorsOnFloor(anchors, { floor: 3, pattern: '{name} F{floor} {n}', zoneIds }), [
    { id: 'a1-floor-3', name: 'North F3 1', zone_id: 'z2', ...place },
    { id: 'a2-floor-3', name: 'a2 F3 2', zone_id: 'z2', properties: { rack: 7 } },
  ]);
});
