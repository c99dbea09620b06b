import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Existing, entitiesOfDrawing } from '../../src/hub-ui/formats/drawn_entities.ts';
import { readGeoJson } from '../../src/hub-ui/formats/geojson.ts';
import { controlPointsFor, outlineOf } from '../../src/hub-ui/formats/moved_zone.ts';
import { looksSwapped } from '../../src/hub-ui/formats/swapped_positions.ts';
import { geoJsonText } from '../../src/hub-ui/formats/write_drawing.ts';
import { georeference } from '../../src/hub-ui/map/plane/georeference.ts';
import { EARTH, toMap } from '../../src/hub-ui/map/plane/plane.ts';
import { svgSize } from '../../src/hub-ui/setup/zones/svg_size.ts';
import type { Fence } from '../../src/model/fence.ts';
import { HALL } from './ui_site.ts';

const RING = [
  [8.682, 50.111],
  [8.683, 50.111],
  [8.683, 50.112],
  [8.682, 50.111],
];
const AREA = { type: 'Polygon', coordinates: [RING] };
const EMPTY: Existing = { fences: new Map(), zones: new Map() };
const collection = (...features: object[]) => JSON.stringify({ type: 'FeatureCollection', features });
const feature = (properties: object | null, more: object = {}) => ({
  type: 'Feature',
  properties,
  geometry: AREA,
  ...more,
});

/** The only shape of a file, and its notes about values that map to no member. */
function read(text: string) {
  const { layers, notes } = readGeoJson(text);
  const [shape] = layers.flatMap(({ shapes }) => shapes);
  return { name: shape?.name, floor: shape?.floor, radius: shape?.radius, properties: shape?.properties, notes };
}

for (const [what, given, expected] of [
  ['a name that is a number', feature({ name: 101 }), { name: '101', properties: {} }],
  ['the name 0', feature({ name: 0 }), { name: '0', properties: {} }],
  [
    'names by language, the first empty',
    feature({ name: { en: '', de: 'Halle' } }),
    { name: 'Halle', properties: { name: { en: '', de: 'Halle' } } },
  ],
  ['a name of blanks', feature({ name: '  ' }), { name: undefined, properties: { name: '  ' } }],
  ['NAME in upper case', feature({ NAME: 'Bay 7' }), { name: 'Bay 7', properties: {} }],
  [
    'name next to Name and title',
    feature({ title: 'T', Name: 'N', name: 'n' }),
    { name: 'n', properties: { title: 'T', Name: 'N' } },
  ],
  ['a floor as a word', feature({ floor: 'EG' }), { floor: undefined, properties: { floor: 'EG' } }],
  ['a floor with a sign', feature({ floor: '+1' }), { floor: undefined, properties: { floor: '+1' } }],
  ['a floor as text', feature({ floor: '-2' }), { floor: -2, properties: {} }],
  ['a level with a zero', feature({ level: '01' }), { floor: 1, properties: { level: '01' } }],
  ['the radius of an area', feature({ radius: 12 }), { radius: undefined, properties: { radius: 12 } }],
  [
    'the radius of a point',
    feature({ radius: '7.50' }, { geometry: { type: 'Point', coordinates: [8, 50] } }),
    { radius: 7.5, properties: { radius: '7.50' } },
  ],
  [
    'a radius that is no length',
    feature({ radius: '12 m' }, { geometry: { type: 'Point', coordinates: [8, 50] } }),
    { radius: undefined, properties: { radius: '12 m' } },
  ],
  ['an id that is a number', feature({ id: 4711 }), { properties: { id: 4711 } }],
  ['an id of the feature', feature({}, { id: 'asset-7' }), { properties: { id: 'asset-7' } }],
  ['a kind', feature({ kind: 'loading' }), { properties: { kind: 'loading' } }],
  ['text of digits', feature({ room: '0012' }), { properties: { room: '0012' } }],
  [
    'members next to the properties',
    feature({ crew: 'x' }, { bbox: [0, 0, 1, 1], owner: 'y' }),
    { properties: { crew: 'x', owner: 'y' } },
  ],
  ['properties without a value', feature({ crew: null }), { properties: {} }],
  ['no properties', feature(null), { properties: {} }],
] as const) {
  test(`A feature with ${what} keeps its values`, () => {
    const found = read(collection(given));
    for (const [key, value] of Object.entries(expected)) assert.deepEqual(found[key as 'name'], value);
  });
}

test('GeoJSON keeps the digits of integers that a number cannot hold', () => {
  const text = collection(feature({})).replace(
    '"properties":{}',
    '"properties":{"a":90071992547409931234,"b":1.50,"c":-0,"d":1e999,"e":42}',
  );
  const properties = read(text).properties;
  assert.deepEqual(properties, { a: '90071992547409931234', b: 1.5, c: -0, d: '1e999', e: 42 });
});

