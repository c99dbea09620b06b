import { afterMoves } from '../after_moves.ts';
import type { Route } from '../route.ts';
import { ADAPTER_ROUTES } from './adapters.ts';
import { ANCHOR_ROUTES } from './anchors.ts';
import { docsRoutes } from './docs.ts';
import { FENCE_EVENT_ROUTES } from './fence_events.ts';
import { FENCE_ROUTES } from './fences.ts';
import { FROM_LOCAL_ROUTES } from './from_local.ts';
import { HEALTH_ROUTES } from './health.ts';
import { HUB_ROUTES } from './hub.ts';
import { LICENCE_ROUTES } from './licence.ts';
import { LOCATION_ROUTES } from './locations.ts';
import { METRICS_ROUTES } from './metrics.ts';
import { PROVIDER_ROUTES } from './providers.ts';
import { RULE_ROUTES } from './rules.ts';
import { STATS_ROUTES } from './stats.ts';
import { TRACKABLE_ROUTES } from './trackables.ts';
import { ZONE_FENCE_ROUTES } from './zone_fences.ts';
import { ZONE_ROUTES } from './zones.ts';

/** All endpoints. */
export const ROUTES: readonly Route[] = [
  ...afterMoves([...ZONE_ROUTES, ...ZONE_FENCE_ROUTES, ...FROM_LOCAL_ROUTES]),
  ...TRACKABLE_ROUTES,
  ...RULE_ROUTES,
  ...PROVIDER_ROUTES,
  ...LOCATION_ROUTES,
  ...FENCE_ROUTES,
  ...FENCE_EVENT_ROUTES,
  ...ANCHOR_ROUTES,
  ...ADAPTER_ROUTES,
  ...HUB_ROUTES,
  ...HEALTH_ROUTES,
  ...STATS_ROUTES,
  ...LICENCE_ROUTES,
  ...METRICS_ROUTES,
  ...docsRoutes(() => ROUTES),
];
