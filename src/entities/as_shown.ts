import { type Fence, type StoredFence, publicFence } from '../model/fence.ts';
import type { Kind } from './known.ts';

/** Knows which entities name one as their parent. */
interface Carriers {
  childrenOf(kind: 'trackable' | 'zone', id: string): string[];
}

/**
 * An entity as clients are shown it: a trackable or a zone with the ids of those that it carries, a fence without what
 * the hub keeps for itself. Every other entity stays as it was sent.
 */
export function asShown<T extends { readonly id: string }>(kind: Kind, entity: T, carriers: Carriers): T {
  if (kind === 'fence') return publicFence(entity as T & StoredFence) as Fence & T;
  if (kind !== 'trackable' && kind !== 'zone') return entity;
  const children = carriers.childrenOf(kind, entity.id);
  return children.length === 0 ? entity : { ...entity, children };
}

/** The same for a list of them. */
export function allAsShown<T extends { readonly id: string }>(kind: Kind, list: readonly T[], carriers: Carriers): T[] {
  return list.map((entity) => asShown(kind, entity, carriers));
}
