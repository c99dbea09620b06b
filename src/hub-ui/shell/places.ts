import type { IconName } from '../parts/icons.tsx';

/** A place in the navigation. */
export interface Place {
  readonly path: string;
  readonly label: string;
  readonly icon: IconName;
}

export interface PlaceGroup {
  readonly title: string;
  readonly places: readonly Place[];
}

export const PLACES: readonly PlaceGroup[] = [
  {
    title: 'Live',
    places: [
      { path: '/', label: 'Map', icon: 'map' },
      { path: '/events', label: 'Events', icon: 'event' },
      { path: '/operations', label: 'Operations', icon: 'operation' },
    ],
  },
  {
    title: 'Set-up',
    places: [
      { path: '/zones', label: 'Zones', icon: 'zone' },
      { path: '/fences', label: 'Fences', icon: 'fence' },
      { path: '/trackables', label: 'Trackables', icon: 'trackable' },
      { path: '/providers', label: 'Providers', icon: 'provider' },
      { path: '/rules', label: 'Rules', icon: 'rule' },
    ],
  },
  { title: 'Data', places: [{ path: '/lists', label: 'Lists', icon: 'list' }] },
];

/** Those that a narrow screen has room for; the others are behind "More". */
export const TAB_PATHS: readonly string[] = ['/', '/events', '/operations', '/lists'];

/** Whether an address belongs to a place. */
export function isAt(address: string, { path }: Place): boolean {
  return path === '/' ? address === '/' : address === path || address.startsWith(`${path}/`);
}
