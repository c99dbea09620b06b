import type { Kind } from '../hub/kinds.ts';
import type { EntityDocument } from './entity_document.ts';

/** Where a field of a document stands: `fences[3].region` is in the fourth fence. */
export interface Place {
  readonly kind: Kind;
  readonly index: number;
  /** Below the entity; empty where all of it is meant. */
  readonly field: string;
}

/** Undefined where the place is in no list. */
export function placeIn(document: EntityDocument, place: string): Place | undefined {
  const [, kind = '', index = '', field = ''] = /^(\w+)\[(\d+)\]\.?(.*)$/s.exec(place) ?? [];
  return document.lists.has(kind as Kind) ? { kind: kind as Kind, index: Number(index), field } : undefined;
}

/** A document without the entities, or whole lists of rules or views, in which one of the places is, and how many that were. */
export function withoutPlaces(
  document: EntityDocument,
  places: readonly string[],
): { readonly document: EntityDocument; readonly count: number } {
  const found = places.flatMap((place) => placeIn(document, place) ?? []);
  const keys = new Set(found.map(({ kind, index }) => `${kind} ${index}`));
  const lists = [...document.lists].map(([kind, list]) => {
    return [kind, list.filter((_, index) => !keys.has(`${kind} ${index}`))] as const;
  });
  const withRules = !places.some((place) => place.startsWith('locating_rules'));
  const defined = Object.entries(document.defined ?? {}).filter(([name]) => {
    return !places.some((place) => place.startsWith(name));
  });
  const rest = { rules: withRules ? document.rules : undefined, defined: Object.fromEntries(defined) };
  return { document: { ...document, lists: new Map(lists), ...rest }, count: keys.size };
}