test('Values that map to no member are listed with an example', () => {
  const { notes } = read(collection(feature({ floor: 'EG', radius: 3 }), feature({ floor: 'OG' })));
  assert.deepEqual(notes, [
    { where: 'floor', what: 'It becomes a property (2 times), for example "EG".' },
    { where: 'radius', what: 'It becomes a property (1 times), for example 3.' },
  ]);
});

for (const [crs, named] of [
  [null, undefined],
  [{ type: 'name', properties: { name: 'urn:ogc:def:crs:OGC:1.3:CRS84' } }, undefined],
  [{ type: 'name', properties: { name: 'urn:ogc:def:crs:EPSG::4326' } }, undefined],
  [{ type: 'name', properties: { name: 'EPSG:4326' } }, undefined],
  [{ type: 'name', properties: { name: 'http://www.opengis.net/def/crs/OGC/1.3/CRS84' } }, undefined],
  [{ type: 'EPSG', properties: { code: 4326 } }, undefined],
  [{ type: 'link', properties: { href: 'http://spatialreference.org/ref/epsg/4326/ogcwkt/' } }, undefined],
  [{ type: 'name', properties: { name: 'EPSG:43260' } }, 'EPSG:43260'],
  [{ type: 'name', properties: { name: 'urn:ogc:def:crs:EPSG::25832' } }, 'urn:ogc:def:crs:EPSG::25832'],
  [{ type: 'EPSG', properties: { code: 3857 } }, '3857'],
  [{ type: 'link', properties: { href: 'http://spatialreference.org/ref/epsg/3857/ogcwkt/' } }, 'epsg/3857'],
  ['EPSG:3857', 'EPSG:3857'],
  [{ type: 'name' }, '{"type":"name"}'],
] as const) {
  test(`GeoJSON whose crs is ${JSON.stringify(crs)} is ${named === undefined ? 'read' : 'refused'}`, () => {
    const inCollection = JSON.stringify({ type: 'FeatureCollection', crs, features: [feature({})] });
    const inFeature = collection({ ...feature({}), crs });
    const inGeometry = collection(feature({}, { geometry: { ...AREA, crs } }));
    for (const text of [inCollection, inFeature, inGeometry]) {
      if (named === undefined) assert.equal(readGeoJson(text).layers.length, 1);
      else
        assert.throws(
          () => readGeoJson(text),
          (error: Error) => error.message.includes(named),
        );
    }
  });
}

test('A file with latitude before longitude is detected by the site of the hub, or by invalid positions', () => {
  const swap = (ring: number[][]) => ring.map(([x = 0, y = 0]) => [y, x]);
  const swapped = readGeoJson(collection(feature({}, { geometry: { type: 'Polygon', coordinates: [swap(RING)] } })));
  const site = [[8.6821, 50.1109]];
  assert.equal(looksSwapped(swapped, site), true);
  assert.equal(looksSwapped(swapped, []), false);
  assert.equal(looksSwapped(readGeoJson(collection(feature({}))), site), false);
  assert.deepEqual(swapped.swapped?.().layers[0]?.shapes[0]?.geometry.coordinates, [RING]);
  const korea = readGeoJson(JSON.stringify({ type: 'Point', coordinates: [37.5, 127] }));
  assert.match(korea.unusable[0]?.why ?? '', /has latitude before longitude/);
  assert.equal(looksSwapped(korea, []), true);
});

const FENCE = {
  id: '9d2c4f7e-52b6-4c0b-8a0e-3a1f6a1de001',
  name: 'Dock',
  timeout: 60_000,
  region: { type: 'Polygon', coordinates: [RING.map(([x = 0, y = 0]) => [x + 0.000012345678, y, 3])] },
} as unknown as Fence;

/** The fence of an exported file that another program has changed, imported into a hub that has the fence. */
function changed(change: (text: string) => string): Fence {
  const drawing = readGeoJson(change(geoJsonText({ zones: [], fences: [FENCE] })));
  const layers = [{ becomes: 'fences', floor: undefined } as const];
  const existing = { ...EMPTY, fences: new Map([[FENCE.id, FENCE]]) };
  const { lists } = entitiesOfDrawing(drawing, { layers, plane: undefined, name: 'x', existing });
  return (lists.get('fences') as readonly Fence[])[0] as Fence;
}

