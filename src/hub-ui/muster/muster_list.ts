import type { Fence } from '../../model/fence.ts';
import type { TrackableMotion } from '../../model/events.ts';
import type { Trackable } from '../../model/trackable.ts';
import type { Inside } from '../map_page/wall/fence_counts.ts';

/** An object on the muster list. */
export interface Mustered {
  readonly trackable: Trackable;
  /** The muster point that it is in, or the time at which a person checked it off; undefined if it is missing. */
  readonly safe: { readonly at: Fence } | { readonly checkedMs: number } | undefined;
  /** Fences other than muster points that it is in. */
  readonly fences: readonly Fence[];
  /** Time of its last location; undefined without one. */
  readonly lastSeenMs: number | undefined;
}

interface MusterInput {
  readonly trackables: readonly Trackable[];
  readonly fences: readonly Fence[];
  /** Ids of the fences that are muster points. */
  readonly points: ReadonlySet<string>;
  readonly inside: Inside;
  readonly motions: readonly TrackableMotion[];
  /** When objects were checked off by hand, by id. */
  readonly checked: ReadonlyMap<string, number>;
}

/**
 * Returns the muster list: missing objects first, then those at muster points and those that were checked off, each in the
 * order of `trackables`.
 */
export function musterList({ trackables, fences, points, inside, motions, checked }: MusterInput): readonly Mustered[] {
  const seen = new Map(motions.map(({ id, location }) => [id, Date.parse(location.timestamp_generated ?? '')]));
  const all = trackables.map((trackable): Mustered => {
    const { id } = trackable;
    const around = fences.filter((fence) => inside.get(fence.id)?.has(id));
    const at = around.find((fence) => points.has(fence.id));
    const checkedMs = checked.get(id);
    const lastSeenMs = seen.get(id) ?? Number.NaN;
    return {
      trackable,
      safe: at !== undefined ? { at } : checkedMs === undefined ? undefined : { checkedMs },
      fences: around.filter((fence) => !points.has(fence.id)),
      lastSeenMs: Number.isNaN(lastSeenMs) ? undefined : lastSeenMs,
    };
  });
  return [...all.filter(({ safe }) => safe === undefined), ...all.filter(({ safe }) => safe !== undefined)];
}
