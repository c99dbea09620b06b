import type { Kind } from './known.ts';

/** Knows which entities name one as their parent. */
interface Carriers {
  childrenOf(kind: 'trackable' | 'zone', id: string): string[];
}

/**
 * A trackable or a zone with the ids of those that it carries, as clients are shown it. Every other entity, and one that
 * carries none, stays as it was sent.
 */
export function withChildren<T extends { readonly id: string }>(kind: Kind, entity: T, carriers: Carriers): T {
  if (kind !== 'trackable' && kind !== 'zone') return entity;
  const children = carriers.childrenOf(kind, entity.id);
  return children.length === 0 ? entity : { ...entity, children };
}
