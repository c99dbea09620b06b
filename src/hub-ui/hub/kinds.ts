import type { Anchor } from '../../model/anchor.ts';
import type { Fence } from '../../model/fence.ts';
import type { LocationProvider } from '../../model/provider.ts';
import type { Trackable } from '../../model/trackable.ts';
import type { Zone } from '../../model/zone.ts';

/** The entities that the hub keeps, by the names of their collections. */
export interface Entities {
  readonly zones: Zone;
  readonly fences: Fence;
  readonly trackables: Trackable;
  readonly providers: LocationProvider;
  readonly anchors: Anchor;
}

export type Kind = keyof Entities;

/** The kinds in the order in which they refer to each other: a fence comes after the zone that it names. */
export const KINDS: readonly Kind[] = ['zones', 'anchors', 'fences', 'providers', 'trackables'];

/** What one of them is called. */
export const SINGULAR: Readonly<Record<Kind, string>> = {
  zones: 'zone',
  fences: 'fence',
  trackables: 'trackable',
  providers: 'provider',
  anchors: 'anchor',
};

/** The name for people, or the id where there is none. */
export function labelOf(entity: { readonly id: string; readonly name?: string | null }): string {
  return entity.name || entity.id;
}
