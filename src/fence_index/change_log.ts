import { type LonLatBox, overlap } from './lon_lat_box.ts';

/**
 * The latest changes of fences, as the boxes that they concern. A tile looked up before them still holds when none of
 * them overlaps it, so one changed fence does not cost every object a new search.
 */
export class ChangeLog {
  readonly #boxes: LonLatBox[] = [];
  #version = 0;

  /** Number of changes so far. */
  get version(): number {
    return this.#version;
  }

  add(box: LonLatBox): void {
    this.#boxes[this.#version++ % REMEMBERED] = box;
  }

  /** Whether nothing has changed in the box since a version. False when that is too long ago to say. */
  untouched(box: LonLatBox, since: number): boolean {
    if (this.#version - since > REMEMBERED) return false;
    for (let change = since; change < this.#version; change++) {
      if (overlap(box, this.#boxes[change % REMEMBERED] as LonLatBox)) return false;
    }
    return true;
  }
}

const REMEMBERED = 64;
