import type { Tile } from './tile.ts';

/**
 * The tiles that objects were in lately, by their key. Bounded: half of the room is for new tiles, and when it is full
 * the older half is forgotten. A tile that is asked for again counts as new.
 */
export class TileCache {
  readonly #halfWeight: number;
  #young = new Map<number, Tile>();
  #old = new Map<number, Tile>();
  #weight = 0;

  /** `weight` is the number of tiles, plus one for every sixteen slots in them, that may be kept. */
  constructor(weight: number) {
    this.#halfWeight = weight / 2;
  }

  get(key: number): Tile | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: number, tile: Tile): void {
    if (this.#weight >= this.#halfWeight) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#weight = 0;
    }
    this.#young.set(key, tile);
    this.#weight += 1 + tile.slots.length / 16;
  }
}
