import type { Entities, Kind } from '../hub/kinds.ts';

type Any = Entities[Kind];

export interface Found {
  readonly kind: Kind;
  readonly entity: Any;
}

/** What is searched in an entity, in lower case; made once. */
const haystacks = new WeakMap<Any, string>();

/** Whether an entity has every word of a text in its id, its name, its foreign id or its properties. */
export function isMatch(entity: Any, words: readonly string[]): boolean {
  const haystack = haystackOf(entity);
  return words.every((word) => haystack.includes(word));
}

/** The words of what somebody has typed. */
export function wordsOf(text: string): string[] {
  return text.toLowerCase().split(/\s+/).filter(Boolean);
}

/** Up to `most` entities that match, names that begin with the text first. */
export function searchEntities(
  all: Partial<Readonly<Record<Kind, ReadonlyMap<string, Any>>>>,
  text: string,
  most: number,
): Found[] {
  const words = wordsOf(text);
  if (words.length === 0) return [];
  const start = text.trim().toLowerCase();
  const first: Found[] = [];
  const others: Found[] = [];
  for (const [kind, entities] of Object.entries(all) as [Kind, ReadonlyMap<string, Any>][]) {
    for (const entity of entities.values()) {
      if (!isMatch(entity, words)) continue;
      const begins = (entity.name ?? entity.id).toLowerCase().startsWith(start);
      if (begins) first.push({ kind, entity });
      else if (others.length < most) others.push({ kind, entity });
      if (first.length >= most) return first;
    }
  }
  return [...first, ...others].slice(0, most);
}

function haystackOf(entity: Any): string {
  const known = haystacks.get(entity);
  if (known !== undefined) return known;
  const { id, name, properties } = entity;
  const foreignId = 'foreign_id' in entity ? entity.foreign_id : undefined;
  // A plan is an image of megabytes, and no text.
  const searched = JSON.stringify({ ...properties, floor_plan: undefined });
  const made = [id, name, foreignId, searched].join('\n').toLowerCase();
  haystacks.set(entity, made);
  return made;
}
