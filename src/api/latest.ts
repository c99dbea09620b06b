import { followingOf } from '../core/zone/following.ts';
import { checkStorable } from './body.ts';
import type { ApiDeps } from './deps.ts';
import type { ApiCall, ApiRoute } from './route.ts';

/**
 * Consistency of reads: every request sees everything acknowledged before it.
 *
 *   a request that        | waits until                                                  | unless
 *   ----------------------+--------------------------------------------------------------+------------------------------
 *   reads                 | this hub has everything acknowledged before by any hub       | it is alone, or cluster_reads
 *                         |                                                              | is any
 *   uses zones that       | the zones reflect all previous locations                     | no zone follows an object
 *   follow an object      |                                                              |
 */

/** The routes; each one that reads is handled when this hub is up to date. */
export function readingLatest(routes: readonly ApiRoute[]): readonly ApiRoute[] {
  return routes.map((row) => (row.method === 'GET' ? after((hub) => hub.upToDate(), row) : row));
}

/** The routes; each is handled when zones are up to date. */
export function afterMoves(routes: readonly ApiRoute[]): readonly ApiRoute[] {
  return routes.map((row) => after((hub) => hub.zonesMoved(), row));
}

/** The promise that proximities must await; undefined if none of them refers to a zone that follows an object. */
export function movesBefore(proximities: readonly unknown[], hub: ApiDeps): Promise<void> | undefined {
  if (!hub.entities.hasMobileZones || !proximities.some((proximity) => namesMobileZone(proximity, hub)))
    return undefined;
  // Errors of the body must be reported before the wait: see createApi.
  checkStorable(proximities, hub);
  return hub.zonesMoved();
}

function after(event: (hub: ApiDeps) => Promise<void> | undefined, row: ApiRoute): ApiRoute {
  return {
    ...row,
    handle(call: ApiCall, hub: ApiDeps) {
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
