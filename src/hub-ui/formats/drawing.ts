/**
 * What every file that draws something is read as: layers of shapes. Their coordinates are longitude and latitude, or meters
 * of a plane of their own, which only somebody who knows the site can place.
 */
export interface Drawing {
  readonly plane: 'earth' | 'meters';
  readonly layers: readonly Layer[];
  /** What cannot be used of the file, and why. */
  readonly unusable: readonly Unusable[];
}

export interface Layer {
  readonly name: string;
  readonly shapes: readonly Shape[];
}

export type Position = readonly number[];

export interface Shape {
  /** As the file has it, where it has one. */
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly floor: number | undefined;
  readonly geometry:
    | { readonly type: 'Polygon'; readonly coordinates: readonly (readonly Position[])[] }
    | { readonly type: 'Point'; readonly coordinates: Position };
  /** Of a circle around a point, in meters. */
  readonly radius: number | undefined;
  readonly properties: Readonly<Record<string, unknown>>;
}

export interface Unusable {
  /** Which part of the file: `Feature 3`. */
  readonly where: string;
  readonly why: string;
}

/** Puts shapes into layers by their names, which stay in the order in which they come. */
export class Layers {
  readonly #byName = new Map<string, Shape[]>();
  readonly unusable: Unusable[] = [];

  add(name: string, shape: Shape): void {
    const shapes = this.#byName.get(name);
    if (shapes === undefined) this.#byName.set(name, [shape]);
    else shapes.push(shape);
  }

  refuse(where: string, why: string): void {
    this.unusable.push({ where, why });
  }

  drawing(plane: Drawing['plane']): Drawing {
    const layers = [...this.#byName].map(([name, shapes]) => ({ name, shapes }));
    return { plane, layers, unusable: this.unusable };
  }
}

/** A ring that ends where it begins; undefined where it has no area. */
export function closedRing(positions: readonly Position[]): readonly Position[] | undefined {
  const [first] = positions;
  const last = positions.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const isClosed = first[0] === last[0] && first[1] === last[1];
  const ring = isClosed ? positions : [...positions, first];
  return ring.length < 4 ? undefined : ring;
}
