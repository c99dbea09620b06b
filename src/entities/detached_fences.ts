import { planeOnly } from '../core/fence/fence_plane.ts';
import { anchoredZone } from '../core/zone/control_points.ts';
import { zoneTransform } from '../core/zone/zone_transform.ts';
import type { Anchor } from '../model/anchor.ts';
import type { StoredFence } from '../model/fence.ts';
import { idKey } from '../model/id.ts';
import type { Zone } from '../model/zone.ts';
import type { Change } from './change.ts';
import type { State } from './state.ts';

/**
 * A change, preceded by those of the local fences that it detaches from their plane, because their zone is deleted,
 * renamed, or no longer georeferenced. Each fence stores the zone of its plane, and so stays at its position. Clients
 * see no difference.
 */
export function* withDetachedFences(change: Change, state: State): Generator<Change> {
  yield* leftBehind(change, state);
  yield change;
}

/**
 * Whether a change only detaches a fence: clients see no difference and are not notified. Nothing else changes the
 * stored zone of a detached fence, except dropping it.
 */
export function isSilent({ kind, before, after }: Change): boolean {
  if (kind !== 'fence' || before === undefined) return false;
  const { former_zone: former } = (after ?? {}) as Partial<StoredFence>;
  return former !== undefined && !isSame(former, (before as StoredFence).former_zone);
}

function* leftBehind({ kind, before, after }: Change, state: State): Generator<Change<'fence'>> {
  if (before === undefined) return;
  if (kind === 'zone') yield* leftByZone(before as Zone, after as Zone | undefined, state);
  if (kind !== 'anchor') return;
  const anchorOf = (id: string) => (idKey(id) === idKey(before.id) ? (after as Anchor) : state.get('anchor', id));
  for (const zone of state.zonesAt(before.id)) yield* left(state.placed(zone), anchoredZone(zone, anchorOf), state);
}

function leftByZone(before: Zone, after: Zone | undefined, state: State): Generator<Change<'fence'>> {
  return left(state.placed(before), after && anchoredZone(after, (id) => state.get('anchor', id)), state);
}

/** Both zones, georeferenced by their anchors. */
function* left(before: Zone, after: Zone | undefined, state: State): Generator<Change<'fence'>> {
  const names = namesOf(before).filter((name) => state.localFences(name).length > 0);
  if (names.length === 0 || zoneTransform(before) === undefined) return;
  const stay = after === undefined || zoneTransform(after) === undefined ? [] : namesOf(after);
  const former = planeOnly(before);
  for (const name of names) {
    if (stay.includes(name)) continue;
    const named = state.get('zone', name) ?? state.zoneByForeignId(name);
    if (named === undefined || idKey(named.id) !== idKey(before.id)) continue;
    for (const fence of state.localFences(name)) {
      if (isSame(former, fence.former_zone)) continue;
      yield { kind: 'fence', id: fence.id, before: fence, after: { ...fence, former_zone: former } };
    }
  }
}

function isSame(one: Zone, other: Zone | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function namesOf({ id, foreign_id: foreignId }: Zone): string[] {
  return [...new Set([id, foreignId ?? ''].filter((name) => name !== '').map(idKey))];
}
