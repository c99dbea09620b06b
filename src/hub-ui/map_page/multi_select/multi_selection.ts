import { computed, signal } from '@preact/signals';
import type { Kind } from '../../hub/entity_kinds.ts';
import type { Selection } from '../../map/view/map_url.ts';

/** What was chosen on the map to do something with all of it; in the order in which it was. */
export const chosen = signal<ReadonlyMap<string, Selection>>(new Map());

/** The ids of what was chosen, by kind. */
export const chosenIds = computed(() => {
  const ids = new Map<Kind, Set<string>>();
  for (const { kind, id } of chosen.value.values()) {
    const its = ids.get(kind);
    if (its === undefined) ids.set(kind, new Set([id]));
    else its.add(id);
  }
  return ids;
});

/** Chooses something, or leaves it out where it was chosen. */
export function toggleChosen(selection: Selection): void {
  const next = new Map(chosen.peek());
  const key = `${selection.kind} ${selection.id}`;
  if (!next.delete(key)) next.set(key, selection);
  chosen.value = next;
}

/** Chooses all of these as well. */
export function addChosen(selections: Iterable<Selection>): void {
  const next = new Map(chosen.peek());
  for (const selection of selections) next.set(`${selection.kind} ${selection.id}`, selection);
  chosen.value = next;
}

export function clearChosen(): void {
  chosen.value = new Map();
}

/** Leaves out everything of a kind. */
export function leaveOut(kind: Kind): void {
  chosen.value = new Map([...chosen.peek()].filter(([, each]) => each.kind !== kind));
}
