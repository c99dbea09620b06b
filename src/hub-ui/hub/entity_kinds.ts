import type { Anchor } from '../../model/anchor.ts';
import type { Fence } from '../../model/fence.ts';
import type { LocationProvider } from '../../model/provider.ts';
import type { Trackable } from '../../model/trackable.ts';
import type { Zone } from '../../model/zone.ts';
import { type Text, t } from '../languages/language.ts';

/** Entity types by the names of their collections in the API. */
export interface Entities {
  readonly zones: Zone;
  readonly fences: Fence;
  readonly trackables: Trackable;
  readonly providers: LocationProvider;
  readonly anchors: Anchor;
}

export type Kind = keyof Entities;

/** Kinds in the order of their references: a fence comes after the zone that it names. */
export const KINDS: readonly Kind[] = ['zones', 'anchors', 'fences', 'providers', 'trackables'];

/** Singular nouns, used in the names of topics and icons and as keys of translations. */
export const SINGULAR = {
  zones: 'zone',
  fences: 'fence',
  trackables: 'trackable',
  providers: 'provider',
  anchors: 'anchor',
} as const satisfies Readonly<Record<Kind, Text>>;

/** Returns the singular noun of a kind in the user's language. */
export function kindText(kind: Kind): string {
  return t(SINGULAR[kind]);
}

/** Returns the plural noun of a kind in the user's language. */
export function kindsText(kind: Kind): string {
  return t(kind);
}

/** Returns the name of an entity, or its id if it has none. */
export function labelOf(entity: { readonly id: string; readonly name?: string | null }): string {
  return entity.name || entity.id;
}
