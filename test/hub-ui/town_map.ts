import { type TileFeature, tileFile, vectorTile } from '../support/map_tiles.ts';

/** Zoom level of the single tile of the town. */
const ZOOM = 14;
const TILES = 2 ** ZOOM;
/** The halls of the demo are at the southern edge of the tile. */
const [COLUMN, ROW] = [8583, 5552];

export const TOWN_TILE = `${ZOOM}/${COLUMN}/${ROW}`;
/** West, south, east and north. */
const TOWN_BOX = [longitudeOf(COLUMN), latitudeOf(ROW + 2), longitudeOf(COLUMN + 1), latitudeOf(ROW)] as const;

/** Longitude and latitude of a point of the town, from 0 to 4096 toward the east and the south. */
export function inTown(x: number, y: number): readonly [longitude: number, latitude: number] {
  return [longitudeOf(COLUMN + x / 4096), latitudeOf(ROW + y / 4096)];
}

/** A town with a river, a wood, streets and houses, in the schema of OpenMapTiles. */
export function townTile(): Buffer {
  const river = [...wave(2300, { height: 200, stretch: 7 }), ...wave(2650, { height: 220, stretch: 7 }).reverse()];
  const wood = { type: 'polygon', points: rectangle(900, 1200, 900, 700), properties: { class: 'wood' } } as const;
  const meadow = { type: 'polygon', points: rectangle(2600, 2900, 700, 500), properties: { class: 'grass' } } as const;
  const names: readonly TileFeature[] = [
    { type: 'point', points: [[1000, 2000]], properties: { class: 'suburb', name: 'Riverside' } },
    { type: 'point', points: [[2900, 900]], properties: { class: 'town', name: 'Newtown' } },
  ];
  return vectorTile([
    { name: 'landcover', features: [wood, meadow] },
    { name: 'water', features: [{ type: 'polygon', points: river }] },
    { name: 'transportation', features: [...streets(), ...ways()] },
    { name: 'building', features: houses() },
    { name: 'place', features: names },
  ]);
}

/** The town as a PMTiles archive, with a copy of it in the south. */
export function townFile(): Buffer {
  const metadata = { attribution: '<a href="https://survey.example">© Town survey</a>' };
  const tiles = { [TOWN_TILE]: townTile(), [`${ZOOM}/${COLUMN}/${ROW + 1}`]: townTile() };
  return tileFile({ tiles, kind: 'vector', box: TOWN_BOX, metadata });
}

const TREES = ['Oak', 'Elm', 'Linden', 'Birch', 'Maple', 'Cedar', 'Ash', 'Pine', 'Willow'] as const;

function streets(): TileFeature[] {
  const down = TREES.map((tree, i): TileFeature => {
    const points = [[200 + i * 420, 0] as const, [260 + i * 420, 4096] as const];
    return { type: 'line', points, properties: { class: 'minor', name: `${tree} Street` } };
  });
  const across = TREES.map((tree, i): TileFeature => {
    const points = [[0, 300 + i * 450] as const, [4096, 340 + i * 450] as const];
    return { type: 'line', points, properties: { class: i === 4 ? 'primary' : 'minor', name: `${tree} Lane` } };
  });
  return [...down, ...across];
}

function ways(): TileFeature[] {
  return [
    { type: 'line', points: wave(600, { height: 300, stretch: 9 }), properties: { class: 'motorway', name: 'A 5' } },
    { type: 'line', points: wave(3700, { height: 90, stretch: 6 }), properties: { class: 'rail' } },
  ];
}

/** Three houses on most blocks. */
function houses(): TileFeature[] {
  return TREES.flatMap((_, block) =>
    [0, 1, 2, 3, 4, 5, 6, 7].flatMap((row) =>
      [0, 1, 2]
        .filter((house) => (block * 7 + row * 3 + house) % 4 !== 0)
        .map((house): TileFeature => {
          const [x, y] = [250 + block * 420 + house * 110, 370 + row * 450];
          return { type: 'polygon', points: rectangle(x, y, 80, 60 + 60 * ((block + row + house) % 3)) };
        }),
    ),
  );
}

function rectangle(x: number, y: number, width: number, height: number): [number, number][] {
  return [
    [x, y],
    [x + width, y],
    [x + width, y + height],
    [x, y + height],
  ];
}

/** A line from west to east. */
function wave(y: number, { height, stretch }: { height: number; stretch: number }): [number, number][] {
  return Array.from({ length: 42 }, (_, i) => [i * 100, Math.round(y + height * Math.sin(i / stretch))]);
}

function longitudeOf(column: number): number {
  return (column / TILES) * 360 - 180;
}

function latitudeOf(row: number): number {
  return (Math.atan(Math.sinh(Math.PI * (1 - (2 * row) / TILES))) * 180) / Math.PI;
}
