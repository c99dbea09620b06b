import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { csvText, readCsv } from '../../src/hub-ui/formats/csv.ts';
import type { Drawing } from '../../src/hub-ui/formats/drawing.ts';
import { entitiesOfDrawing, type LayerChoice } from '../../src/hub-ui/formats/drawn_entities.ts';
import { readDxf } from '../../src/hub-ui/formats/dxf.ts';
import { readGeoJson } from '../../src/hub-ui/formats/geojson.ts';
import { readImdf } from '../../src/hub-ui/formats/imdf.ts';
import { stableId } from '../../src/hub-ui/formats/stable_id.ts';
import { entitiesCsv, entitiesOfTable, guessKind, guessMeanings } from '../../src/hub-ui/formats/table_entities.ts';
import { geoJsonText } from '../../src/hub-ui/formats/write_drawing.ts';
import type { Fence } from '../../src/model/fence.ts';
import { isUuid } from '../../src/model/id.ts';
import type { Zone } from '../../src/model/zone.ts';
import { CELLAR, FORKLIFT, HALL } from './ui_site.ts';

const file = (name: string): Promise<Buffer> => readFile(new URL(`files/${name}`, import.meta.url));
const layersOf = ({ layers }: Drawing) => layers.map(({ name, shapes }) => [name, shapes.map((shape) => shape.name)]);
const whyNot = ({ unusable }: Drawing) => unusable.map(({ where, why }) => `${where}: ${why}`);
const FENCES: LayerChoice = { becomes: 'fences', floor: undefined };

test('GeoJSON is read into its layers, and what has no area is named with why', async () => {
  const drawing = readGeoJson(String(await file('site.geojson')));
  assert.deepEqual(layersOf(drawing), [
    ['zones', ['Yard']],
    ['docks', ['Dock 1', 'Bow tie', 'Charger']],
    ['trees', [undefined, undefined]],
  ]);
  assert.deepEqual(whyNot(drawing), ['Feature 5, Lane: A line that is not closed has no area.']);
});

test('readGeoJson refuses what is none, and what has no longitude and latitude', () => {
  const polygon = (x: number) => ({
    type: 'Polygon',
    coordinates: [
      [
        [x, 0],
        [x, 1],
        [x + 1, 1],
        [x, 0],
      ],
    ],
  });
  const crs = { type: 'name', properties: { name: 'urn:ogc:def:crs:EPSG::25832' } };
  const cases: readonly [object, RegExp][] = [
    [{ type: 'Topology' }, /neither GeoJSON nor an export of a hub/],
    [{ type: 'FeatureCollection', features: [], crs }, /this file is in urn:ogc:def:crs:EPSG::25832/],
  ];
  for (const [value, message] of cases) assert.throws(() => readGeoJson(JSON.stringify(value)), { message });
  assert.deepEqual(whyNot(readGeoJson(JSON.stringify(polygon(500_000)))), [
    'Geometry: 500000, 0 is no longitude and latitude.',
  ]);
});

test('Layers become fences and zones on their floors, and the same file makes the same ids', async () => {
  const drawing = readGeoJson(String(await file('site.geojson')));
  const layers: LayerChoice[] = [
    { becomes: 'zones', floor: 3 },
    { becomes: 'fences', floor: 0 },
    { becomes: 'none', floor: undefined },
  ];
  const made = () => entitiesOfDrawing(drawing, { layers, plane: undefined, name: 'site.geojson' }).lists;
  const [zone] = (made().get('zones') ?? []) as Zone[];
  assert.deepEqual([zone?.id, zone?.type, zone?.floor], ['11111111-0000-4000-8000-0000000000a1', 'gps', 3]);
  assert.deepEqual(zone?.ground_control_points?.slice(0, 2), [
    [8.68, 50.11],
    [0, 0],
  ]);
  const fences = (made().get('fences') ?? []) as Fence[];
  assert.deepEqual(
    fences.map(({ name, floor, radius, properties }) => [name, floor, radius, properties]),
    [
      ['Dock 1', 1, undefined, { layer: 'docks', crew: 'red' }],
      ['Bow tie', 0, undefined, { layer: 'docks' }],
      ['Charger', 0, 4, { layer: 'docks' }],
    ],
  );
  assert.ok(fences.every(({ id }) => isUuid(id)));
  assert.deepEqual(made(), made());
});

test('What is written as GeoJSON is read as the same zones and fences', () => {
  const fence = { ...CELLAR, properties: { crew: 'red' } } as Fence;
  const drawing = readGeoJson(geoJsonText({ zones: [HALL as Zone], fences: [fence] }));
  assert.deepEqual(layersOf(drawing), [
    ['zones', ['Hall']],
    ['fences', ['Cellar']],
  ]);
  const layers: LayerChoice[] = [{ becomes: 'none', floor: undefined }, FENCES];
  const { lists } = entitiesOfDrawing(drawing, { layers, plane: undefined, name: 'x' });
  assert.deepEqual(lists.get('fences'), [fence]);
});

