import type { TrackableMotion } from '../../model/events.ts';
import type { Location } from '../../model/location.ts';

/** Numbers of a row: index, x, y, heading, accuracy, floor, time in milliseconds. Absent ones are NaN. */
export const ROW = 7;

/** Objects that have moved since the last batch, one row each, packed for transfer to the page without a copy. */
export interface MoveBatch {
  /** Objects that were not in any batch before, in the order of their indices. */
  readonly added: readonly NewObject[];
  readonly rows: Float64Array;
  /** Outlines of the objects in `rows` that have one: index, number of points, x, y, x, y … */
  readonly outlines: Float64Array;
  /** The feed was reset before this batch: earlier indices are invalid. */
  readonly isReset: boolean;
}

export interface NewObject {
  readonly index: number;
  readonly id: string;
  readonly name: string | undefined;
  /** Type of the first provider. */
  readonly providerType: string;
  readonly source: string | undefined;
}

/** Collects the newest location or motion of each object until the batch is taken. */
export class MoveCollector {
  readonly #indices = new Map<string, number>();
  readonly #times: number[] = [];
  #dirty = new Map<number, Location | TrackableMotion>();
  #added: NewObject[] = [];
  #isReset = true;

  get isEmpty(): boolean {
    return this.#dirty.size === 0 && !this.#isReset;
  }

  has(id: string): boolean {
    return this.#indices.has(id);
  }

  /** Adds items of an event or, with `isList`, of a response, of which only newer ones apply. hot: once per update. */
  add(items: readonly unknown[], { isList = false }: { readonly isList?: boolean } = {}): void {
    for (const item of items as readonly (Location | TrackableMotion)[]) {
      const isMotion = 'location' in item;
      const location = isMotion ? item.location : item;
      const id = isMotion ? item.id : location.provider_id;
      if (id == null) continue;
      const index = this.#indices.get(id) ?? this.#addObject(id, isMotion ? item.name : undefined, location);
      const timeMs = Date.parse(location.timestamp_generated ?? '');
      const lastMs = this.#times[index];
      if (isList && lastMs !== undefined && timeMs <= lastMs) continue;
      this.#times[index] = timeMs;
      this.#dirty.set(index, item);
    }
  }

  /** Resets the collector, such as after a reconnect, so that removed objects do not stay. */
  restart(): void {
    this.#indices.clear();
    this.#times.length = 0;
    this.#dirty = new Map();
    this.#added = [];
    this.#isReset = true;
  }

  take(): MoveBatch {
    const rows = new Float64Array(this.#dirty.size * ROW);
    const outlines: number[] = [];
    let at = 0;
    for (const [index, item] of this.#dirty) {
      const location = 'location' in item ? item.location : item;
      const [x = 0, y = 0] = location.position.coordinates;
      rows[at] = index;
      rows[at + 1] = x;
      rows[at + 2] = y;
      rows[at + 3] = location.true_heading ?? location.course ?? Number.NaN;
      rows[at + 4] = location.accuracy ?? Number.NaN;
      rows[at + 5] = location.floor ?? Number.NaN;
      rows[at + 6] = this.#times[index] ?? Number.NaN;
      at += ROW;
      if ('location' in item) addOutline(outlines, index, item);
    }
    const batch = { added: this.#added, rows, outlines: Float64Array.from(outlines), isReset: this.#isReset };
    this.#dirty = new Map();
    this.#added = [];
    this.#isReset = false;
    return batch;
  }

  #addObject(id: string, name: string | null | undefined, location: Location): number {
    const index = this.#indices.size;
    this.#indices.set(id, index);
    const { provider_type: providerType, source } = location;
    this.#added.push({ index, id, name: name ?? undefined, providerType, source: source ?? undefined });
    return index;
  }
}

function addOutline(outlines: number[], index: number, { geometry }: TrackableMotion): void {
  if (geometry?.type !== 'Polygon') return;
  const [ring = []] = geometry.coordinates;
  outlines.push(index, ring.length);
  for (const [x = 0, y = 0] of ring) outlines.push(x, y);
}
