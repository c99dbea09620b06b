import { edgeTurn } from './longitude.ts';

/**
 * Rings of a polygon as flat arrays x, y, x, y …
 *
 * A ring in longitude and latitude is unwrapped: an edge longer than 180° crosses the antimeridian, so the longitudes
 * after it continue beyond ±180. Two special cases:
 * - An edge along a parallel whose ends are on the same meridian (-180 to 180) goes around the world.
 * - A ring around a pole does not return to its first longitude. It is closed through the pole of its hemisphere, so
 *   that it encloses the polar cap.
 */

/**
 * Returns a ring flat and closed, without consecutive duplicates and without z. `geographic`: x and y are longitude and
 * latitude, to be unwrapped.
 */
export function flatRing(ring: readonly (readonly number[])[], geographic: boolean): Float64Array {
  const values = new Float64Array(2 * ring.length);
  for (let i = 0; i < ring.length; i++) {
    const position = ring[i] as readonly number[];
    values[2 * i] = position[0] as number;
    values[2 * i + 1] = position[1] as number;
  }
  return flatRingOf(values, 2, geographic);
}

/** Like flatRing, for a line: it is not closed. */
export function flatLine(line: readonly (readonly number[])[], geographic: boolean): Float64Array {
  const flat = new FlatRing(line.length);
  for (const [x = 0, y = 0] of line) flat.push(geographic ? flat.unwrapped(x, y) : x, y);
  return flat.trimmed();
}

/** Like flatRing, for a flat array of positions of `size` numbers each. Returns `values` itself if nothing changes. */
export function flatRingOf(values: Float64Array, size: number, geographic: boolean): Float64Array {
  const last = values.length - size;
  const repeats = last > 0 && values[last] === values[0] && values[last + 1] === values[1];
  const end = repeats ? last : values.length;
  const flat = new FlatRing(end / size + CLOSING_POSITIONS);
  for (let i = 0; i < end; i += size) {
    const y = values[i + 1] as number;
    flat.push(geographic ? flat.unwrapped(values[i] as number, y) : (values[i] as number), y);
  }
  if (flat.length > 0) flat.close(geographic);
  return size === 2 && flat.isSameAs(values) ? values : flat.trimmed();
}

/** Positions needed to close a ring around a pole. */
const CLOSING_POSITIONS = 4;

/** A growing ring with room for `positionsMax` positions. */
class FlatRing {
  readonly #values: Float64Array;
  length = 0;

  constructor(positionsMax: number) {
    this.#values = new Float64Array(2 * positionsMax);
  }

  /** Appends a position unless it repeats the last one. */
  push(x: number, y: number): void {
    const { length } = this;
    if (length > 0 && this.#values[length - 2] === x && this.#values[length - 1] === y) return;
    this.#values[length] = x;
    this.#values[length + 1] = y;
    this.length = length + 2;
  }

  /** Returns the longitude, unwrapped to continue from the last position. */
  unwrapped(lon: number, lat: number): number {
    const { length } = this;
    if (length === 0) return lon;
    const step = lon - (this.#values[length - 2] as number);
    return lon - edgeTurn(step, lat === this.#values[length - 1]);
  }

  close(geographic: boolean): void {
    const x = this.#values[0] as number;
    const y = this.#values[1] as number;
    const end = geographic ? this.unwrapped(x, y) : x;
    this.push(end, y);
    if (end === x) return;
    const pole = this.#meanLatitude() < 0 ? -90 : 90;
    this.push(end, pole);
    this.push(x, pole);
    this.push(x, y);
  }

  isSameAs(values: Float64Array): boolean {
    if (this.length !== values.length) return false;
    for (let i = 0; i < values.length; i++) if (this.#values[i] !== values[i]) return false;
    return true;
  }

  trimmed(): Float64Array {
    return this.length === this.#values.length ? this.#values : this.#values.slice(0, this.length);
  }

  #meanLatitude(): number {
    let sum = 0;
    for (let i = 1; i < this.length; i += 2) sum += this.#values[i] as number;
    return sum / (this.length / 2);
  }
}

/** Whether the last position repeats the first. */
export function isClosed(ring: readonly (readonly number[])[]): boolean {
  const first = ring[0];
  const last = ring[ring.length - 1];
  return first?.[0] === last?.[0] && first?.[1] === last?.[1];
}

/** Returns twice the signed area of a closed ring: positive if it is counter-clockwise. */
export function signedArea(ring: Float64Array): number {
  // Coordinates relative to the first point preserve the digits of small rings far from the origin.
  const x0 = ring[0] ?? 0;
  const y0 = ring[1] ?? 0;
  let twice = 0;
  for (let i = 0; i + 3 < ring.length; i += 2) {
    const x = (ring[i] as number) - x0;
    const y = (ring[i + 1] as number) - y0;
    twice += x * ((ring[i + 3] as number) - y0) - ((ring[i + 2] as number) - x0) * y;
  }
  return twice;
}

/** Returns the ring in the opposite direction. */
export function reversed(ring: Float64Array): Float64Array {
  const turned = new Float64Array(ring.length);
  for (let i = 0; i < ring.length; i += 2) {
    turned[i] = ring[ring.length - 2 - i] as number;
    turned[i + 1] = ring[ring.length - 1 - i] as number;
  }
  return turned;
}

/** Unwraps the rings of a polygon into one range of longitudes: holes are shifted next to the exterior. */
export function alignHoles(rings: readonly Float64Array[]): Float64Array[] {
  const [exterior, ...holes] = rings;
  if (exterior === undefined) return [];
  const center = middle(exterior);
  const aligned = holes.map((hole) => {
    const turns = 360 * Math.round((center - middle(hole)) / 360);
    return turns === 0 ? hole : hole.map((value, i) => (i % 2 === 0 ? value + turns : value));
  });
  return [exterior, ...aligned];
}

function middle(ring: Float64Array): number {
  let west = Number.POSITIVE_INFINITY;
  let east = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < ring.length; i += 2) {
    west = Math.min(west, ring[i] as number);
    east = Math.max(east, ring[i] as number);
  }
  return (west + east) / 2;
}

/**
 * Whether a closed ring of lon, lat, lon, lat … contains a position, whose longitude is shifted next to the ring.
 * Counts the edges crossed towards the north.
 */
export function ringCovers(ring: Float64Array, position: { readonly lon: number; readonly lat: number }): boolean {
  const lon = position.lon + 360 * Math.round((ring[0]! - position.lon) / 360);
  let inside = false;
  for (let i = 0; i + 3 < ring.length; i += 2) {
    const [ax, ay, bx, by] = [ring[i]!, ring[i + 1]!, ring[i + 2]!, ring[i + 3]!];
    if (ax > lon === bx > lon) continue;
    const crossing = ay + ((lon - ax) / (bx - ax)) * (by - ay);
    if (crossing > position.lat) inside = !inside;
  }
  return inside;
}
