import { shiftedControlPoints } from '../core/zone/control_points.ts';
import { followingOf, type ZoneMove } from '../core/zone/following.ts';
import { zoneTransform } from '../core/zone/zone_transform.ts';
import { transformationType } from '../core/zone/zone_type.ts';
import { idKey, isUnset } from '../model/id.ts';
import type { Zone } from '../model/zone.ts';
import type { Change } from './change.ts';
import type { State } from './state.ts';

/**
 * Moves zones that follow other zones or objects. Ground control points preserve their distances from the position of
 * the zone. Apply each change before requesting the next one, since the children of a moved zone are looked up then. A
 * zone already at its target is not moved, which ends cycles.
 */

/** Target of a zone. An unknown floor stays unchanged. */
interface Goal {
  readonly position: readonly number[];
  readonly floor: number | null | undefined;
}

interface Carrying {
  readonly state: State;
  /** Maximum levels of carried zones: deeper ones, from old data, are not moved. */
  readonly levelsMax: number;
}

/** Moves zones and their children to the objects that they follow. A zone that no longer follows an object stays. */
export function* movedZones(moves: Iterable<ZoneMove>, state: State, levelsMax: number): Generator<Change<'zone'>> {
  for (const move of moves) {
    const zone = state.get('zone', move.id);
    if (zone !== undefined && follows(zone, move.by, state)) yield* moved(zone, move, { state, levelsMax });
  }
}

/** Moves the children of a moved zone. */
export function* carriedAlong(before: Zone, after: Zone, carrying: Carrying): Generator<Change<'zone'>> {
  const { state, levelsMax } = carrying;
  if (after.position == null || levelsMax === 0) return;
  const goal: Goal = { position: after.position.coordinates, floor: after.floor };
  if (isAt(before, goal)) return;
  for (const { kind, entity } of state.carriedBy('zone', after.id)) {
    if (kind === 'zone') yield* moved(entity, goal, { state, levelsMax: levelsMax - 1 });
  }
}

function* moved(before: Zone, goal: Goal, carrying: Carrying): Generator<Change<'zone'>> {
  if (isAt(before, goal)) return;
  const after: Zone = { ...before, position: { type: 'Point', coordinates: [...goal.position] } };
  if (goal.floor != null) after.floor = goal.floor;
  if (before.position != null && before.ground_control_points != null) {
    const shifted = shiftedControlPoints(before.ground_control_points, before.position.coordinates, goal.position);
    if (shifted === undefined) return;
    after.ground_control_points = shifted;
  }
  // A benchmark outside its projection would leave the zone without coordinates.
  if (transformationType(after) === 'benchmark' && zoneTransform(after) === undefined) return;
  yield { kind: 'zone', id: before.id, before, after };
  yield* carriedAlong(before, after, carrying);
}

function isAt({ position, floor }: Zone, goal: Goal): boolean {
  if (goal.floor != null && goal.floor !== floor) return false;
  const at = position?.coordinates ?? [];
  return at.length === goal.position.length && at.every((coordinate, i) => coordinate === goal.position[i]);
}

/** The id of a parent zone is never that of a trackable. */
function follows(zone: Zone, by: ZoneMove['by'], state: State): boolean {
  if (!isUnset(zone.parent) && state.has('zone', zone.parent)) return false;
  return followingOf(zone)?.[`${by.kind}s`].has(idKey(by.id)) === true;
}
