import { followingOf } from '../core/zone/following.ts';
import { checkKept } from './body.ts';
import type { ApiDeps } from './deps.ts';
import type { Call, Route } from './route.ts';

/**
 * What was acknowledged is seen by every later request: one that looks at zones which follow something waits until the
 * locations before it have taken them along. Where no zone follows anything nobody waits.
 */

/** The rows, each handled when the zones are where they should be. */
export function afterMoves(routes: readonly Route[]): readonly Route[] {
  return routes.map((row) => {
    return {
      ...row,
      handle(call: Call, hub: ApiDeps) {
        const moved = hub.zonesMoved();
        return moved === undefined ? row.handle(call, hub) : moved.then(() => row.handle(call, hub));
      },
    };
  });
}

/** What proximities must wait for; undefined when none of them names a zone that follows something. */
export function movesBefore(proximities: readonly unknown[], hub: ApiDeps): Promise<void> | undefined {
  if (!hub.entities.hasMobileZones || !proximities.some((proximity) => namesMobileZone(proximity, hub)))
    return undefined;
  // Whoever takes them later cannot blame the body any more: see createApi.
  checkKept(proximities, hub);
  return hub.zonesMoved();
}

function namesMobileZone(proximity: unknown, { entities }: ApiDeps): boolean {
  const source = (proximity as { readonly source?: unknown } | null)?.source;
  const zone = typeof source === 'string' ? entities.zoneBy(source) : undefined;
  return zone !== undefined && followingOf(zone) !== undefined;
}
