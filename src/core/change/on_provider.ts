import type { Moment, ShardContext } from '../context.ts';
import { leaveAll } from '../fence/observe_fences.ts';
import { timingOfObject } from '../fence/timing.ts';
import type { Item } from '../item.ts';
import { providerState } from '../location/on_location.ts';
import { reportGone, settle } from '../motion/move.ts';
import { significantPlace } from '../motion/significant_place.ts';
import { publishProviderCrossings, publishTrackableCrossings } from '../publish.ts';
import type { ProviderState, TrackableState } from '../state.ts';

/** A provider is created, changed or deleted. */
export function onProvider(context: ShardContext, item: Item & { kind: 'provider' }): void {
  const { state } = context;
  if (item.entity !== undefined) {
    const provider = providerState(state, item.id);
    provider.entity = item.entity;
    provider.timing = timingOfObject(item.entity);
    return;
  }
  const provider = state.providers.get(item.id);
  if (provider === undefined) return;
  state.providers.delete(item.id);
  dropPlace(context, provider, { nowMs: item.receivedMs, seq: item.seq });
}

/** A provider's location is deleted: it leaves its fences, and its order key is forgotten. */
export function onForget(context: ShardContext, item: Item & { kind: 'forget' }): void {
  const provider = context.state.providers.get(item.id);
  if (provider !== undefined) dropPlace(context, provider, { nowMs: item.receivedMs, seq: item.seq });
}

function dropPlace(context: ShardContext, provider: ProviderState, moment: Moment): void {
  const { state } = context;
  if (provider.place === undefined) return;
  publishProviderCrossings(context, provider, leaveAll(provider, moment.nowMs));
  provider.place = undefined;
  provider.nearby = undefined;
  state.deadlines.remove(provider);
  forgetRow(context, provider);
  for (const trackable of state.assigned.get(provider.id) ?? []) {
    if (trackable.place?.location.provider_id === provider.id) fallBack(context, trackable, moment);
  }
}

/** A trackable whose provider has no place any more: it is silently where its other providers are, or nowhere. */
function fallBack(context: ShardContext, trackable: TrackableState, moment: Moment): void {
  const next = significantPlace(context, trackable, moment.nowMs);
  if (next !== undefined) {
    settle(trackable, next);
    context.state.dirty.add(trackable);
    return;
  }
  loseMotion(context, trackable, moment);
}

/** A trackable has no location any more: it leaves its fences and collisions, and its motion is gone. */
export function loseMotion(context: ShardContext, trackable: TrackableState, moment: Moment): void {
  publishTrackableCrossings(context, trackable, leaveAll(trackable, moment.nowMs));
  reportGone(context, trackable, moment);
  trackable.place = undefined;
  trackable.footprint = undefined;
  trackable.nearby = undefined;
  context.state.deadlines.remove(trackable);
  forgetRow(context, trackable);
}

function forgetRow({ state }: ShardContext, object: ProviderState | TrackableState): void {
  state.dirty.delete(object);
  state.urgent.delete(object);
  state.gone.set(`${object.kind} ${object.id}`, [object.kind, object.id]);
}
