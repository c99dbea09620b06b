import { link, unlink } from '../assignments.ts';
import { type Moment, momentOf, type ShardContext } from '../context.ts';
import { changeOf, fenceAmong, fencesIn } from '../fence/fences.ts';
import type { Item, ObjectIds } from '../item.ts';
import type { Fix } from '../location/fix.ts';
import { CHANGED_MEMBERS, type ProviderState, type TrackableState, touch } from '../state.ts';
import { AroundBefore } from './around.ts';
import { restoreRows } from './last_known.ts';
import { advance } from './on_deadline.ts';
import { observeUnruled } from './on_rules.ts';
import { staysPut } from './on_zone.ts';
import { reevaluate, relocate } from './reevaluate.ts';
import { replaySteps } from './replay.ts';
import { retime } from './retime.ts';

/**
 * Objects come from another hub, beside those that are here: as its rows and steps say, by the fences and zones of which it
 * knew, and with all timers running. Then they meet what has changed since, all at once; nobody else hears of that. What has
 * changed about the objects themselves is told before and after, as ever.
 *
 * In the effects of the step they are in full, and their rows are wanted: so their state is this hub's.
 */
export function onTakeOver(context: ShardContext, item: Item & { kind: 'takeOver' }): void {
  const { state } = context;
  const { id, seq, receivedMs, rows, steps, objects, heldUntilMs, since } = item;
  const around = new AroundBefore(state, since);
  for (const trackable of objects.trackables.flatMap((each) => state.trackables.get(each) ?? [])) {
    // It may have left from here before, see release.ts.
    unlink(state, trackable);
    link(state, trackable);
  }
  const only = { provider: new Set(objects.providers), trackable: new Set(objects.trackables) };
  restoreRows(context, { seq, receivedMs, rows, suppressUntilMs: heldUntilMs, withTimers: true, around });
  replaySteps(context, steps, { around, takenOver: { only, heldUntilMs } });
  const arrived = objectsHere(context, objects);
  for (const object of [...arrived.providers, ...arrived.trackables]) {
    object.changes |= CHANGED_MEMBERS;
    touch(state, object);
  }
  advance(context, receivedMs);
  reconsider(context, around, arrived, momentOf(context, item));
  context.draft.answers.push([id, { ids: [] }]);
}

interface Arrived {
  readonly providers: readonly ProviderState[];
  readonly trackables: readonly TrackableState[];
}

/** Those of the objects that have a place, or have yet to leave one. */
function objectsHere({ state }: ShardContext, { providers, trackables }: ObjectIds): Arrived {
  const isHere = (object: ProviderState | TrackableState): boolean => {
    return object.fix !== undefined || object.members.length > 0;
  };
  return {
    providers: providers.flatMap((id) => state.providers.get(id) ?? []).filter(isHere),
    trackables: trackables.flatMap((id) => state.trackables.get(id) ?? []).filter(isHere),
  };
}

/** Shows what has changed to the objects, as if they had been here when it did so. */
function reconsider(context: ShardContext, around: AroundBefore, arrived: Arrived, moment: Moment): void {
  const { state } = context;
  const { since } = around;
  const objects = [...arrived.providers, ...arrived.trackables];
  for (const object of objects) rejoin(context, object, around);
  const changes = changedFences(context, around);
  const fences = changes.flatMap(({ fence, isMoved }) => (isMoved ? [fence] : []));
  const relocated = new Map<ProviderState | TrackableState, Fix>();
  for (const [id, before] of since.zones) {
    const zone = state.zones.find(id);
    if (zone === undefined || staysPut(before, zone)) continue;
    for (const [object, fix] of relocate(state, { id, zone }, arrived)) relocated.set(object, fix);
  }
  // What is due by the new times is as late as what is due by the old ones: it comes before what moves the objects, and
  // where it is held that fires it.
  for (const { fence, isMoved, isRetimed } of changes) {
    if (isMoved || !isRetimed) continue;
    for (const object of objects) if (fence.occupants.has(object)) retime(context, object, moment.nowMs, fence);
  }
  advance(context, moment.nowMs);
  if (fences.length + relocated.size > 0) reevaluate(context, { fences, relocated }, moment, arrived);
  if (since.rules) observeUnruled(context, arrived.trackables, moment);
}

/** Memberships go over to the fences as they are. Those in fences that are gone are so as well, without events. */
function rejoin({ state }: ShardContext, object: ProviderState | TrackableState, around: AroundBefore): void {
  if (around.since.fences.length === 0) return;
  object.members = object.members.flatMap((member) => {
    const fence = state.fences.get(member.fence.id);
    return fence === undefined ? [] : [{ ...member, fence }];
  });
}

/** Fences that are not what they were, or may not be where they were. */
function changedFences({ state }: ShardContext, around: AroundBefore): ReturnType<typeof changeOf>[] {
  const { since, zone } = around;
  const zones = since.zones.flatMap(([id, before]) => [before, state.zones.find(id)]);
  const ids = new Set([...since.fences.map(([id]) => id), ...fencesIn(state, zones).map(({ id }) => id)]);
  return [...ids].flatMap((id) => {
    const fence = state.fences.get(id);
    if (fence === undefined) return [];
    const before = around.hasChanged(id) ? around.fence(id) : fenceAmong(zone, fence.entity, fence);
    return [changeOf(before, fence)];
  });
}
