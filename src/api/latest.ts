import { followingOf } from '../core/zone/following.ts';
import { checkKept } from './body.ts';
import type { ApiDeps } from './deps.ts';
import type { Call, Route } from './route.ts';

/**
 * What was acknowledged is seen by every later request:
 *
 *   a request that        | waits until                                                  | unless
 *   ----------------------+--------------------------------------------------------------+------------------------------
 *   reads                 | this hub has all that was answered before, by whichever hub  | it is alone, or cluster_reads
 *                         |                                                              | is any
 *   looks at zones that   | the locations before it have taken them along                | no zone follows anything
 *   follow something      |                                                              |
 */

/** The rows, of which each that reads is handled when this hub has what it should have. */
export function readingLatest(routes: readonly Route[]): readonly Route[] {
  return routes.map((row) => (row.method === 'GET' ? after((hub) => hub.upToDate(), row) : row));
}

/** The rows, each handled when the zones are where they should be. */
export function afterMoves(routes: readonly Route[]): readonly Route[] {
  return routes.map((row) => after((hub) => hub.zonesMoved(), row));
}

/** What proximities must wait for; undefined when none of them names a zone that follows something. */
export function movesBefore(proximities: readonly unknown[], hub: ApiDeps): Promise<void> | undefined {
  if (!hub.entities.hasMobileZones || !proximities.some((proximity) => namesMobileZone(proximity, hub)))
    return undefined;
  // Whoever takes them later cannot blame the body any more: see createApi.
  checkKept(proximities, hub);
  return hub.zonesMoved();
}

function after(event: (hub: ApiDeps) => Promise<void> | undefined, row: Route): Route {
  return {
    ...row,
    handle(call: Call, hub: ApiDeps) {
      const waiting = event(hub);
      return waiting === undefined ? row.handle(call, hub) : waiting.then(() => row.handle(call, hub));
    },
  };
}

function namesMobileZone(proximity: unknown, { entities }: ApiDeps): boolean {
  const source = (proximity as { readonly source?: unknown } | null)?.source;
  const zone = typeof source === 'string' ? entities.zoneBy(source) : undefined;
  return zone !== undefined && followingOf(zone) !== undefined;
}
