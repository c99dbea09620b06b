import { ago } from '../controls/time.ts';
import { trackablesByProvider } from '../hub/carriers.ts';
import { type Entities, type Kind, labelOf } from '../hub/entity_kinds.ts';
import { storeOf } from '../hub/stores.ts';
import { t } from '../languages/language.ts';
import { metersText, positionText, seldomRateText } from '../languages/numbers.ts';
import { batteryOf, type TagKind, isActivityLoaded, lastSeenMs, ownerOf, rateOf } from './fleet_summary.ts';

/** Column of a list besides name and id. */
export interface Fact<K extends Kind> {
  readonly key: string;
  readonly title: string;
  readonly isNumber?: boolean;
  /** Value to display and to sort by, or undefined. */
  readonly value: (entity: Entities[K]) => string | number | undefined;
  /** Text to display instead of the value. */
  readonly text?: (entity: Entities[K]) => string | undefined;
  /**
   * Whether the value changes every second. Rows are then sorted again only at intervals, so that they do not move under the
   * pointer.
   */
  readonly isLive?: boolean;
  /** Whether it is visible on narrow screens. */
  readonly isNarrow?: boolean;
}

/** Activity, battery and owner of a tag. */
function tagFacts<K extends TagKind>(kind: K): readonly Fact<K>[] {
  const agoMs = (tag: Entities[K]): number | undefined => {
    const lastMs = lastSeenMs(kind, tag);
    return lastMs === undefined ? undefined : Math.max(0, Date.now() - lastMs);
  };
  const rate = (tag: Entities[K]): number | undefined => rateOf(kind, tag, Date.now());
  return [
    {
      key: 'last_seen',
      title: t('Last seen'),
      isLive: true,
      isNarrow: true,
      value: agoMs,
      text: (tag) => {
        const silentMs = agoMs(tag);
        if (!isActivityLoaded.value) return '…';
        return silentMs === undefined ? t('never') : ago(silentMs);
      },
    },
    {
      key: 'rate',
      title: t('Rate'),
      isNumber: true,
      isLive: true,
      value: rate,
      text: (tag) => {
        const perSecond = rate(tag);
        return perSecond === undefined ? undefined : seldomRateText(perSecond);
      },
    },
    { key: 'battery', title: t('Battery'), isLive: true, value: (tag) => batteryOf(kind, tag) },
    { key: 'owner', title: t('Owner'), value: ownerOf },
  ];
}

export const FACTS: { readonly [K in Kind]: readonly Fact<K>[] } = {
  zones: [
    { key: 'type', title: t('Type'), value: ({ type }) => type },
    { key: 'foreign', title: t('External ID'), value: ({ foreign_id: id }) => id ?? undefined },
    { key: 'floor', title: t('Floor'), isNumber: true, value: ({ floor }) => floor ?? undefined },
    { key: 'placed', title: t('Placed by'), value: placing },
  ],
  fences: [
    { key: 'shape', title: t('Shape'), value: shape },
    { key: 'floor', title: t('Floor'), isNumber: true, value: ({ floor }) => floor ?? undefined },
    { key: 'zone', title: t('Zone'), value: ({ zone_id: id }) => zoneName(id) },
    { key: 'foreign', title: t('External ID'), value: ({ foreign_id: id }) => id ?? undefined },
  ],
  trackables: [
    { key: 'type', title: t('Type'), value: ({ type }) => type },
    ...tagFacts('trackables'),
    { key: 'providers', title: t('Providers'), value: ({ location_providers: ids }) => few(ids ?? []) },
  ],
  providers: [
    { key: 'type', title: t('Type'), value: ({ type }) => type },
    ...tagFacts('providers'),
    { key: 'trackables', title: t('Assigned to'), isNarrow: true, value: ({ id }) => few(trackablesOf(id)) },
  ],
  anchors: [
    { key: 'zone', title: t('Zone'), value: ({ zone_id: id }) => zoneName(id) },
    {
      key: 'local',
      title: t('Local'),
      value: ({ local_position: at }) => (at == null ? undefined : positionText(at.coordinates, 'zone')),
    },
    {
      key: 'earth',
      title: t('On earth'),
      value: ({ georeferenced_position: at }) => (at == null ? undefined : positionText(at.coordinates, 'earth')),
    },
  ],
};

/** Up to two names, and the number of further ones. */
function few(names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined;
  return names.length > 2
    ? t('{names} and {count} more', { names: names.slice(0, 2).join(', '), count: names.length - 2 })
    : names.join(', ');
}

function placing({ ground_control_points: points, position, radius }: Entities['zones']): string | undefined {
  if (points != null) return t('{count} control points', { count: points.length / 2 });
  if (position == null) return undefined;
  return radius == null ? t('position') : t('position, {radius}', { radius: metersText(radius) });
}

function shape({ region, radius }: Entities['fences']): string {
  if (region.type === 'Point') return t('circle, {radius}', { radius: metersText(radius ?? 0) });
  return t('{count} corners', { count: (region.coordinates[0]?.length ?? 1) - 1 });
}

function zoneName(idOrForeignId: string | null | undefined): string | undefined {
  if (idOrForeignId == null) return undefined;
  const zones = storeOf('zones').items.peek();
  return zones.get(idOrForeignId)?.name ?? idOrForeignId;
}

function trackablesOf(providerId: string): readonly string[] {
  return (trackablesByProvider.value.get(providerId) ?? []).map(labelOf);
}