test('Rounded positions or omitted heights do not change a fence', () => {
  const rounded = (text: string) =>
    text.replaceAll(/\d+\.\d{8,}/g, (digits) => String(Math.round(Number(digits) * 1e7) / 1e7));
  assert.deepEqual(changed(rounded), FENCE);
  assert.deepEqual(
    changed((text) => text.replaceAll(',3]', ']')),
    FENCE,
  );
  assert.deepEqual(
    changed((text) => text.replaceAll(',3]', ',0]')),
    FENCE,
  );
  assert.deepEqual(
    changed((text) => text.replace('"type":"Feature",', '"type":"Feature","bbox":[0,0,1,1],')),
    FENCE,
  );
});

test('Only the corner that another program has moved changes', () => {
  const { region, ...rest } = changed((text) => text.replaceAll('50.112', '50.1125').replaceAll(',3]', ']'));
  const { region: before, ...expected } = FENCE;
  assert.deepEqual(rest, expected);
  const ring = (before.coordinates as number[][][])[0]?.map(([x, y, z]) => [x, y === 50.112 ? 50.1125 : y, z]);
  assert.deepEqual(region.coordinates, [ring]);
});

/** A hall of 100 m, rotated by 90 degrees, with an inner control point. Its local origin is not its first corner. */
const ROWS = [...HALL.ground_control_points.slice(4), ...HALL.ground_control_points.slice(0, 4)];
const placementOf = (rows: readonly (readonly number[])[]) =>
  georeference(rows) ?? assert.fail('The rows place no zone');

test('Control points of a zone are unchanged while its outline is unchanged', () => {
  const outline = outlineOf(ROWS);
  for (const ring of [outline, outline.toReversed(), [...outline.slice(2), ...outline.slice(0, 2)]]) {
    assert.deepEqual(controlPointsFor(ring, ROWS, 1e-9), ROWS);
  }
});

test('Control points follow a zone that is moved and rotated as a whole', () => {
  const outline = outlineOf(ROWS);
  const shifted = outline.map(([x = 0, y = 0]) => [x + 0.001, y]);
  const rows = controlPointsFor(shifted, ROWS, 1e-9);
  assert.deepEqual(
    rows.filter((_, i) => i % 2 === 1),
    ROWS.filter((_, i) => i % 2 === 1),
  );
  for (const [i, row] of rows.entries())
    if (i % 2 === 0) assert.ok(Math.abs((row[0] ?? 0) - (ROWS[i]?.[0] ?? 0) - 0.001) < 1e-8);
});

test('Moving, adding or removing a corner of a zone changes neither axes nor scale nor origin', () => {
  const outline = outlineOf(ROWS).map((at) => [...at]);
  const [first = [], ...others] = outline;
  const moved = [[(first[0] ?? 0) - 0.0005, (first[1] ?? 0) - 0.0002], ...others];
  const added = [
    ...outline,
    [(outline[0]?.[0] ?? 0) - 0.0004, ((outline[0]?.[1] ?? 0) + (outline.at(-1)?.[1] ?? 0)) / 2],
  ];
  const scaled = outline.map(([x = 0, y = 0], i) => [
    x + (i < 2 ? 0.001 : -0.0003),
    y + (i % 2 === 0 ? 0.0001 : 0.0004),
  ]);
  for (const ring of [moved, added, others, scaled]) {
    const rows = controlPointsFor(ring, ROWS, 1e-9);
    assert.equal(rows.length, 2 * ring.length);
    const [before, after] = [placementOf(ROWS), placementOf(rows)];
    for (const own of [
      [0, 0],
      [100, 0],
      [0, 60],
    ]) {
      const [x, y] = before.toMap(own);
      const [u, v] = after.toMap(own);
      assert.ok(Math.hypot(u - x, v - y) < 0.02, `${own}: ${Math.hypot(u - x, v - y)} m`);
    }
    for (const corner of ring) assert.ok(rows.some((row) => row[0] === corner[0] && row[1] === corner[1]));
    assert.ok(toMap(EARTH, ring[0] ?? []).every(Number.isFinite));
  }
});

for (const [width, height, viewBox, expected] of [
  ['1000', '400', undefined, { width: 1000, height: 400 }],
  [undefined, undefined, '0 0 1000 400', { width: 1000, height: 400 }],
  ['100%', '100%', '-5,-5,1000,400', { width: 1000, height: 400 }],
  ['420mm', '168mm', '0 0 1000 400', { width: (420 * 96) / 25.4, height: (168 * 96) / 25.4 }],
  ['500', undefined, '0 0 1000 400', { width: 500, height: 200 }],
  [undefined, '1in', '0 0 1000 400', { width: 240, height: 96 }],
  ['0', '0', '0 0 1000 400', { width: 1000, height: 400 }],
  ['100%', undefined, undefined, undefined],
  ['10em', '5em', '0 0 0 0', undefined],
] as const) {
  test(`svgSize of ${width} by ${height} with the view box ${viewBox}`, () => {
    assert.deepEqual(svgSize({ width, height, viewBox }), expected);
  });
}
