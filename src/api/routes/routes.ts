import type { Route } from '../route.ts';
import { docsRoute } from './docs.ts';
import { FENCE_ROUTES } from './fences.ts';
import { HUB_ROUTES } from './hub.ts';
import { LOCATION_ROUTES } from './locations.ts';
import { PROVIDER_ROUTES } from './providers.ts';
import { TRACKABLE_ROUTES } from './trackables.ts';
import { ZONE_ROUTES } from './zones.ts';

const API_ROUTES: readonly Route[] = [
  ...ZONE_ROUTES,
  ...TRACKABLE_ROUTES,
  ...PROVIDER_ROUTES,
  ...LOCATION_ROUTES,
  ...FENCE_ROUTES,
  ...HUB_ROUTES,
];

/** All endpoints. */
export const ROUTES: readonly Route[] = [...API_ROUTES, docsRoute(API_ROUTES)];
