import type { Anchor } from '../../model/anchor.ts';
import type { Fence } from '../../model/fence.ts';
import type { LocationProvider } from '../../model/provider.ts';
import type { Trackable } from '../../model/trackable.ts';
import type { Zone } from '../../model/zone.ts';
import { type Text, t } from '../languages/language.ts';

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

/** What one of them is called: by this topics and icons are named, and texts are found. */
export const SINGULAR = {
  zones: 'zone',
  fences: 'fence',
  trackables: 'trackable',
  providers: 'provider',
  anchors: 'anchor',
} as const satisfies Readonly<Record<Kind, Text>>;

/** What one of a kind is called, in the reader's language. */
export function kindText(kind: Kind): string {
  return t(SINGULAR[kind]);
}

/** What several of a kind are called, in the reader's language. */
export function kindsText(kind: Kind): string {
  return t(kind);
}

/** The name for people, or the id where there is none. */
export function labelOf(entity: { readonly id: string; readonly name?: string | null }): string {
  return entity.name || entity.id;
}
