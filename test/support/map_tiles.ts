import { gzipSync } from 'node:zlib';

/** A layer of a vector tile. Coordinates are in its 4096 units, with the origin in the upper left corner. */
export interface TileLayer {
  readonly name: string;
  readonly features: readonly TileFeature[];
}

export interface TileFeature {
  readonly type: 'point' | 'line' | 'polygon';
  readonly points: readonly (readonly [x: number, y: number])[];
  readonly properties?: Readonly<Record<string, string>>;
}

const EXTENT = 4096;
const TYPES = { point: 1, line: 2, polygon: 3 } as const;

/** Encodes a tile (Mapbox Vector Tile specification 2). */
export function vectorTile(layers: readonly TileLayer[]): Buffer {
  return Buffer.concat(layers.map((layer) => part(3, layerBytes(layer))));
}

function layerBytes({ name, features }: TileLayer): Buffer {
  const keys: string[] = [];
  const values: string[] = [];
  const indexIn = (list: string[], text: string): number => {
    if (!list.includes(text)) list.push(text);
    return list.indexOf(text);
  };
  const written = features.map(({ type, points, properties = {} }) => {
    const tags = Object.entries(properties).flatMap(([key, value]) => [indexIn(keys, key), indexIn(values, value)]);
    const fields = [part(2, packed(tags)), number(3, TYPES[type]), part(4, packed(commands(type, points)))];
    return part(2, Buffer.concat(fields));
  });
  return Buffer.concat([
    number(15, 2),
    part(1, Buffer.from(name)),
    ...written,
    ...keys.map((key) => part(3, Buffer.from(key))),
    ...values.map((value) => part(4, part(1, Buffer.from(value)))),
    number(5, EXTENT),
  ]);
}

/** Encodes a geometry: a move to the first point, lines to the others, and a close command for areas. */
function commands(type: TileFeature['type'], points: TileFeature['points']): number[] {
  let [lastX, lastY] = [0, 0];
  const steps = points.map(([x, y]) => {
    const step = [zigzag(x - lastX), zigzag(y - lastY)];
    [lastX, lastY] = [x, y];
    return step;
  });
  const lines = steps.length > 1 ? [((steps.length - 1) << 3) | 2, ...steps.slice(1).flat()] : [];
  return [(1 << 3) | 1, ...(steps[0] ?? []), ...lines, ...(type === 'polygon' ? [(1 << 3) | 7] : [])];
}

export interface TileFile {
  /** Tiles by `z/x/y`. */
  readonly tiles: Readonly<Record<string, Uint8Array>>;
  readonly kind: 'vector' | 'png';
  /** West, south, east and north. */
  readonly box: readonly [number, number, number, number];
  readonly metadata?: object;
}

/** Creates a PMTiles archive (version 3). Tiles are compressed with gzip unless they are images. */
export function tileFile({ tiles, kind, box, metadata = {} }: TileFile): Buffer {
  const isPacked = kind === 'vector';
  const entries = Object.entries(tiles)
    .map(([name, bytes]) => ({ name, id: tileId(name), bytes: isPacked ? gzipSync(bytes) : Buffer.from(bytes) }))
    .sort((a, b) => a.id - b.id);
  const ids = entries.map(({ id }, i) => id - (entries[i - 1]?.id ?? 0));
  const lengths = entries.map(({ bytes }) => bytes.length);
  // An offset of 0 means that the entry follows the previous tile directly.
  const offsets = entries.map((_, i) => (i === 0 ? 1 : 0));
  const root = gzipSync(packed([entries.length, ...ids, ...entries.map(() => 1), ...lengths, ...offsets]));
  const json = gzipSync(JSON.stringify(metadata));
  const header = Buffer.alloc(127);
  header.write('PMTiles\x03', 'latin1');
  const dataAt = header.length + root.length + json.length;
  const places = [header.length, root.length, header.length + root.length, json.length, dataAt, 0, dataAt];
  const numbers = [...places, lengths.reduce((sum, length) => sum + length, 0), ...new Array(3).fill(entries.length)];
  for (const [i, value] of numbers.entries()) header.writeBigUInt64LE(BigInt(value), 8 + 8 * i);
  const zooms = entries.map(({ name }) => Number(name.split('/')[0]));
  header.set([1, 2, isPacked ? 2 : 1, kind === 'vector' ? 1 : 2, Math.min(...zooms), Math.max(...zooms)], 96);
  for (const [i, degrees] of box.entries()) header.writeInt32LE(Math.round(degrees * 1e7), 102 + 4 * i);
  return Buffer.concat([header, root, json, ...entries.map(({ bytes }) => bytes)]);
}

/** Returns the PMTiles id of a tile: its position along the Hilbert curves of all zoom levels. */
function tileId(name: string): number {
  const [z = 0, x = 0, y = 0] = name.split('/').map(Number);
  let [id, atX, atY] = [(4 ** z - 1) / 3, x, y];
  for (let side = 2 ** (z - 1); side >= 1; side /= 2) {
    const isEast = (atX & side) > 0 ? 1 : 0;
    const isSouth = (atY & side) > 0 ? 1 : 0;
    id += side * side * ((3 * isEast) ^ isSouth);
    if (isSouth === 1) continue;
    if (isEast === 1) [atX, atY] = [side - 1 - (atX & (side - 1)), side - 1 - (atY & (side - 1))];
    [atX, atY] = [atY, atX];
  }
  return id;
}

function part(field: number, bytes: Uint8Array): Buffer {
  return Buffer.concat([packed([(field << 3) | 2, bytes.length]), bytes]);
}

function number(field: number, value: number): Buffer {
  return packed([field << 3, value]);
}

/** Encodes numbers as varints. */
function packed(numbers: readonly number[]): Buffer {
  const bytes: number[] = [];
  for (const value of numbers) {
    let rest = value;
    for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
    bytes.push(rest);
  }
  return Buffer.from(bytes);
}

function zigzag(value: number): number {
  return value < 0 ? -2 * value - 1 : 2 * value;
}
