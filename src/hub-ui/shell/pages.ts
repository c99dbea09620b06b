import type { IconName } from '../controls/icons.tsx';
import { can } from '../hub/access.ts';
import { KINDS } from '../hub/entity_kinds.ts';
import { settings } from '../hub/settings.ts';
import { t } from '../languages/language.ts';

/** Page in the navigation. */
export interface NavPage {
  readonly path: string;
  readonly label: string;
  readonly icon: IconName;
  /** API paths that the page shows. The page is listed if the user may read one of them, or if it has none. */
  readonly reads?: readonly string[];
  /** Listed only if the hub records history. */
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
      {
        path: '/home',
        label: t('Home'),
        icon: 'home',
        reads: ['/providers/summary', '/fences/summary', '/alerts'],
      },
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
      { path: '/reports', label: t('Reports'), icon: 'copy', reads: ['/analytics/dwell'], isHistory: true },
      { path: '/muster', label: t('Muster list'), icon: 'check', reads: ['/trackables/summary'] },
      { path: '/finder', label: t('Finder'), icon: 'search', reads: ['/providers/summary'] },
      { path: '/walk-tests', label: t('Walk tests'), icon: 'target', reads: ['/walk_tests'], isHistory: true },
      { path: '/sinks', label: t('Sinks'), icon: 'sink', reads: ['/sinks'] },
      { path: '/sources', label: t('Sources'), icon: 'provider', reads: ['/sources'] },
      { path: '/links', label: t('Links'), icon: 'hubs', reads: ['/links'] },
      { path: '/keys', label: t('API keys'), icon: 'lock', reads: ['/keys'] },
      { path: '/audit', label: t('Audit log'), icon: 'clock', reads: ['/audit'] },
    ],
  },
];

/** Pages in the tab bar of a narrow screen. The other pages are in the menu "More". */
export const TAB_PATHS: readonly string[] = ['/home', '/', '/events', '/lists'];

/** Returns whether the navigation lists a page. */
export function isListed(page: NavPage): boolean {
  return mayOpen(page) && (page.isHistory !== true || settings.value.history);
}

/** Returns whether the user may read anything on a page. */
export function mayOpen({ reads }: NavPage): boolean {
  return reads === undefined || reads.some((path) => can('READ', path));
}

/** Returns the page of a path. */
export function pageAt(address: string): NavPage | undefined {
  return NAV_GROUPS.flatMap(({ pages }) => pages).find((page) => isAt(address, page));
}

/** Returns whether a path belongs to a page. */
export function isAt(address: string, { path }: NavPage): boolean {
  return path === '/' ? address === '/' : address === path || address.startsWith(`${path}/`);
}

/** Permission paths of WebSocket topics. */
function topics(...names: readonly string[]): readonly string[] {
  return names.map((name) => `/ws/socket/${name}`);
}
