import { computed, signal } from '@preact/signals';
import type { Kind } from '../../hub/entity_kinds.ts';
import type { MapSelection } from '../../map/view/map_url.ts';

/** Entities selected on the map for a bulk action, in the order of selection. */
export const selectedEntities = signal<ReadonlyMap<string, MapSelection>>(new Map());

/** Ids of the selected entities, by kind. */
export const selectedIds = computed(() => {
  const ids = new Map<Kind, Set<string>>();
  for (const { kind, id } of selectedEntities.value.values()) {
    const its = ids.get(kind);
    if (its === undefined) ids.set(kind, new Set([id]));
    else its.add(id);
  }
  return ids;
});

/** Adds an entity to the selection, or removes it. */
export function toggleSelected(selection: MapSelection): void {
  const next = new Map(selectedEntities.peek());
  const key = `${selection.kind} ${selection.id}`;
  if (!next.delete(key)) next.set(key, selection);
  selectedEntities.value = next;
}

/** Adds entities to the selection. */
export function addSelected(selections: Iterable<MapSelection>): void {
  const next = new Map(selectedEntities.peek());
  for (const selection of selections) next.set(`${selection.kind} ${selection.id}`, selection);
  selectedEntities.value = next;
}

export function clearSelected(): void {
  selectedEntities.value = new Map();
}

/** Removes all entities of a kind from the selection. */
export function removeKind(kind: Kind): void {
  selectedEntities.value = new Map([...selectedEntities.peek()].filter(([, each]) => each.kind !== kind));
}
