import { Anchor } from '../../model/anchor.ts';
import { afterMoves, readingLatest } from '../latest.ts';
import type { ApiRoute } from '../route.ts';
import { ADAPTER_ROUTES } from './adapters.ts';
import { ALERT_ROUTES } from './alerts.ts';
import { CROSSINGS_ROUTES } from './crossings.ts';
import { DEMO_ROUTES } from './demo.ts';
import { docsRoutes } from './docs.ts';
import { entityRows } from './entity_rows.ts';
import { AUDIT_ROUTES } from './audit.ts';
import { EVENT_ROUTES } from './events.ts';
import { FENCE_ROUTES } from './fences.ts';
import { FROM_LOCAL_ROUTES } from './from_local.ts';
import { ERASURE_ROUTES } from './erasure.ts';
import { HISTORY_ROUTES } from './history.ts';
import { IMPORT_ROUTES } from './import.ts';
import { KEY_ROUTES } from './keys.ts';
import { LINK_ROUTES } from './links.ts';
import { LOCATION_ROUTES } from './locations.ts';
import { MOVING_FEATURES_ROUTES } from './moving_features.ts';
import { OPERATION_ROUTES } from './operation.ts';
import { PROVIDER_ROUTES } from './providers.ts';
import { RPC_ROUTES } from './rpc.ts';
import { RULE_ROUTES } from './rules.ts';
import { SEARCH_ROUTES } from './search.ts';
import { SINK_ROUTES } from './sinks.ts';
import { SOURCE_ROUTES } from './sources.ts';
import { TRACKABLE_ROUTES } from './trackables.ts';
import { VIEW_ROUTES } from './views.ts';
import { WALK_TEST_ROUTES } from './walk_tests.ts';
import { ZONE_ROUTES } from './zones.ts';

/** All endpoints. */
export const ROUTES: readonly ApiRoute[] = [
  ...readingLatest([
    ...afterMoves([...ZONE_ROUTES, ...FROM_LOCAL_ROUTES]),
    ...TRACKABLE_ROUTES,
    ...RULE_ROUTES,
    ...PROVIDER_ROUTES,
    ...LOCATION_ROUTES,
    ...FENCE_ROUTES,
    ...SEARCH_ROUTES,
    ...CROSSINGS_ROUTES,
    ...ALERT_ROUTES,
    ...VIEW_ROUTES,
    ...LINK_ROUTES,
    ...SINK_ROUTES,
    ...WALK_TEST_ROUTES,
    ...KEY_ROUTES,
    ...SOURCE_ROUTES,
    ...entityRows({ kind: 'anchor', path: '/anchors', resource: 'anchor_id', schema: Anchor }),
  ]),
  ...ADAPTER_ROUTES,
  ...RPC_ROUTES,
  ...EVENT_ROUTES,
  ...AUDIT_ROUTES,
  ...HISTORY_ROUTES,
  ...ERASURE_ROUTES,
  ...MOVING_FEATURES_ROUTES,
  ...IMPORT_ROUTES,
  ...DEMO_ROUTES,
  ...OPERATION_ROUTES,
  ...docsRoutes(() => ROUTES),
];
