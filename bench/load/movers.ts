// hot: run for each location that is sent
import { randomFrom } from './random.ts';

/** Coordinate units per degree. */
export const UNITS_PER_DEGREE = 1e7;
/** Southwestern corner of every site. */
export const CORNER = { lon: 8.3, lat: 50 };
const UNITS_PER_METRE_NORTH = UNITS_PER_DEGREE / 111_320;
const UNITS_PER_METRE_EAST = UNITS_PER_METRE_NORTH / Math.cos((CORNER.lat * Math.PI) / 180);

/** Moving providers. Coordinates are in units of 10^-7 degrees. */
export interface Mover {
  readonly lon: Int32Array;
  readonly lat: Int32Array;
  /** Moves a provider to its next position. */
  move(provider: number): void;
  /** Reverts a move, if the next one would otherwise differ. */
  moveBack?(provider: number): void;
}

/** Position this many meters east and north of the corner, in units. */
export function unitsAt(eastMeters: number, northMeters: number): readonly [lon: number, lat: number] {
  return [
    Math.round(CORNER.lon * UNITS_PER_DEGREE + eastMeters * UNITS_PER_METRE_EAST),
    Math.round(CORNER.lat * UNITS_PER_DEGREE + northMeters * UNITS_PER_METRE_NORTH),
  ];
}

/** The same position in degrees. */
export function degreesAt(eastMeters: number, northMeters: number): [lon: number, lat: number] {
  const [lon, lat] = unitsAt(eastMeters, northMeters);
  return [lon / UNITS_PER_DEGREE, lat / UNITS_PER_DEGREE];
}

const HEADINGS = 256;

/** Pedestrians on smooth curves in a square, `stepMeters` between two locations. */
export class Walkers implements Mover {
  readonly lon: Int32Array;
  readonly lat: Int32Array;
  readonly #headings: Uint8Array;
  readonly #east: Int32Array;
  readonly #north: Int32Array;
  readonly #max: readonly [lon: number, lat: number];
  readonly #min: readonly [lon: number, lat: number];
  readonly #random: () => number;

  constructor(count: number, options: { readonly sideMeters: number; readonly stepMeters: number; seed: number }) {
    const { sideMeters, stepMeters } = options;
    this.#random = randomFrom(options.seed);
    this.lon = new Int32Array(count);
    this.lat = new Int32Array(count);
    this.#headings = new Uint8Array(count);
    this.#min = unitsAt(0, 0);
    this.#max = unitsAt(sideMeters, sideMeters);
    const angle = (heading: number): number => (2 * Math.PI * heading) / HEADINGS;
    this.#east = Int32Array.from(
      { length: HEADINGS },
      (_, i) => stepMeters * UNITS_PER_METRE_EAST * Math.cos(angle(i)),
    );
    this.#north = Int32Array.from(
      { length: HEADINGS },
      (_, i) => stepMeters * UNITS_PER_METRE_NORTH * Math.sin(angle(i)),
    );
    for (let i = 0; i < count; i++) {
      const [lon, lat] = unitsAt(sideMeters * this.#random(), sideMeters * this.#random());
      this.lon[i] = lon;
      this.lat[i] = lat;
      this.#headings[i] = HEADINGS * this.#random();
    }
  }

  move(provider: number): void {
    // A turn of up to 15 degrees either way.
    const heading = (this.#headings[provider]! + ((this.#random() * 23) | 0) - 11) & 0xff;
    const lon = this.lon[provider]! + this.#east[heading]!;
    const lat = this.lat[provider]! + this.#north[heading]!;
    const isOutside = lon < this.#min[0] || lat < this.#min[1] || lon > this.#max[0] || lat > this.#max[1];
    this.#headings[provider] = isOutside ? heading + HEADINGS / 2 : heading;
    if (isOutside) return;
    this.lon[provider] = lon;
    this.lat[provider] = lat;
  }
}

/** Providers that leave or enter their fence with every move. Each has its own fence, on a grid. */
export class Flippers implements Mover {
  readonly lon: Int32Array;
  readonly lat: Int32Array;
  readonly #outside: Uint8Array;
  readonly #jump: number;

  constructor(count: number, { spacingMeters }: { readonly spacingMeters: number }) {
    this.lon = new Int32Array(count);
    this.lat = new Int32Array(count);
    this.#outside = new Uint8Array(count).fill(1);
    this.#jump = Math.round((spacingMeters / 2) * UNITS_PER_METRE_NORTH);
    for (let i = 0; i < count; i++) {
      const [lon, lat] = unitsAt(...gridPlace(i, count, spacingMeters));
      this.lon[i] = lon;
      this.lat[i] = lat + this.#jump;
    }
  }

  move(provider: number): void {
    const wasOutside = this.#outside[provider] === 1;
    this.lat[provider]! += wasOutside ? -this.#jump : this.#jump;
    this.#outside[provider] = wasOutside ? 0 : 1;
  }

  moveBack(provider: number): void {
    this.move(provider);
  }
}

/** Meters east and north of the i-th of `count` positions on a square grid. */
export function gridPlace(i: number, count: number, spacingMeters: number): [east: number, north: number] {
  const columns = Math.ceil(Math.sqrt(count));
  return [(i % columns) * spacingMeters, Math.floor(i / columns) * spacingMeters];
}
