import type { Zone } from '../../model/zone.ts';
import type { Moment, ShardContext } from '../context.ts';
import { observeChangedFences, observeFences } from '../fence/observe_fences.ts';
import type { Fix } from '../location/fix.ts';
import { fixInZone } from '../location/locate.ts';
import {
  type FenceState,
  type Objects,
  type ProviderState,
  type ShardState,
  type TrackableState,
  type Tracked,
  touch,
} from '../state.ts';
import { isSame, settle, showAt } from './move.ts';
import { fireHeld, schedule } from './on_deadline.ts';
import { publishProviderCrossings, publishTrackableCrossings } from './publish.ts';
import { providerSeen, trackableSeen } from './seen.ts';

interface Change {
  /** Fences that cover something else. */
  readonly fences: readonly FenceState[];
  readonly relocated: Relocated;
}

/**
 * Shows fences that have changed to those of the objects that have a fix, and every fence to objects that are relocated, as
 * an observation made at this moment. Other fences do not hear of it.
 */
export function reevaluate(
  context: ShardContext,
  { fences, relocated }: Change,
  moment: Moment,
  { providers, trackables }: Objects,
): void {
  for (const provider of providers) {
    const fix = relocated.get(provider);
    if (fix !== undefined) showProviderAt(context, provider, fix, moment);
    else if (provider.fix !== undefined) showFences(context, provider, fences, moment);
  }
  for (const trackable of trackables) {
    const fix = relocated.get(trackable);
    if (fix !== undefined) showTrackableAt(context, trackable, fix, moment);
    else if (trackable.fix !== undefined) showFences(context, trackable, fences, moment);
  }
}

function showFences(
  context: ShardContext,
  object: ProviderState | TrackableState,
  fences: readonly FenceState[],
  moment: Moment,
): void {
  const { state, index } = context;
  const { nowMs, eventNowMs } = moment;
  if (fences.length === 0) return;
  if (isMember(object, fences)) fireHeld(context, object, nowMs);
  if (object.kind === 'provider') {
    const seen = providerSeen(state, object, object.fix as Fix, nowMs, eventNowMs);
    publishProviderCrossings(context, object, observeChangedFences(index, object, fences, seen));
  } else {
    const seen = trackableSeen(object, eventNowMs, nowMs);
    publishTrackableCrossings(context, object, observeChangedFences(index, object, fences, seen));
  }
  if (object.changes !== 0) touch(state, object);
  schedule(state, object);
}

function showProviderAt(context: ShardContext, provider: ProviderState, fix: Fix, moment: Moment): void {
  const { state } = context;
  const { nowMs, eventNowMs } = moment;
  fireHeld(context, provider, nowMs);
  state.fixes.put(provider, fix);
  touch(state, provider);
  const crossings = observeFences(context, provider, providerSeen(state, provider, fix, nowMs, eventNowMs));
  publishProviderCrossings(context, provider, crossings);
  schedule(state, provider);
}

/** A trackable that goes along with a zone moves; one above a floor that was raised only meets other fences. */
function showTrackableAt(context: ShardContext, trackable: TrackableState, fix: Fix, moment: Moment): void {
  const { state } = context;
  const { nowMs, eventNowMs } = moment;
  fireHeld(context, trackable, nowMs);
  const before = trackable.fix as Fix;
  if (before.lon !== fix.lon || before.lat !== fix.lat) {
    showAt(context, trackable, { fix, eventTimeMs: eventNowMs, moment });
    return;
  }
  settle(state, trackable, fix);
  touch(state, trackable);
  const crossings = observeFences(context, trackable, trackableSeen(trackable, eventNowMs, nowMs));
  publishTrackableCrossings(context, trackable, crossings);
  schedule(state, trackable);
}

/** An exit that is held since a restart is not undone by another look at its fence. */
function isMember(object: Tracked, fences: readonly FenceState[]): boolean {
  return fences.some(({ occupants }) => occupants.has(object));
}

/** Objects whose fix has changed with its zone: where they are now. */
export type Relocated = ReadonlyMap<ProviderState | TrackableState, Fix>;

/**
 * Finds where those of the objects are whose fixes belong to a zone that has changed: what was sent in its metres goes along with
 * its plane, the rest stays where it is, above a floor that may be on another height. Moves nobody yet.
 *
 * Zones that follow these objects wait for their next locations: two zones that carry one another would never rest.
 */
export function relocate(
  state: ShardState,
  { id: zoneId, zone }: { readonly id: string; readonly zone: Zone },
  { providers, trackables }: Objects,
): Relocated {
  const relocated = new Map<ProviderState | TrackableState, Fix>();
  for (const provider of providers) {
    const { fix } = provider;
    if (fix?.zone?.id === zoneId) relocated.set(provider, fixInZone(state.fixes, fix, zone));
  }
  for (const trackable of trackables) {
    const { fix } = trackable;
    if (fix?.zone?.id !== zoneId) continue;
    // A trackable has its provider's fix, or a copy of it.
    const provider = state.providers.get(fix.providerId);
    const shared = provider && relocated.get(provider);
    const isShared = shared !== undefined && isSame(shared, fix) && shared.trackables === fix.trackables;
    relocated.set(trackable, isShared ? shared : fixInZone(state.fixes, fix, zone));
  }
  return relocated;
}
