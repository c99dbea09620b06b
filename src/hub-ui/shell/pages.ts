import type { IconName } from '../controls/icons.tsx';
import { can } from '../hub/access.ts';
import { KINDS } from '../hub/entity_kinds.ts';
import { settings } from '../hub/settings.ts';
import { t } from '../languages/language.ts';

/** A place in the navigation. */
export interface Place {
  readonly path: string;
  readonly label: string;
  readonly icon: IconName;
  /** Paths of the API that it shows: it is there for whoever may read one of them, or for everybody without any. */
  readonly reads?: readonly string[];
  /** It is there where the hub records history. */
  readonly isHistory?: boolean;
}

export interface PlaceGroup {
  readonly title: string;
  readonly places: readonly Place[];
}

export const PLACES: readonly PlaceGroup[] = [
  {
    title: t('Live'),
    places: [
      { path: '/', label: t('Map'), icon: 'map' },
      { path: '/alerts', label: t('Alerts'), icon: 'bell', reads: ['/alerts'] },
      { path: '/events', label: t('Events'), icon: 'event', reads: topics('fence_events', 'collision_events') },
      { path: '/operations', label: t('Operations'), icon: 'operation' },
      { path: '/methods', label: t('Methods'), icon: 'code', reads: ['/rpc/available'] },
    ],
  },
  {
    title: t('Set-up'),
    places: [
      { path: '/zones', label: t('Zones'), icon: 'zone', reads: ['/zones/summary'] },
      { path: '/anchors', label: t('Anchors'), icon: 'anchor', reads: ['/anchors/summary'] },
      { path: '/fences', label: t('Fences'), icon: 'fence', reads: ['/fences/summary'] },
      { path: '/trackables', label: t('Trackables'), icon: 'trackable', reads: ['/trackables/summary'] },
      { path: '/providers', label: t('Providers'), icon: 'provider', reads: ['/providers/summary'] },
      { path: '/rules', label: t('Rules'), icon: 'rule', reads: ['/trackables/rules/locating'] },
    ],
  },
  {
    title: t('Data'),
    places: [
      { path: '/lists', label: t('Lists'), icon: 'list', reads: KINDS.map((kind) => `/${kind}/summary`) },
      { path: '/flows', label: t('Flows'), icon: 'flow', reads: ['/analytics/flows'], isHistory: true },
    ],
  },
];

/** Those that a narrow screen has room for; the others are behind "More". */
export const TAB_PATHS: readonly string[] = ['/', '/events', '/operations', '/lists'];

/** Whether the navigation leads to a place. */
export function isThere(place: Place): boolean {
  return mayOpen(place) && (place.isHistory !== true || settings.value.history);
}

/** Whether there is something at a place that the user may see. */
export function mayOpen({ reads }: Place): boolean {
  return reads === undefined || reads.some((path) => can('READ', path));
}

/** The place that an address belongs to. */
export function placeAt(address: string): Place | undefined {
  return PLACES.flatMap(({ places }) => places).find((place) => isAt(address, place));
}

/** Whether an address belongs to a place. */
export function isAt(address: string, { path }: Place): boolean {
  return path === '/' ? address === '/' : address === path || address.startsWith(`${path}/`);
}

/** Paths of topics of the WebSocket API, as permissions have them. */
function topics(...names: readonly string[]): readonly string[] {
  return names.map((name) => `/ws/socket/${name}`);
}
