import type { LocationProvider } from '../../../model/provider.ts';
import type { Trackable } from '../../../model/trackable.ts';
import { t } from '../../languages/language.ts';

/** Attribute that sets the colors of moving objects: a state, or a property. */
export type ColorBy = 'state' | 'type' | 'provider_type' | 'floor' | 'parent' | `property:${string}`;

/** Number of values with a color of their own. Two further groups hold all other values, and objects without a value. */
export const VALUES_MAX = 8;
export const OTHER = VALUES_MAX + 1;
export const NONE = VALUES_MAX + 2;

/** Maximum number of properties to choose from. */
const PROPERTIES_MAX = 20;
/** Hysteresis: a value keeps its color until others are this much more frequent. */
const HYSTERESIS = 1.25;

/**
 * Colors of up to eight values, found by optimization. Any two are distinguishable with full color vision and with each type of
 * color blindness, and each stands out from the base map.
 */
export interface CategoryColors {
  readonly values: readonly string[];
  /** Color of all other values. */
  readonly other: string;
  /** Color of objects without a value. */
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

/** Facts that may set the color of an object. */
export interface Described {
  readonly entity: Colored | undefined;
  readonly providerType: string;
  readonly floor: number;
}

/** Returns the value that sets the color of an object, as a string; undefined if it has none. */
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
      return propertyText(entity?.properties?.[by.slice('property:'.length)]);
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

/** Property names by which objects or fences can be colored, the most frequent first. */
export function propertyNames(entities: Iterable<Pick<Colored, 'properties'>>): readonly string[] {
  const counts = new Map<string, number>();
  for (const { properties } of entities) {
    for (const [name, value] of Object.entries(properties ?? {})) {
      if (propertyText(value) !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  return [...counts]
    .sort(byCount)
    .slice(0, PROPERTIES_MAX)
    .map(([name]) => name);
}

/** Assigns the colors 1 to VALUES_MAX to the most frequent values. Values keep their colors, and others get the free ones. */
export function assignColors(
  counts: ReadonlyMap<string, number>,
  before: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> {
  const weighed = [...counts].map(([value, count]): [string, number] => [
    value,
    count * (before.has(value) ? HYSTERESIS : 1),
  ]);
  const colored = weighed.sort(byCount).slice(0, VALUES_MAX);
  const taken = new Set(colored.flatMap(([value]) => before.get(value) ?? []));
  const free = Array.from({ length: VALUES_MAX }, (_, at) => at + 1).filter((color) => !taken.has(color));
  return new Map(colored.map(([value]) => [value, before.get(value) ?? free.shift() ?? OTHER]));
}

/** Parses a coloring from the URL; `state` if it is unknown or missing. */
export function colorByFrom(text: string | undefined): ColorBy {
  if (text?.startsWith('property:') && text.length > 'property:'.length) return text as ColorBy;
  const named: readonly ColorBy[] = ['type', 'provider_type', 'floor', 'parent'];
  return named.find((by) => by === text) ?? 'state';
}

function byCount([one, many]: readonly [string, number], [other, more]: readonly [string, number]): number {
  return more - many || one.localeCompare(other, 'en', { numeric: true });
}

/** String of a property value to group by; undefined for long strings, objects and lists. */
export function propertyText(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '' || value.length > 80 ? undefined : value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}
