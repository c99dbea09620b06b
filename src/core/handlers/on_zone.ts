import type { Zone } from '../../model/zone.ts';
import { momentOf, type ShardContext } from '../context.ts';
import { fencesIn, setFence } from '../fence/fences.ts';
import type { Item } from '../item.ts';
import { allObjects, CHANGED_MEMBERS, type ShardState, touch } from '../state.ts';
import { keepsPlane } from '../zone/zone_transform.ts';
import { type Relocated, reevaluate, relocate } from './reevaluate.ts';

/**
 * Handles a zone that was created, changed or deleted. Fences and objects located in meters of the zone move with its
 * plane, in one observation.
 */
export function onZone(context: ShardContext, item: Item & { kind: 'zone' }): void {
  const { state, index } = context;
  const before = state.zones.set(item.id, item.entity);
  state.followers.change(before, item.entity);
  const { id, entity: after } = item;
  const isStill = staysPut(before, after);
  if (isStill && before?.foreign_id === after?.foreign_id) return;
  const changed = fencesIn(state, [before, after])
    .map((entity) => setFence(state, index, entity))
    .filter(({ isMoved }) => isMoved)
    .map(({ fence }) => fence);
  const relocated: Relocated =
    isStill || after === undefined ? new Map() : relocate(state, { id, zone: after }, allObjects(state));
  if (after === undefined || before?.foreign_id !== after.foreign_id) touchIn(state, id);
  if (changed.length + relocated.size === 0) return;
  reevaluate(context, { fences: changed, relocated }, momentOf(context, item), allObjects(state));
}

/**
 * Marks the objects in a zone that is deleted or renamed. They stay in it, but a replay of older effects would not find
 * the zone by its name.
 */
function touchIn(state: ShardState, zoneId: string): void {
  for (const objects of [state.providers, state.trackables]) {
    for (const object of objects.values()) {
      if (object.fix?.zone?.id !== zoneId) continue;
      // Not an observation.
      object.changes |= CHANGED_MEMBERS;
      touch(state, object);
    }
  }
}

/** Whether positions in the zone are unchanged. */
export function staysPut(before: Zone | undefined, after: Zone | undefined): boolean {
  return before !== undefined && after !== undefined && keepsPlane(before, after) && isLevel(before, after);
}

/** Whether the height of the zone's floor, from which heights are measured, is unchanged. */
function isLevel(before: Zone, after: Zone): boolean {
  return (before.wgs84_height ?? undefined) === (after.wgs84_height ?? undefined);
}
