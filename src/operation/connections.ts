import type { Zone } from '../model/zone.ts';
import type { Connection } from './arrivals.ts';

/** A connection as whoever made it reports it. */
interface Reported {
  /** Zone id or foreign id. */
  readonly source: string;
  readonly reconnects: number;
  /** RFC 3339; undefined while it is down. */
  readonly connection_established: string | undefined;
}

/** Connections by the zones that they belong to; those to zones that do not exist are left out. */
export function connectionsOf(
  reported: readonly Reported[],
  zones: { zoneBy(name: string): Zone | undefined },
): Connection[] {
  return reported.flatMap(({ source, reconnects, connection_established: established }) => {
    const zoneId = zones.zoneBy(source)?.id;
    if (zoneId === undefined) return [];
    return [{ zoneId, reconnects, establishedMs: established === undefined ? undefined : Date.parse(established) }];
  });
}
