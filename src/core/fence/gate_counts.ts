import type { Direction } from './gate_crossings.ts';

/** Length of the slots in which crossings are counted: the local midnight of every time zone starts one. */
export const GATE_SLOT_MS = 900_000;
/** Slots with crossings that a gate retains: those of at least 8 days. */
const SLOTS_MAX = 768;

/** Crossings of a slot: its start in milliseconds since 1970, and how many went to each side. */
export type GateSlot = readonly [startMs: number, left: number, right: number];

/** Crossings of the gates of a shard since its start, by gate and slot. They are neither stored nor migrated. */
export class GateCounts {
  readonly #gates = new Map<string, Map<number, [left: number, right: number]>>();

  /** Number of gates with crossings. */
  get size(): number {
    return this.#gates.size;
  }

  /** Counts a crossing at a wall-clock time. */
  add(fenceId: string, direction: Direction, atMs: number): void {
    let slots = this.#gates.get(fenceId);
    if (slots === undefined) {
      slots = new Map();
      this.#gates.set(fenceId, slots);
    }
    const startMs = Math.floor(atMs / GATE_SLOT_MS) * GATE_SLOT_MS;
    let slot = slots.get(startMs);
    if (slot === undefined) {
      slot = [0, 0];
      slots.set(startMs, slot);
      if (slots.size > SLOTS_MAX) slots.delete(Math.min(...slots.keys()));
    }
    slot[direction === 'left' ? 0 : 1]++;
  }

  delete(fenceId: string): void {
    this.#gates.delete(fenceId);
  }

  /** Returns the slots of a gate in the order of time. */
  of(fenceId: string): GateSlot[] {
    const slots = [...(this.#gates.get(fenceId) ?? [])];
    return slots.sort(([a], [b]) => a - b).map(([startMs, [left, right]]): GateSlot => [startMs, left, right]);
  }
}
