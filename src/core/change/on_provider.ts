import { assignedTo, carriedBy } from '../assignments.ts';
import type { Moment, ShardContext } from '../context.ts';
import { leaveAll } from '../fence/observe_fences.ts';
import { timingOfObject } from '../fence/timing.ts';
import type { Item } from '../item.ts';
import { providerState } from '../location/on_location.ts';
import { settle } from '../motion/move.ts';
import { significantPlace } from '../motion/significant_place.ts';
import { publishProviderCrossings } from '../publish.ts';
import type { ProviderState, TrackableState } from '../state.ts';
import { forgetRow, loseMotion } from './lose_motion.ts';

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
  state.places.put(provider, undefined);
  provider.nearby = undefined;
  forgetRow(context, provider);
  for (const trackable of assignedTo(state, provider.id).trackables) fallBack(context, trackable, provider.id, moment);
}

/**
 * A trackable that was where a provider was, which has no place any more, is silently where its other providers or its
 * parent are, or nowhere. So are those that it carries.
 */
function fallBack(context: ShardContext, trackable: TrackableState, providerId: string, moment: Moment): void {
  if (trackable.place?.providerId !== providerId) return;
  const next = significantPlace(context, trackable, moment.nowMs);
  if (next === undefined) loseMotion(context, trackable, moment);
  else {
    settle(context.state, trackable, next);
    context.state.dirty.add(trackable);
  }
  for (const child of carriedBy(context.state, trackable.id)) fallBack(context, child, providerId, moment);
}
