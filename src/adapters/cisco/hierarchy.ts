import type { Zone } from '../../model/zone.ts';

/** Number of segments of a floor. A further segment is a vendor zone on that floor. */
const FLOOR_SEGMENTS = 3;

/**
 * Finds zones by a vendor's hierarchy, such as `Campus>Building>Floor`, which is the zone's foreign id. Blanks and
 * arrows around separators are ignored, since one product writes `Building-> Floor` and another `Building>Floor`; an
 * exact match takes precedence. A fourth segment is a vendor zone on the floor. If the hub has no such zone, the
 * position belongs to the floor.
 */
export class Hierarchies {
  /** Zones by the normalized form of their foreign id, which several may share. */
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
    // A hierarchy has few segments. A longer one is invalid and would take long to search.
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

/** Returns the trimmed segments, without the shaft of an arrow. */
function segmentsOf(hierarchy: string): string[] {
  const parts = hierarchy.split('>');
  return parts.map((part, index) => {
    const isLast = index === parts.length - 1;
    return (!isLast && part.endsWith('-') ? part.slice(0, -1) : part).trim();
  });
}
