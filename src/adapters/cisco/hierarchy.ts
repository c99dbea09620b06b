import type { Zone } from '../../model/zone.ts';

/** Segments that a place at least has when a zone of the vendor's may have been added to its floor. */
const FLOOR_SEGMENTS = 3;

/**
 * Finds zones by the place that a vendor names: `Campus>Building>Floor`. The zone's foreign id is that text. Blanks and
 * arrows around the signs do not matter, as one product writes `Building-> Floor` where another writes `Building>Floor`;
 * an exact match goes first. Inside of a zone of the vendor's a fourth segment names it: without a zone of its own the
 * place then belongs to its floor.
 */
export class Hierarchies {
  /** Zones with a foreign id, by its normal form, which several may share. */
  readonly #byForm = new Map<string, Zone[]>();
  readonly #formById = new Map<string, string>();

  /** Tells of a zone as it is now; undefined when it is gone. */
  set(id: string, zone: Zone | undefined): void {
    const before = this.#formById.get(id);
    if (before !== undefined) this.#remove(id, before);
    if (zone?.foreign_id == null || zone.foreign_id === '') return;
    const form = segmentsOf(zone.foreign_id).join('>');
    this.#formById.set(id, form);
    this.#byForm.set(form, [...(this.#byForm.get(form) ?? []), zone]);
  }

  find(hierarchy: string): Zone | undefined {
    const segments = segmentsOf(hierarchy);
    const found = this.#byForm.get(segments.join('>'));
    if (found !== undefined) return found.find((zone) => zone.foreign_id === hierarchy) ?? found[0];
    // A place has few segments; a text of many is none, and would take long.
    const floor = Math.min(segments.length - 1, 2 * FLOOR_SEGMENTS);
    for (let length = floor; length >= FLOOR_SEGMENTS; length--) {
      const [zone] = this.#byForm.get(segments.slice(0, length).join('>')) ?? [];
      if (zone !== undefined) return zone;
    }
    return undefined;
  }

  #remove(id: string, form: string): void {
    this.#formById.delete(id);
    const left = (this.#byForm.get(form) ?? []).filter((zone) => zone.id !== id);
    if (left.length === 0) this.#byForm.delete(form);
    else this.#byForm.set(form, left);
  }
}

/** The segments without the blanks around them, and without the shaft of an arrow behind them. */
function segmentsOf(hierarchy: string): string[] {
  const parts = hierarchy.split('>');
  return parts.map((part, index) => {
    const isLast = index === parts.length - 1;
    return (!isLast && part.endsWith('-') ? part.slice(0, -1) : part).trim();
  });
}
