import { assignedTo } from '../assignments.ts';
import { type Moment, momentOf, type ShardContext } from '../context.ts';
import { leaveAll } from '../fence/observe_fences.ts';
import { sameTiming, timingOfObject } from '../fence/timing.ts';
import type { Item } from '../item.ts';
import { type ProviderState, providerState, touch } from '../state.ts';
import { noteFilter } from './filter_location.ts';
import { forgetRow, reevaluateTrackable } from './reevaluate_trackable.ts';
import { publishProviderCrossings } from './publish.ts';
import { retimeProvider } from './retime.ts';

/** Handles a provider that was created, changed or deleted. */
export function onProvider(context: ShardContext, item: Item & { kind: 'provider' }): void {
  const { state } = context;
  if (item.entity !== undefined) {
    const provider = providerState(state, item.id);
    const { timing: before } = provider;
    provider.entity = item.entity;
    provider.timing = timingOfObject(item.entity);
    noteFilter(state, item.entity);
    if (!sameTiming(before, provider.timing)) retimeProvider(context, provider, item.receivedMs);
    return;
  }
  const provider = state.providers.get(item.id);
  if (provider === undefined) return;
  state.providers.delete(item.id);
  dropFix(context, provider, momentOf(context, item));
}

/** Handles the deletion of a provider's location: it leaves its fences, and its event time is reset. */
export function onForget(context: ShardContext, item: Item & { kind: 'forget' }): void {
  const provider = context.state.providers.get(item.id);
  if (provider !== undefined) dropFix(context, provider, momentOf(context, item));
}

/** Removes the location of a provider. Trackables move to another location, or leave. */
export function dropFix(context: ShardContext, provider: ProviderState, moment: Moment): void {
  if (provider.fix === undefined) return;
  loseLocation(context, provider, moment);
  for (const trackable of assignedTo(context.state, provider.id).trackables) {
    if (trackable.fix?.providerId === provider.id) reevaluateTrackable(context, trackable, moment, { isDeleted: true });
  }
}

/** Removes the location of a provider, which leaves its fences. Its trackables stay. */
export function loseLocation(context: ShardContext, provider: ProviderState, moment: Moment): void {
  const { state } = context;
  publishProviderCrossings(context, provider, leaveAll(provider, moment.eventNowMs));
  touch(state, provider);
  state.fixes.put(provider, undefined);
  provider.nearby = undefined;
  forgetRow(context, provider);
}
