import type { HubDocument } from '../formats/entity_document.ts';
import type { Kind } from '../hub/entity_kinds.ts';

/** Parsed path of a field in a document: `fences[3].region` is in the fourth fence. */
export interface EntityPath {
  readonly kind: Kind;
  readonly index: number;
  /** Path below the entity; empty for the entity itself. */
  readonly field: string;
}

/** Parses a path; undefined if it is not in a list of entities. */
export function entityPathIn(document: HubDocument, place: string): EntityPath | undefined {
  const [, kind = '', index = '', field = ''] = /^(\w+)\[(\d+)\]\.?(.*)$/s.exec(place) ?? [];
  return document.lists.has(kind as Kind) ? { kind: kind as Kind, index: Number(index), field } : undefined;
}

/** Removes the entities, or whole lists of rules or views, that contain one of the paths; also returns their number. */
export function withoutEntitiesAt(
  document: HubDocument,
  places: readonly string[],
): { readonly document: HubDocument; readonly count: number } {
  const found = places.flatMap((place) => entityPathIn(document, place) ?? []);
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
