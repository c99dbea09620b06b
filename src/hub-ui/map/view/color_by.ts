import type { LocationProvider } from '../../../model/provider.ts';
import type { Trackable } from '../../../model/trackable.ts';
import { t } from '../../languages/language.ts';

/** Attribute that sets the colors of moving objects: a state, or a property. */
export type ColorBy = 'state' | 'type' | 'provider_type' | 'floor' | 'parent' | `property:${string}`;

/** Colors for values; further groups are all other values, and none. */
export const VALUES_MAX = 8;
export const OTHER = VALUES_MAX + 1;
export const NONE = VALUES_MAX + 2;

/** More names of properties than these are no choice. */
const PROPERTIES_MAX = 20;
/** A value keeps its color until others are so much more frequent: colors are not to change hands all the time. */
const STAYS = 1.25;

/**
 * Colors of up to eight values. An optimization chose them: any two are far apart for people with full color vision and for
 * people who lack one of the three cones, and each stands out from the base map.
 */
export interface CategoryColors {
  readonly values: readonly string[];
  /** Of all values that are left over. */
  readonly other: string;
  /** Of what has no value. */
  readonly none: string;
}

export const LIGHT_CATEGORIES: CategoryColors = {
  values: ['#6c79fd', '#f25823', '#275c0f', '#b9046a', '#006d9b', '#6200a1', '#4e0800', '#000059'],
  other: '#7d8791',
  none: '#aeb6bd',
};

export const DARK_CATEGORIES: CategoryColors = {
  values: ['#9cbaf7', '#fa7c28', '#0cecb8', '#c868fa', '#f7db19', '#be2034', '#5a4fd8', '#e9fbff'],
  other: '#8a96a1',
  none: '#56616b',
};

type Colored = Trackable | LocationProvider;

/** Facts of an object that may set its color. */
export interface Described {
  readonly entity: Colored | undefined;
  readonly providerType: string;
  readonly floor: number;
}

/** The value by which an object has its color, as a text; undefined for one without. */
export function colorValue({ entity, providerType, floor }: Described, by: ColorBy): string | undefined {
  switch (by) {
    case 'state':
      return undefined;
    case 'type':
      return entity?.type;
    case 'provider_type':
      return providerType || undefined;
    case 'floor':
      return Number.isNaN(floor) ? undefined : String(floor);
    case 'parent':
      return entity !== undefined && 'parent' in entity ? (entity.parent ?? undefined) : undefined;
    default:
      return textOf(entity?.properties?.[by.slice('property:'.length)]);
  }
}

/** Title of a coloring in the legend. */
export function coloringTitle(by: ColorBy, symbol: 'trackable' | 'provider'): string {
  const isTrackable = symbol === 'trackable';
  switch (by) {
    case 'state':
      return isTrackable ? t('Trackables') : t('Providers');
    case 'type':
      return isTrackable ? t('Trackables by type') : t('Providers by type');
    case 'provider_type':
      return isTrackable ? t('Trackables by the type of their provider') : t('Providers by type');
    case 'floor':
      return isTrackable ? t('Trackables by floor') : t('Providers by floor');
    case 'parent':
      return isTrackable ? t('Trackables by what carries them') : t('Providers by what carries them');
    default: {
      const name = by.slice('property:'.length);
      return isTrackable ? t('Trackables by “{name}”', { name }) : t('Providers by “{name}”', { name });
    }
  }
}

/** Names of properties by which objects can be colored, the most frequent first. */
export function propertyNames(entities: Iterable<Colored>): readonly string[] {
  const counts = new Map<string, number>();
  for (const { properties } of entities) {
    for (const [name, value] of Object.entries(properties ?? {})) {
      if (textOf(value) !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  return [...counts]
    .sort(byCount)
    .slice(0, PROPERTIES_MAX)
    .map(([name]) => name);
}

/**
 * Which of the colors 1 to VALUES_MAX each of the most frequent values has. Those that have one keep it, and the most frequent
 * of the others get what is free.
 */
export function assignColors(
  counts: ReadonlyMap<string, number>,
  before: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> {
  const weighed = [...counts].map(([value, count]): [string, number] => [
    value,
    count * (before.has(value) ? STAYS : 1),
  ]);
  const colored = weighed.sort(byCount).slice(0, VALUES_MAX);
  const taken = new Set(colored.flatMap(([value]) => before.get(value) ?? []));
  const free = Array.from({ length: VALUES_MAX }, (_, at) => at + 1).filter((color) => !taken.has(color));
  return new Map(colored.map(([value]) => [value, before.get(value) ?? free.shift() ?? OTHER]));
}

/** From an address; the state where it says nothing that is known. */
export function colorByFrom(text: string | undefined): ColorBy {
  if (text?.startsWith('property:') && text.length > 'property:'.length) return text as ColorBy;
  const named: readonly ColorBy[] = ['type', 'provider_type', 'floor', 'parent'];
  return named.find((by) => by === text) ?? 'state';
}

function byCount([one, many]: readonly [string, number], [other, more]: readonly [string, number]): number {
  return more - many || one.localeCompare(other, 'en', { numeric: true });
}

/** Short values alone are of a kind; objects and lists are not. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '' || value.length > 80 ? undefined : value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}
