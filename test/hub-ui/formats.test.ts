import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { strToU8, Zip, ZipDeflate, type Zippable, zipSync } from 'fflate';
import type { Drawing } from '../../src/hub-ui/formats/drawing.ts';
import { type Existing, entitiesOfDrawing, type LayerChoice } from '../../src/hub-ui/formats/drawn_entities.ts';
import { readDxf } from '../../src/hub-ui/formats/dxf.ts';
import { readGeoJson } from '../../src/hub-ui/formats/geojson.ts';
import { readImdf } from '../../src/hub-ui/formats/imdf.ts';
import { cornerAt, type PartialPosition, placeByPoints } from '../../src/hub-ui/formats/two_points.ts';
import { geoJsonText } from '../../src/hub-ui/formats/write_drawing.ts';
import type { Fence } from '../../src/model/fence.ts';
import { isUuid } from '../../src/model/id.ts';
import type { Zone } from '../../src/model/zone.ts';
import { CELLAR, HALL } from './ui_site.ts';

const file = (name: string): Promise<Buffer> => readFile(new URL(`files/${name}`, import.meta.url));
const layersOf = ({ layers }: Drawing) => layers.map(({ name, shapes }) => [name, shapes.map((shape) => shape.name)]);
const whyNot = ({ unusable }: Drawing) => unusable.map(({ where, why }) => `${where}: ${why}`);
const EMPTY: Existing = { fences: new Map(), zones: new Map() };
const FENCES: LayerChoice = { becomes: 'fences', floor: undefined };

test('GeoJSON is read into layers, and features without an area are reported with a reason', async () => {
  const drawing = readGeoJson(String(await file('site.geojson')));
  assert.deepEqual(layersOf(drawing), [
    ['zones', ['Yard']],
    ['docks', ['Dock 1', 'Bow tie', 'Charger']],
    ['trees', [undefined, undefined]],
  ]);
  assert.deepEqual(whyNot(drawing), ['Feature 5, Lane: A line that is not closed has no area.']);
});

test('readGeoJson rejects other formats, and positions without longitude and latitude', () => {
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
    'Geometry: 500000, 0 is not a longitude and latitude.',
  ]);
});

