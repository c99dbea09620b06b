import { computed, signal } from '@preact/signals';
import type { Kind } from '../../hub/entity_kinds.ts';
import type { MapSelection } from '../../map/view/map_url.ts';

/** What was chosen on the map to do something with all of it; in the order in which it was. */
export const selectedEntities = signal<ReadonlyMap<string, MapSelection>>(new Map());

/** The ids of what was chosen, by kind. */
export const selectedIds = computed(() => {
  const ids = new Map<Kind, Set<string>>();
  for (const { kind, id } of selectedEntities.value.values()) {
    const its = ids.get(kind);
    if (its === undefined) ids.set(kind, new Set([id]));
    else its.add(id);
  }
  return ids;
});

/** Chooses something, or leaves it out where it was chosen. */
export function toggleSelected(selection: MapSelection): void {
  const next = new Map(selectedEntities.peek());
  const key = `${selection.kind} ${selection.id}`;
  if (!next.delete(key)) next.set(key, selection);
  selectedEntities.value = next;
}

/** Chooses all of these as well. */
export function addSelected(selections: Iterable<MapSelection>): void {
  const next = new Map(selectedEntities.peek());
  for (const selection of selections) next.set(`${selection.kind} ${selection.id}`, selection);
  selectedEntities.value = next;
}

export function clearSelected(): void {
  selectedEntities.value = new Map();
}

/** Leaves out everything of a kind. */
export function removeKind(kind: Kind): void {
  selectedEntities.value = new Map([...selectedEntities.peek()].filter(([, each]) => each.kind !== kind));
}
