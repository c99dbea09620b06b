import type { ShardContext } from '../context.ts';
import type { Place } from '../location/place.ts';
import { positionOf } from '../location/text.ts';
import type { Tracked } from '../state.ts';

/** A zone is to be where an object is that it follows, and on the same floor. */
export interface ZoneMove {
  readonly id: string;
  readonly by: { readonly kind: 'provider' | 'trackable'; readonly id: string };
  /** Number of the item that has moved the object. Of two moves, even from different shards, the later one counts. */
  readonly seq: number;
  /** Longitude, latitude, and height where it is known. */
  readonly position: readonly number[];
  readonly floor: number;
}

/**
 * An object has been located: says so of the zones that follow it, the last place of each step. A zone is never moved by
 * a location in its own coordinates or at its own position, which it would run away from.
 */
export function takeAlong({ state, draft }: ShardContext, { kind, id }: Tracked, place: Place, seq: number): void {
  for (const zoneId of state.followers.of(kind, id) ?? []) {
    if (place.zone?.id === zoneId) continue;
    draft.zoneMoves.set(zoneId, {
      id: zoneId,
      by: { kind, id },
      seq,
      position: positionOf(place),
      floor: place.floor,
    });
  }
}