test('An archive of IMDF is read into a layer for each file, on the floors of its levels', async () => {
  const drawing = await readImdf(new Uint8Array(await file('venue.zip')));
  assert.deepEqual(layersOf(drawing), [
    ['level', ['First floor']],
    ['unit', ['Shop 1', 'Shop 2']],
  ]);
  assert.deepEqual(
    drawing.layers.flatMap(({ shapes }) => shapes.map(({ floor }) => floor)),
    [1, 1, 1],
  );
  assert.deepEqual(whyNot(drawing), ['address: 1 of 1 features have no geometry.']);
  await assert.rejects(readImdf(new TextEncoder().encode('no archive at all, but long enough')), /no zip archive/);
});

test('DXF is read in its units, with arcs, and put where the zone has it', async () => {
  const drawing = readDxf(String(await file('hall.dxf')));
  assert.equal(drawing.plane, 'meters');
  assert.deepEqual(
    drawing.layers.map(({ name, shapes }) => [name, shapes.length]),
    [
      ['ROOMS', 3],
      ['COLUMNS', 1],
    ],
  );
  assert.deepEqual(whyNot(drawing), [
    '1 × LWPOLYLINE: It is no closed area.',
    '1 × LINE: A single line has no area: join lines to closed polylines.',
    '1 × INSERT: A block has to be exploded before the drawing is saved.',
  ]);
  const plane = { zoneId: HALL.id, x: 10, y: 20, turn: 90 };
  const { lists } = entitiesOfDrawing(drawing, { layers: [FENCES, FENCES], plane, name: 'hall.dxf' });
  const [room, round, , column] = (lists.get('fences') ?? []) as Fence[];
  assert.deepEqual(room?.region.coordinates, [
    [
      [10, 20],
      [10, 30],
      [2, 30],
      [2, 20],
      [10, 20],
    ],
  ]);
  assert.deepEqual([room?.crs, room?.zone_id], ['local', HALL.id]);
  // Two half circles of 4 m around (14, 0) in the drawing.
  assert.ok(round?.region.type === 'Polygon');
  const [corners = []] = round.region.coordinates;
  assert.ok(corners.every(([x = 0, y = 0]) => Math.abs(Math.hypot(x - 10, y - 34) - 2) < 0.001));
  assert.ok(corners.length > 30);
  assert.deepEqual([column?.region, column?.radius], [{ type: 'Point', coordinates: [6, 23] }, 0.5]);
});

test('readDxf takes what has no units as meters, and says so, and refuses what is none', () => {
  const circle = '  0\nSECTION\n  2\nENTITIES\n  0\nCIRCLE\n  8\n0\n 10\n1\n 20\n2\n 40\n3\n  0\nENDSEC\n';
  const drawing = readDxf(circle);
  assert.equal(drawing.layers[0]?.shapes[0]?.radius, 3);
  assert.deepEqual(whyNot(drawing), ['$INSUNITS: The drawing has no units: it is taken as drawn in meters.']);
  assert.throws(() => readDxf('AutoCAD Binary DXF\r\n'), /binary DXF: save it as text/);
  assert.throws(() => readDxf('hello\nworld\n'), /Line 1 of the file is no group code/);
});

test('A table of carts becomes trackables, whose rows keep what they have', async () => {
  const table = readCsv(String(await file('carts.csv')));
  const kind = guessKind(table.columns);
  const meanings = guessMeanings(table.columns, kind);
  assert.deepEqual([kind, meanings], ['trackables', ['id', 'name', 'location_providers', 'radius', 'property']]);
  const { lists } = entitiesOfTable(table, { kind, meanings, name: 'carts.csv' });
  const properties = (cost: string) => ({ properties: { 'Cost centre': cost } });
  assert.deepEqual(lists.get('trackables'), [
    {
      ...{ id: '33333333-0000-4000-8000-000000000001', name: 'Cart 1', type: 'omlox', radius: 1.5 },
      ...{ location_providers: ['tag-1', 'tag-2'], ...properties('4711') },
    },
    {
      ...{ id: '33333333-0000-4000-8000-000000000002', name: 'Cart "2"; blue', type: 'omlox' },
      ...{ location_providers: ['tag-3'], ...properties('4712') },
    },
    { id: 'no-uuid', name: 'Cart 3', type: 'omlox', radius: 'wide', ...properties('4713') },
    { id: stableId('carts.csv Cart 4'), name: 'Cart 4', type: 'omlox', radius: 2, location_providers: ['tag-4'] },
  ]);
});

test('What is written as CSV is read as the same, and is no formula', () => {
  const cart = { ...FORKLIFT, name: '=HYPERLINK("x")', properties: { driver: 'Kim, "K"\nsecond line' } };
  const text = entitiesCsv('trackables', [cart as never]);
  const table = readCsv(text);
  const meanings = guessMeanings(table.columns, 'trackables');
  const { lists } = entitiesOfTable(table, { kind: 'trackables', meanings, name: 'x' });
  assert.deepEqual(lists.get('trackables'), [{ ...cart, name: `'${cart.name}` }]);
  const wrong: readonly [string, RegExp][] = [
    ['', /The file is empty/],
    ['a,,c\n1,2,3', /Column 2 has no heading/],
    ['a,b\n1,2\n1,2,3', /Row 3 has more fields than there are headings/],
    ['a,b\n"1,2', /Row 2 has a quote that does not end/],
  ];
  for (const [source, message] of wrong) assert.throws(() => readCsv(source), { message });
  assert.equal(csvText({ columns: ['a'], rows: [['-1']] }), 'a\r\n-1\r\n');
});