test('Layers become fences and zones on their floors, and the ids of a file are deterministic', async () => {
  const drawing = readGeoJson(String(await file('site.geojson')));
  const layers: LayerChoice[] = [
    { becomes: 'zones', floor: 3 },
    { becomes: 'fences', floor: 0 },
    { becomes: 'none', floor: undefined },
  ];
  const made = () =>
    entitiesOfDrawing(drawing, { layers, plane: undefined, name: 'site.geojson', existing: EMPTY }).lists;
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

test('Zones and fences survive a round trip through GeoJSON', () => {
  const fence = { ...CELLAR, properties: { crew: 'red' } } as Fence;
  const drawing = readGeoJson(geoJsonText({ zones: [HALL as Zone], fences: [fence] }));
  assert.deepEqual(layersOf(drawing), [
    ['zones', ['Hall']],
    ['fences', ['Cellar']],
  ]);
  const layers: LayerChoice[] = [{ becomes: 'none', floor: undefined }, FENCES];
  const { lists } = entitiesOfDrawing(drawing, { layers, plane: undefined, name: 'x', existing: EMPTY });
  assert.deepEqual(lists.get('fences'), [fence]);
});

test('An IMDF archive is read into one layer per file, on the floors of its levels', async () => {
  const drawing = readImdf(new Uint8Array(await file('venue.zip')));
  assert.deepEqual(layersOf(drawing), [
    ['level', ['First floor']],
    ['unit', ['Shop 1', 'Shop 2']],
  ]);
  assert.deepEqual(
    drawing.layers.flatMap(({ shapes }) => shapes.map(({ floor }) => floor)),
    [1, 1, 1],
  );
  assert.deepEqual(whyNot(drawing), ['address: 1 of 1 features have no geometry.']);
});

const LEVEL = strToU8('{"type":"FeatureCollection","features":[]}');

/** An archive with a modified central directory: bytes at an offset of each entry, and at one of its end record. */
function forged(files: Zippable, entry: readonly [at: number, value: number], end?: number): Uint8Array {
  const archive = zipSync(files);
  const view = new DataView(archive.buffer);
  for (let at = 0; at + 4 <= archive.length; at++) {
    const mark = view.getUint32(at, true);
    if (mark === 0x02014b50) view.setUint32(at + entry[0], entry[1], true);
    if (mark === 0x06054b50 && end !== undefined) view.setUint16(at + 8, end, true);
  }
  return archive;
}

/** An archive that contains a file twice but lists it once. */
function twice(archive: Uint8Array): Uint8Array {
  const list = Buffer.from(archive).readUInt32LE(archive.length - 6);
  const both = Buffer.concat([archive.subarray(0, list), archive]);
  both.writeUInt32LE(2 * list, both.length - 6);
  return both;
}

test('An archive that is invalid, damaged or too large when unpacked is rejected', () => {
  const [size, method] = [24, 10];
  const two = { 'a.geojson': LEVEL, 'b.geojson': LEVEL };
  const cases: readonly [Uint8Array, RegExp][] = [
    [strToU8('no archive at all, but long enough'), /^The file is not a zip archive$/],
    [strToU8('short'), /^The file is not a zip archive$/],
    [zipSync({ 'a.txt': LEVEL }), /contains no GeoJSON/],
    [forged({ 'a.geojson': LEVEL }, [size, 200_000_001]), /more than 200,000,000 bytes/],
    [forged({ 'a.geojson': LEVEL }, [size, 0xfffffffe]), /more than 200,000,000 bytes/],
    // Each is within the limit; both together exceed it.
    [forged(two, [size, 150_000_000]), /more than 200,000,000 bytes/],
    [forged(two, [method, 14]), /unsupported compression method 14/],
    [forged(two, [size, LEVEL.length], 3), /^The archive is damaged$/],
    [forged({ 'a.geojson': [LEVEL, { level: 9 }] }, [20, 5]), /^The archive is damaged$/],
    // Its size is above the declared size, and below it.
    [forged({ 'a.geojson': new Uint8Array(5_000_000) }, [size, 10]), /^The archive is damaged$/],
    [forged({ 'a.geojson': LEVEL }, [size, LEVEL.length + 1]), /^The archive is damaged$/],
    // A file is listed twice.
    [twice(zipSync({ 'a.geojson': LEVEL })), /^The archive is damaged$/],
    // The local file header has another size.
    [forged({ 'a.geojson': LEVEL }, [20, LEVEL.length]), /^The archive is damaged$/],
  ];
  for (const [archive, message] of cases) assert.throws(() => readImdf(archive), { message });
  // Files that are not read may have any size.
  const beside = forged({ 'film.mp4': LEVEL }, [size, 0xfffffffe]);
  assert.throws(() => readImdf(beside), { message: /contains no GeoJSON/ });
});

/** Zeros, compressed by DEFLATE to this number of bytes. */
function packedZeros(bytes: number): Uint8Array {
  // A block of fixed codes: a zero, then repeatedly a 13-bit code for 258 copies of the last byte.
  const bits = `010${'00110000'}${'1100010100000'.repeat(10)}`;
  const all = Array.from({ length: 15 }, (_, i) => [...bits.slice(8 * i, 8 * i + 8)].reverse().join(''));
  const [one = 0, other = 0, ...period] = all.map((byte) => Number.parseInt(byte, 2));
  return Buffer.concat([Buffer.of(one, other), Buffer.alloc(bytes, Buffer.from(period))]);
}

test('Unpacking stops when an archive exceeds its declared sizes', () => {
  // Ten billion zeros, with a declared size of ten.
  const archive = zipSync({ 'a.geojson': [packedZeros(60_000_000), { level: 0 }] });
  const view = new DataView(archive.buffer);
  const list = view.getUint32(archive.length - 6, true);
  const [method, size] = [8, 22];
  for (const at of [0, list + 2]) view.setUint16(at + method, 8, true);
  for (const at of [0, list + 2]) view.setUint32(at + size, 10, true);
  const beganMs = performance.now();
  assert.throws(() => readImdf(archive), { message: 'The archive is damaged' });
  // Unpacking all of it takes minutes.
  assert.ok(performance.now() - beganMs < 10_000);
});

test('An archive with data descriptors after its files is read', () => {
  const pieces: Uint8Array[] = [];
  const zip = new Zip((error, piece) => {
    assert.equal(error, null);
    pieces.push(piece);
  });
  for (const name of ['readme.txt', 'level.geojson']) {
    const file = new ZipDeflate(name);
    zip.add(file);
    file.push(LEVEL.subarray(0, 10));
    file.push(LEVEL.subarray(10), true);
  }
  zip.end();
  assert.deepEqual(readImdf(new Uint8Array(Buffer.concat(pieces))).layers, []);
});

test('DXF is read in its units, with arcs, and placed in the zone', async () => {
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
    '1 × INSERT: Its block is not in the file.',
    '1 × LWPOLYLINE: It is not a closed area.',
    '1 × LINE: A single line has no area: join lines to closed polylines.',
  ]);
  const plane = { zoneId: HALL.id, x: 10, y: 20, turn: 90 };
  const { lists } = entitiesOfDrawing(drawing, { layers: [FENCES, FENCES], plane, name: 'hall.dxf', existing: EMPTY });
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

/** Two points in the drawing, and their given positions. */
type Said = readonly [
  drawn: PartialPosition,
  site: PartialPosition,
  otherDrawn: PartialPosition,
  otherSite: PartialPosition,
];

function placedBy([drawn, site, otherDrawn, otherSite]: Said) {
  return placeByPoints([
    { drawn, site },
    { drawn: otherDrawn, site: otherSite },
  ]);
}

for (const [how, said, expected] of [
  [
    'as it is',
    [
      [0, 0],
      [0, 0],
      [10, 0],
      [10, 0],
    ],
    { x: 0, y: 0, turn: 0 },
  ],
  [
    'shifted',
    [
      [5, 5],
      [7, 4],
      [9, 8],
      [11, 7],
    ],
    { x: 2, y: -1, turn: 0 },
  ],
  [
    'turned a quarter',
    [
      [0, 0],
      [10, 20],
      [10, 0],
      [10, 30],
    ],
    { x: 10, y: 20, turn: 90 },
  ],
  [
    'turned back, far from its origin',
    [
      [500, 0],
      [0, 0],
      [500, 10],
      [10, 0],
    ],
    { x: 0, y: 500, turn: -90 },
  ],
  [
    'upside down',
    [
      [0, 0],
      [10, 0],
      [10, 0],
      [0, 0],
    ],
    { x: 10, y: 0, turn: -180 },
  ],
  [
    'in the middle of points that are farther apart',
    [
      [0, 0],
      [0, 0],
      [10, 0],
      [12, 0],
    ],
    { x: 1, y: 0, turn: 0 },
  ],
  [
    'nowhere by one point',
    [
      [0, 0],
      [0, 0],
      [10, 0],
      [undefined, 3],
    ],
    undefined,
  ],
  [
    'nowhere by the same point twice',
    [
      [4, 4],
      [0, 0],
      [4, 4],
      [10, 0],
    ],
    undefined,
  ],
] as const satisfies readonly (readonly [string, Said, object | undefined])[]) {
  test(`placeByPoints puts a drawing ${how}`, () => {
    const found = placedBy(said);
    assert.deepEqual(found && { x: found.x, y: found.y, turn: found.turn }, expected);
  });
}

test('A drawing placed by control points has these at their given positions', async () => {
  const drawing = readDxf(String(await file('hall.dxf')));
  const found = placedBy([
    [0, 0],
    [10, 20],
    [10, 8],
    [2, 30],
  ]);
  assert.ok(found);
  const plane = { zoneId: HALL.id, ...found };
  const { lists } = entitiesOfDrawing(drawing, { layers: [FENCES, FENCES], plane, name: 'hall.dxf', existing: EMPTY });
  const [room] = lists.get('fences') as readonly Fence[];
  const [corners = []] = (room?.region.coordinates ?? []) as number[][][];
  assert.deepEqual(
    [corners[0], corners[2]],
    [
      [10, 20],
      [2, 30],
    ],
  );
  assert.ok(Math.abs(found.drawnMeters - found.siteMeters) < 1e-9);
});

test('cornerAt snaps to the nearest corner, and returns a distant point unchanged', () => {
  const corners = [
    [0, 0],
    [10, 0],
    [10, 8],
  ];
  assert.deepEqual(cornerAt(corners, [9, 1], 2), [10, 0]);
  assert.deepEqual(cornerAt(corners, [9, 4], 2), [9, 4]);
});

test('readDxf assumes meters if no units are given, with a warning, and rejects other formats', () => {
  const circle = '  0\nSECTION\n  2\nENTITIES\n  0\nCIRCLE\n  8\n0\n 10\n1\n 20\n2\n 40\n3\n  0\nENDSEC\n';
  const drawing = readDxf(circle);
  assert.equal(drawing.layers[0]?.shapes[0]?.radius, 3);
  assert.deepEqual(whyNot(drawing), ['$INSUNITS: The drawing declares no units. Meters are assumed.']);
  assert.throws(() => readDxf('AutoCAD Binary DXF\r\n'), /binary DXF: save it as ASCII DXF/);
  assert.throws(() => readDxf('hello\nworld\n'), /line 1 is not a group code/);
});

/** A DXF section made of groups like `10 2.5`. */
function section(name: string, groups: readonly string[]): string {
  const all = ['0 SECTION', `2 ${name}`, ...groups, '0 ENDSEC'];
  return all.map((group) => `${group.replace(' ', '\n')}\n`).join('');
}

const IN_METERS = section('HEADER', ['9 $INSUNITS', '70 6']);

/** A closed polyline of a layer. */
function polyline(handle: string, layer: string, corners: readonly (readonly [number, number])[]): string[] {
  return ['0 LWPOLYLINE', `5 ${handle}`, `8 ${layer}`, '70 1', ...corners.flatMap(([x, y]) => [`10 ${x}`, `20 ${y}`])];
}

/** Two by one meters, half a meter from the base point of its block. */
const TABLE = [
  [1.5, 1],
  [3.5, 1],
  [3.5, 2],
  [1.5, 2],
] as const;

test('The content of a DXF block is read at each insertion, rotated and scaled', () => {
  const desk = [
    ...['0 BLOCK', '2 DESK', '10 1', '20 1'],
    ...polyline('B1', '0', TABLE),
    ...['0 CIRCLE', '5 B2', '8 LAMPS', '10 1', '20 3', '40 0.5'],
    ...['0 LINE', '5 B3', '8 0', '10 0', '20 0', '11 1', '21 1'],
    '0 ENDBLK',
  ];
  const room = ['0 BLOCK', '2 ROOM', '10 0', '20 0', '0 INSERT', '5 B4', '8 0', '2 DESK', '10 5', '20 0', '0 ENDBLK'];
  const insert = (handle: string, ...more: string[]) => ['0 INSERT', `5 ${handle}`, '8 OFFICE', ...more];
  const entities = [
    ...insert('C1', '2 DESK', '10 10', '20 20'),
    ...insert('C2', '2 DESK', '10 0', '20 0', '41 2', '42 2', '50 90'),
    ...insert('C3', '2 ROOM', '10 100', '20 0', '41 1', '42 3'),
    ...insert('C4', '2 DESK', '10 200', '20 0', '70 2', '44 10'),
  ];
  const blocks = section('BLOCKS', [...desk, ...room]);
  const drawing = readDxf(IN_METERS + blocks + section('ENTITIES', entities));
  const [office, lamps] = drawing.layers;
  assert.deepEqual([office?.name, lamps?.name], ['OFFICE', 'LAMPS']);
  const rings = office?.shapes.map(({ id, geometry }) => [id, geometry.coordinates[0]]);
  assert.deepEqual(rings?.slice(0, 3), [
    [
      'C1/B1',
      [
        [10.5, 20],
        [12.5, 20],
        [12.5, 21],
        [10.5, 21],
        [10.5, 20],
      ],
    ],
    [
      'C2/B1',
      [
        [0, 1],
        [0, 5],
        [-2, 5],
        [-2, 1],
        [0, 1],
      ],
    ],
    [
      'C3/B1',
      [
        [105.5, 0],
        [107.5, 0],
        [107.5, 3],
        [105.5, 3],
        [105.5, 0],
      ],
    ],
  ]);
  assert.deepEqual(
    rings?.slice(3).map(([id]) => id),
    ['C4/B1', 'C4/B1/2'],
  );
  const [plain, larger, uneven] = lamps?.shapes ?? [];
  assert.deepEqual([plain?.geometry, plain?.radius], [{ type: 'Point', coordinates: [10, 22] }, 0.5]);
  assert.deepEqual([larger?.geometry, larger?.radius], [{ type: 'Point', coordinates: [-4, 0] }, 1]);
  assert.ok(uneven?.geometry.type === 'Polygon' && uneven.radius === undefined);
  assert.deepEqual(whyNot(drawing), ['5 × LINE: A single line has no area: join lines to closed polylines.']);
});

test('Closed ellipses and splines of DXF are areas, and mirrored entities are placed correctly', () => {
  const ellipse = (...more: string[]) => ['0 ELLIPSE', '8 A', '10 5', '20 5', '11 0', '21 4', '40 0.5', ...more];
  const knots = [0, 0, 0, 0, 1, 2, 2, 2, 2].map((knot) => `40 ${knot}`);
  const spline = (...x: number[]) => x.flatMap((each, i) => [`10 ${each}`, `20 ${[0, 4, 8, 4, 0][i]}`]);
  const mirrored = [...polyline('D1', 'A', TABLE), '210 0', '220 0', '230 -1'];
  const entities = [
    ...ellipse('41 0', `42 ${2 * Math.PI}`),
    ...ellipse('41 0', '42 1'),
    ...['0 SPLINE', '8 A', '70 1', '71 3', ...knots, ...spline(0, 4, 0, -4, 0)],
    ...['0 SPLINE', '8 A', '71 3', ...knots, ...spline(0, 4, 0, -4, 1)],
    ...['0 SPLINE', '8 A', '71 3', ...knots, ...spline(0, 4)],
    ...mirrored,
    ...['0 REGION', '8 A'],
  ];
  const drawing = readDxf(IN_METERS + section('ENTITIES', entities));
  const shapes = drawing.layers[0]?.shapes ?? [];
  const [round = [], bow = [], behind] = shapes.map(({ geometry }) => geometry.coordinates[0]);
  assert.equal(shapes.length, 3);
  assert.ok(Array.isArray(round) && round.length > 30);
  for (const [x = 0, y = 0] of round) assert.ok(Math.abs(((x - 5) / 2) ** 2 + ((y - 5) / 4) ** 2 - 1) < 0.001);
  assert.ok(Array.isArray(bow) && bow.length > 30);
  assert.deepEqual(
    [bow[0], bow.at(-1)],
    [
      [0, 0],
      [0, 0],
    ],
  );
  assert.deepEqual(behind, [
    [-1.5, 1],
    [-3.5, 1],
    [-3.5, 2],
    [-1.5, 2],
    [-1.5, 1],
  ]);
  assert.deepEqual(whyNot(drawing), [
    '1 × ELLIPSE: It is not a closed area.',
    '1 × SPLINE: It is not a closed area.',
    '1 × SPLINE: It cannot be drawn: its geometry is invalid.',
    '1 × REGION: It is not a closed area.',
  ]);
});

test('readDxf rejects cyclic, oversized and damaged drawings', () => {
  const block = (name: string, ...groups: string[]) => ['0 BLOCK', `2 ${name}`, '10 0', '20 0', ...groups, '0 ENDBLK'];
  const insert = (name: string, ...more: string[]) => ['0 INSERT', '8 0', `2 ${name}`, '10 0', '20 0', ...more];
  const many = insert('B', '70 1000', '71 1000');
  const cases: readonly [readonly string[], readonly string[], RegExp][] = [
    [block('A', ...insert('A')), insert('A'), /The block A contains itself/],
    [[...block('A', ...insert('B')), ...block('B', ...insert('A'))], insert('A'), /contains itself/],
    [
      [...block('B'), ...block('A', ...many)],
      insert('A'),
      /1,?\d+ entities, including those of blocks; the maximum is 200,000/,
    ],
    [[], ['0 LWPOLYLINE', '20 1'], /The drawing is damaged: /],
  ];
  for (const [blocks, entities, message] of cases) {
    const text = IN_METERS + section('BLOCKS', blocks) + section('ENTITIES', entities);
    assert.throws(() => readDxf(text), { message });
  }
  assert.throws(
    () => readDxf(section('HEADER', ['9 $INSUNITS', '70 8'])),
    /\$INSUNITS: 8 is not a supported unit of length/,
  );
  assert.throws(() => readDxf(IN_METERS), /The file contains no DXF entities/);
});

test('DXF layers named like DXF keywords are layers', () => {
  const blocks = section('BLOCKS', [
    '0 BLOCK',
    '2 ENDBLK',
    '10 0',
    '20 0',
    ...polyline('B1', 'BLOCK', TABLE),
    '0 ENDBLK',
  ]);
  const insert = ['0 INSERT', '5 C1', '8 0', '2 ENDBLK', '10 0', '20 0'];
  const tables = section('TABLES', ['0 TABLE', '2 LAYER', '0 LAYER', '2 TABLE', '0 ENDTAB']);
  const drawing = readDxf(IN_METERS + tables + blocks + section('ENTITIES', insert));
  assert.deepEqual(layersOf(drawing), [['BLOCK', [undefined]]]);
});

/** A layer of the tables section, with its flags and color. */
const layer = (name: string, flags: number, color: number) => ['0 LAYER', `2 ${name}`, `70 ${flags}`, `62 ${color}`];

test('Only visible entities of the DXF model space are read, and others are reported with a reason', () => {
  const tables = section('TABLES', [
    ...['0 TABLE', '2 LAYER', ...layer('0', 0, 7), ...layer('Shown', 4, 7), ...layer('Off', 0, -7)],
    ...[...layer('Frozen', 1, 7), ...layer('Both', 1, -7), '0 ENDTAB'],
  ]);
  const block = (name: string, ...groups: string[]) => ['0 BLOCK', `2 ${name}`, '10 0', '20 0', ...groups, '0 ENDBLK'];
  const insert = (handle: string, of: string, name: string) => [
    '0 INSERT',
    `5 ${handle}`,
    `8 ${of}`,
    `2 ${name}`,
    '10 0',
    '20 0',
  ];
  const blocks = section('BLOCKS', [
    ...block('B', ...polyline('B1', '0', TABLE), ...polyline('B2', 'SHOWN', TABLE), ...polyline('B3', 'off', TABLE)),
    ...block('NESTED', ...insert('B6', 'Frozen', 'B')),
    ...block('HIDDEN', ...polyline('B4', '0', TABLE), '60 1'),
    ...block('*Paper_Space', ...polyline('B5', 'SHOWN', TABLE)),
  ]);
  const cases: readonly (readonly [groups: readonly string[], ids: readonly string[], why: readonly string[]])[] = [
    [polyline('A1', 'SHOWN', TABLE), ['A1'], []],
    [[...polyline('A2', 'SHOWN', TABLE), '60 0', '67 0'], ['A2'], []],
    [[...polyline('A3', 'SHOWN', TABLE), '67 1'], [], ['1 × LWPOLYLINE: It is in paper space, not in the model.']],
    [[...polyline('A4', 'SHOWN', TABLE), '60 1'], [], ['1 × LWPOLYLINE: It is invisible.']],
    [polyline('A5', 'OFF', TABLE), [], ['1 × LWPOLYLINE: Its layer OFF is off.']],
    [polyline('A6', 'Frozen', TABLE), [], ['1 × LWPOLYLINE: Its layer Frozen is frozen.']],
    [polyline('A7', 'Both', TABLE), [], ['1 × LWPOLYLINE: Its layer Both is frozen.']],
    [polyline('A8', 'not in the table', TABLE), ['A8'], []],
    [insert('C1', 'SHOWN', 'B'), ['C1/B1', 'C1/B2'], ['1 × LWPOLYLINE: Its layer off is off.']],
    // An insertion on a layer that is off hides only the entities on layer 0 of its block.
    [insert('C2', 'OFF', 'B'), ['C2/B2'], ['OFF', 'off'].map((name) => `1 × LWPOLYLINE: Its layer ${name} is off.`)],
    [insert('C3', 'Frozen', 'B'), [], ['1 × INSERT: Its layer Frozen is frozen.']],
    [[...insert('C4', 'SHOWN', 'B'), '60 1'], [], ['1 × INSERT: It is invisible.']],
    [insert('C5', 'SHOWN', 'HIDDEN'), [], ['1 × LWPOLYLINE: It is invisible.']],
    [insert('C6', 'SHOWN', 'NESTED'), [], []],
  ];
  for (const [groups, ids, why] of cases) {
    const drawing = readDxf(IN_METERS + tables + blocks + section('ENTITIES', groups));
    assert.deepEqual(
      drawing.layers.flatMap(({ shapes }) => shapes.map(({ id }) => id)),
      ids,
      groups.join(' '),
    );
    assert.deepEqual(whyNot(drawing), why);
  }
});
