import { type Fence, type StoredFence, publicFence } from '../model/fence.ts';
import type { EntityKindName } from './entity_lookup.ts';

/** Looks up the entities whose parent is a given one. */
interface Carriers {
  childrenOf(kind: 'trackable' | 'zone', id: string): string[];
}

/**
 * Converts an entity to its public form: a trackable or a zone gets the ids of those that it carries, a fence loses
 * internal members. Every other entity stays as it was sent.
 */
export function publicForm<T extends { readonly id: string }>(kind: EntityKindName, entity: T, carriers: Carriers): T {
  if (kind === 'fence') return publicFence(entity as T & StoredFence) as Fence & T;
  if (kind !== 'trackable' && kind !== 'zone') return entity;
  const children = carriers.childrenOf(kind, entity.id);
  return children.length === 0 ? entity : { ...entity, children };
}

/** The same for a list. */
export function publicForms<T extends { readonly id: string }>(
  kind: EntityKindName,
  list: readonly T[],
  carriers: Carriers,
): T[] {
  return list.map((entity) => publicForm(kind, entity, carriers));
}
