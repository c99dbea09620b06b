import { link, unlink } from '../assignments.ts';
import { type Moment, momentOf, type ShardContext } from '../context.ts';
import { changeOf, fenceAmong, fencesIn } from '../fence/fences.ts';
import type { Item, ObjectIds } from '../item.ts';
import type { Fix } from '../location/fix.ts';
import { CHANGED_MEMBERS, type ProviderState, type TrackableState, touch } from '../state.ts';
import { PastEntityLookup } from './entity_lookup.ts';
import { restoreRows } from './last_known.ts';
import { advance } from './on_deadline.ts';
import { reevaluateUnruled } from './on_rules.ts';
import { staysPut } from './on_zone.ts';
import { reevaluate, relocate } from './reevaluate.ts';
import { replaySteps } from './replay.ts';
import { retime } from './retime.ts';

/**
 * Takes over objects that migrate from another hub: applies the rows and steps of that hub, with running timers and
 * with the fences and zones of that time. Then the objects are observed once in all fences and zones that have changed
 * since; other objects are not affected. Changes of the objects' own entities are applied before and after, as usual.
 *
 * The effects of this step contain the full state of the objects, and their rows are written, so from then on this hub
 * owns that state.
 */
export function onTakeOver(context: ShardContext, item: Item & { kind: 'takeOver' }): void {
  const { state } = context;
  const { id, seq, receivedMs, rows, steps, objects, heldUntilMs, since } = item;
  const entities = new PastEntityLookup(state, since);
  for (const trackable of objects.trackables.flatMap((each) => state.trackables.get(each) ?? [])) {
    // The trackable may have been released by this shard before: see release.ts.
    unlink(state, trackable);
    link(state, trackable);
  }
  const only = { provider: new Set(objects.providers), trackable: new Set(objects.trackables) };
  restoreRows(context, { seq, receivedMs, rows, suppressUntilMs: heldUntilMs, withTimers: true, entities });
  replaySteps(context, steps, { entities, takenOver: { only, heldUntilMs } });
  const arrived = objectsHere(context, objects);
  for (const object of [...arrived.providers, ...arrived.trackables]) {
    object.changes |= CHANGED_MEMBERS;
    touch(state, object);
  }
  advance(context, receivedMs);
  applyChanges(context, entities, arrived, momentOf(context, item));
  context.draft.answers.push([id, { ids: [] }]);
}

interface ArrivedObjects {
  readonly providers: readonly ProviderState[];
  readonly trackables: readonly TrackableState[];
}

/** Returns the objects that have a position or still have memberships to leave. */
function objectsHere({ state }: ShardContext, { providers, trackables }: ObjectIds): ArrivedObjects {
  const isHere = (object: ProviderState | TrackableState): boolean => {
    return object.fix !== undefined || object.members.length > 0;
  };
  return {
    providers: providers.flatMap((id) => state.providers.get(id) ?? []).filter(isHere),
    trackables: trackables.flatMap((id) => state.trackables.get(id) ?? []).filter(isHere),
  };
}

/** Applies the changes made since, as if the objects had been here at the time. */
function applyChanges(
  context: ShardContext,
  entities: PastEntityLookup,
  arrived: ArrivedObjects,
  moment: Moment,
): void {
  const { state } = context;
  const { since } = entities;
  const objects = [...arrived.providers, ...arrived.trackables];
  for (const object of objects) rejoin(context, object, entities);
  const changes = changedFences(context, entities);
  const fences = changes.flatMap(({ fence, isMoved }) => (isMoved ? [fence] : []));
  const relocated = new Map<ProviderState | TrackableState, Fix>();
  for (const [id, before] of since.zones) {
    const zone = state.zones.find(id);
    if (zone === undefined || staysPut(before, zone)) continue;
    for (const [object, fix] of relocate(state, { id, zone }, arrived)) relocated.set(object, fix);
  }
  // Recomputed deadlines that are already due fire before the objects move. A move fires the suppressed deadlines.
  for (const { fence, isMoved, isRetimed } of changes) {
    if (isMoved || !isRetimed) continue;
    for (const object of objects) if (fence.occupants.has(object)) retime(context, object, moment.nowMs, fence);
  }
  advance(context, moment.nowMs);
  if (fences.length + relocated.size > 0) reevaluate(context, { fences, relocated }, moment, arrived);
  if (since.rules) reevaluateUnruled(context, arrived.trackables, moment);
}

/** Moves memberships to the current fences. Memberships in deleted fences end without events. */
function rejoin({ state }: ShardContext, object: ProviderState | TrackableState, entities: PastEntityLookup): void {
  if (entities.since.fences.length === 0) return;
  object.members = object.members.flatMap((member) => {
    const fence = state.fences.get(member.fence.id);
    return fence === undefined ? [] : [{ ...member, fence }];
  });
}

/** Returns the fences that have changed or may have moved. */
function changedFences({ state }: ShardContext, entities: PastEntityLookup): ReturnType<typeof changeOf>[] {
  const { since, zone } = entities;
  const zones = since.zones.flatMap(([id, before]) => [before, state.zones.find(id)]);
  const ids = new Set([...since.fences.map(([id]) => id), ...fencesIn(state, zones).map(({ id }) => id)]);
  return [...ids].flatMap((id) => {
    const fence = state.fences.get(id);
    if (fence === undefined) return [];
    const before = entities.hasChanged(id) ? entities.fence(id) : fenceAmong(zone, fence.entity, fence);
    return [changeOf(before, fence)];
  });
}
