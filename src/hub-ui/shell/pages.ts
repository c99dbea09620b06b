import type { IconName } from '../controls/icons.tsx';
import { can } from '../hub/access.ts';
import { KINDS } from '../hub/entity_kinds.ts';
import { settings } from '../hub/settings.ts';
import { t } from '../languages/language.ts';

/** A place in the navigation. */
export interface NavPage {
  readonly path: string;
  readonly label: string;
  readonly icon: IconName;
  /** Paths of the API that it shows: it is there for whoever may read one of them, or for everybody without any. */
  readonly reads?: readonly string[];
  /** It is there where the hub records history. */
  readonly isHistory?: boolean;
}

export interface NavGroup {
  readonly title: string;
  readonly pages: readonly NavPage[];
}

export const NAV_GROUPS: readonly NavGroup[] = [
  {
    title: t('Live'),
    pages: [
      { path: '/', label: t('Map'), icon: 'map' },
      { path: '/alerts', label: t('Alerts'), icon: 'bell', reads: ['/alerts'] },
      { path: '/events', label: t('Events'), icon: 'event', reads: topics('fence_events', 'collision_events') },
      { path: '/operations', label: t('Operations'), icon: 'operation' },
      { path: '/methods', label: t('Methods'), icon: 'code', reads: ['/rpc/available'] },
    ],
  },
  {
    title: t('Set-up'),
    pages: [
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
    pages: [
      { path: '/lists', label: t('Lists'), icon: 'list', reads: KINDS.map((kind) => `/${kind}/summary`) },
      { path: '/flows', label: t('Flows'), icon: 'flow', reads: ['/analytics/flows'], isHistory: true },
    ],
  },
];

/** Those that a narrow screen has room for; the others are behind "More". */
export const TAB_PATHS: readonly string[] = ['/', '/events', '/operations', '/lists'];

/** Whether the navigation leads to a place. */
export function isListed(page: NavPage): boolean {
  return mayOpen(page) && (page.isHistory !== true || settings.value.history);
}

/** Whether there is something at a place that the user may see. */
export function mayOpen({ reads }: NavPage): boolean {
  return reads === undefined || reads.some((path) => can('READ', path));
}

/** The place that an address belongs to. */
export function pageAt(address: string): NavPage | undefined {
  return NAV_GROUPS.flatMap(({ pages: pages }) => pages).find((page) => isAt(address, page));
}

/** Whether an address belongs to a place. */
export function isAt(address: string, { path }: NavPage): boolean {
  return path === '/' ? address === '/' : address === path || address.startsWith(`${path}/`);
}

/** Paths of topics of the WebSocket API, as permissions have them. */
function topics(...names: readonly string[]): readonly string[] {
  return names.map((name) => `/ws/socket/${name}`);
}
