import type { Zone } from '../../model/zone.ts';

/** Minimum segments of a hierarchy whose last segment may be a zone of the vendor on a floor. */
const FLOOR_SEGMENTS = 3;

/**
 * Finds zones by the hierarchy that a vendor names: `Campus>Building>Floor`, the zone's foreign id. Blanks and arrows
 * around the separators are ignored, since one product writes `Building-> Floor` and another `Building>Floor`; an exact
 * match takes precedence. Inside a zone of the vendor, a fourth segment names it: if the hub has no such zone, the
 * position belongs to the floor.
 */
export class Hierarchies {
  /** Zones with a foreign id, by its normalized form, which several may share. */
  readonly #byForm = new Map<string, Zone[]>();
  readonly #formById = new Map<string, string>();

  /** Updates a zone; undefined if it was deleted. */
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
    // A hierarchy has few segments; a longer one is invalid, and would take long to search.
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

/** The segments, trimmed, without the shaft of an arrow after them. */
function segmentsOf(hierarchy: string): string[] {
  const parts = hierarchy.split('>');
  return parts.map((part, index) => {
    const isLast = index === parts.length - 1;
    return (!isLast && part.endsWith('-') ? part.slice(0, -1) : part).trim();
  });
}
