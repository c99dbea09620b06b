import { type MapPoint, mapX, mapY } from '../plane/plane.ts';

/**
 * World map: land, coasts and borders in Mercator meters, from the TopoJSON of the package world-atlas. A TopoJSON arc is a
 * line in integer steps that shapes share: an arc of land is a coast, an arc of countries only is a border. Shapes that cross
 * the antimeridian are not cut, so longitudes may exceed 180. The drawing repeats every EARTH_WIDTH.
 */
export interface World {
  readonly land: readonly Line[];
  readonly coasts: readonly Line[];
  readonly borders: readonly Line[];
  readonly countries: readonly Country[];
}

/** A line, or a ring if its last point equals the first. */
export interface Line {
  /** x and y alternate. */
  readonly points: Float64Array;
  readonly box: MapExtent;
}

export type MapExtent = readonly [left: number, bottom: number, right: number, top: number];

export interface Country {
  readonly name: string;
  /** Label position: a point of the country's largest part. */
  readonly at: MapPoint;
  /** Width of that part at the label, which limits the length of the name. */
  readonly width: number;
}

interface Shape {
  readonly type: string;
  readonly arcs?: readonly unknown[];
  readonly geometries?: readonly Shape[];
  readonly properties?: { readonly name?: string };
}

/** Used part of a TopoJSON document. */
export interface Topology {
  readonly transform: { readonly scale: readonly [number, number]; readonly translate: readonly [number, number] };
  readonly arcs: readonly (readonly (readonly number[])[])[];
  readonly objects: { readonly countries: Shape; readonly land: Shape };
}

type Degrees = readonly [longitude: number, latitude: number];

/** Parses countries and land. Throws a TypeError for any other document. */
export function worldOf(topology: Topology): World {
  const arcs = topology.arcs.map((arc) => degreesOf(arc, topology.transform));
  const landRings = polygonsIn(topology.objects.land).flat();
  const shores = new Set(landRings.flat().map(arcIndex));
  const inland = new Set(polygonsIn(topology.objects.countries).flat(2).map(arcIndex));
  const line = (index: number): Line => lineOf(unrolled(arcs[index] ?? []));
  return {
    land: landRings.map((ring) => ringOf(ring, arcs)),
    coasts: [...shores].map(line),
    borders: [...inland].filter((index) => !shores.has(index)).map(line),
    countries: (topology.objects.countries.geometries ?? []).flatMap((shape) => countryOf(shape, arcs) ?? []),
  };
}

/** Rings of a shape's polygons, each as a list of arc indices. */
function polygonsIn(shape: Shape): readonly (readonly (readonly number[])[])[] {
  switch (shape.type) {
    case 'Polygon':
      return [shape.arcs as number[][]];
    case 'MultiPolygon':
      return shape.arcs as number[][][];
    case 'GeometryCollection':
      return (shape.geometries ?? []).flatMap(polygonsIn);
    default:
      return [];
  }
}

/** Index of an arc. A reversed arc is stored as the complement of its index. */
function arcIndex(used: number): number {
  return used < 0 ? ~used : used;
}

function degreesOf(arc: readonly (readonly number[])[], { scale, translate }: Topology['transform']): Degrees[] {
  let [x, y] = [0, 0];
  return arc.map(([dx = 0, dy = 0]) => {
    x += dx;
    y += dy;
    return [x * scale[0] + translate[0], y * scale[1] + translate[1]];
  });
}

/** Continues longitudes beyond 180 degrees where a line crosses the antimeridian. */
function unrolled(points: readonly Degrees[]): Degrees[] {
  let [turn, last] = [0, points[0]?.[0] ?? 0];
  return points.map(([longitude, latitude]) => {
    if (longitude - last > 180) turn -= 360;
    else if (longitude - last < -180) turn += 360;
    last = longitude;
    return [longitude + turn, latitude];
  });
}

function ringOf(ring: readonly number[], arcs: readonly (readonly Degrees[])[]): Line {
  const joined = ring.flatMap((used, i) => {
    const arc = arcs[arcIndex(used)] ?? [];
    // The first point of an arc repeats the last point of the one before.
    return (used < 0 ? arc.toReversed() : arc).slice(i === 0 ? 0 : 1);
  });
  const points = unrolled(joined);
  const [first, last] = [points[0], points.at(-1)];
  // The ring of Antarctica circles the pole, so it is closed along the pole.
  if (first !== undefined && last !== undefined && Math.abs(last[0] - first[0]) > 180) {
    points.push([last[0], -90], [first[0], -90]);
  }
  return lineOf(points);
}

function lineOf(degrees: readonly Degrees[]): Line {
  const points = new Float64Array(degrees.length * 2);
  const box: [number, number, number, number] = [Infinity, Infinity, -Infinity, -Infinity];
  degrees.forEach(([longitude, latitude], i) => {
    const [x, y] = [mapX(longitude), mapY(latitude)];
    points[2 * i] = x;
    points[2 * i + 1] = y;
    box[0] = Math.min(box[0], x);
    box[1] = Math.min(box[1], y);
    box[2] = Math.max(box[2], x);
    box[3] = Math.max(box[3], y);
  });
  return { points, box };
}

function countryOf(shape: Shape, arcs: readonly (readonly Degrees[])[]): Country | undefined {
  const name = shape.properties?.name;
  const outlines = polygonsIn(shape).flatMap(([outer]) => (outer === undefined ? [] : [ringOf(outer, arcs)]));
  const largest = outlines.sort((a, b) => areaOf(b.box) - areaOf(a.box))[0];
  if (name === undefined || largest === undefined) return undefined;
  return { name, ...widestIn(largest) };
}

function areaOf([left, bottom, right, top]: MapExtent): number {
  return (right - left) * (top - bottom);
}

/** Heights at which a label position is searched, as fractions of the outline's height. The middle comes first. */
const HEIGHTS = [0.5, 0.45, 0.55, 0.4, 0.6, 0.35, 0.65];

/** Center and width of the widest horizontal stretch inside an outline. Lines near the middle are preferred. */
function widestIn({ points, box: [, bottom, , top] }: Line): Pick<Country, 'at' | 'width'> {
  let [best, width]: [MapPoint, number] = [[points[0] ?? 0, points[1] ?? 0], 0];
  for (const height of HEIGHTS) {
    const y = bottom + (top - bottom) * height;
    const crossings = crossingsOf(points, y);
    for (let i = 0; i + 1 < crossings.length; i += 2) {
      const [from = 0, to = 0] = [crossings[i], crossings[i + 1]];
      // A line farther from the middle has to be clearly wider.
      if (to - from > width * 1.15) [best, width] = [[(from + to) / 2, y], to - from];
    }
  }
  return { at: best, width };
}

/** Intersections of a ring with a horizontal line, from west to east. */
function crossingsOf(points: Float64Array, y: number): number[] {
  const found: number[] = [];
  for (let i = 0; i + 3 < points.length; i += 2) {
    const [x0 = 0, y0 = 0, x1 = 0, y1 = 0] = points.subarray(i, i + 4);
    if (y0 < y !== y1 < y) found.push(x0 + ((y - y0) / (y1 - y0)) * (x1 - x0));
  }
  return found.sort((a, b) => a - b);
}
