import { isClosed } from '../../core/geo/rings.ts';
import { t } from '../languages/language.ts';
import { closedRing } from '../map/plane/rings.ts';
import type { DocumentNote } from './entity_document.ts';
import type { ExportedEntity } from './entity_properties.ts';

/**
 * The contents of a file of any drawing format: layers of shapes. Their coordinates are longitude and latitude, or meters
 * of a plane that the user has to place.
 */
export interface Drawing {
  readonly plane: 'earth' | 'meters';
  readonly layers: readonly Layer[];
  /** Parts of the file that cannot be used, with the reasons. */
  readonly unusable: readonly Unusable[];
  /** Notes about values that became properties because they are invalid for the member of that name. */
  readonly notes: readonly DocumentNote[];
  /** Parses the file again with latitude before longitude; undefined if that is not applicable. */
  readonly swapped?: (() => Drawing) | undefined;
}

export interface Layer {
  readonly name: string;
  readonly shapes: readonly FileShape[];
}

export type FilePosition = readonly number[];

export interface FileShape {
  /** Id in the file, if it has one. */
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly floor: number | undefined;
  readonly geometry:
    | { readonly type: 'Polygon'; readonly coordinates: readonly (readonly FilePosition[])[] }
    /** Line of a gate that a hub has exported. */
    | { readonly type: 'LineString'; readonly coordinates: readonly FilePosition[] }
    | { readonly type: 'Point'; readonly coordinates: FilePosition };
  /** Radius of a circle around a point, in meters. */
  readonly radius: number | undefined;
  readonly properties: Readonly<Record<string, unknown>>;
  /** Part of the file, such as `Feature 3, Dock A`; undefined if the format has no numbered parts. */
  readonly where?: string | undefined;
  /** Entity that a hub has exported as this shape; includes its properties. */
  readonly exported?: ExportedEntity | undefined;
}

/** Returns all positions of a geometry. */
export function positionsOf({ type, coordinates }: FileShape['geometry']): readonly FilePosition[] {
  if (type === 'Point') return [coordinates];
  return type === 'LineString' ? coordinates : coordinates.flat();
}

export interface Unusable {
  /** Part of the file, such as `Feature 3`. */
  readonly where: string;
  readonly why: string;
}

/** Collects the shapes of a file by layer, in the order of the file. */
export class Layers {
  readonly #byName = new Map<string, FileShape[]>();
  readonly #invalidValues = new Map<string, { count: number; readonly example: string }>();
  readonly unusable: Unusable[] = [];

  add(name: string, shape: FileShape): void {
    const shapes = this.#byName.get(name);
    if (shapes === undefined) this.#byName.set(name, [shape]);
    else shapes.push(shape);
  }

  reject(where: string, why: string): void {
    this.unusable.push({ where, why });
  }

  /** Counts a value that stays in the properties, since it is invalid for the member of that name. */
  keepAsProperty(name: string, value: unknown): void {
    const found = this.#invalidValues.get(name);
    if (found === undefined) this.#invalidValues.set(name, { count: 1, example: JSON.stringify(value) });
    else found.count++;
  }

  drawing(plane: Drawing['plane'], swapped?: () => Drawing): Drawing {
    const layers = [...this.#byName].map(([name, shapes]) => ({ name, shapes }));
    const notes = [...this.#invalidValues].map(([where, { count, example }]) => {
      return { where, what: t('It becomes a property ({count} times), for example {example}.', { count, example }) };
    });
    return { plane, layers, unusable: this.unusable, notes, swapped };
  }
}

/** Reads shapes in geographic coordinates; the drawing can be read again with latitude before longitude. */
export function drawingOnEarth(add: (layers: Layers, isSwapped: boolean) => void, isSwapped = false): Drawing {
  const layers = new Layers();
  add(layers, isSwapped);
  return layers.drawing('earth', isSwapped ? undefined : () => drawingOnEarth(add, true));
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Closes a ring; undefined if it has no area. */
export function areaRing(positions: readonly FilePosition[]): readonly FilePosition[] | undefined {
  const ring = isClosed(positions) ? positions : closedRing(positions);
  return ring.length < 4 ? undefined : ring;
}
