import type { Zone } from '../../model/zone.ts';
import type { Moment, ShardContext } from '../context.ts';
import { observeChangedFences, observeFences } from '../fence/observe_fences.ts';
import type { Fix } from '../location/fix.ts';
import { fixInZone } from '../location/locate.ts';
import {
  type FenceState,
  type ObjectSets,
  type ProviderState,
  type ShardState,
  type TrackableState,
  type Tracked,
  touch,
} from '../state.ts';
import { FUSED } from '../tracking/track.ts';
import { isSameLocation, settle, moveTo } from './move.ts';
import { fireSuppressed, schedule } from './on_deadline.ts';
import { loseLocation } from './on_provider.ts';
import { publishProviderCrossings, publishTrackableCrossings } from './publish.ts';
import { observeProvider, observeTrackable } from './fence_observation.ts';
import { loseMotion } from './reevaluate_trackable.ts';

interface Change {
  /** Fences whose region has changed. */
  readonly fences: readonly FenceState[];
  readonly relocated: Relocated;
}

/**
 * Observes all objects with a fix: relocated objects in every fence, others in the changed fences only. Objects that are in
 * an untracked fence now lose their location.
 */
export function reevaluate(
  context: ShardContext,
  { fences, relocated }: Change,
  moment: Moment,
  { providers, trackables }: ObjectSets,
): void {
  for (const provider of providers) {
    const fix = relocated.get(provider);
    if (isUntracked(context, fix ?? provider.fix)) loseLocation(context, provider, moment);
    else if (fix !== undefined) moveProvider(context, provider, fix, moment);
    else if (provider.fix !== undefined) observeInFences(context, provider, fences, moment);
  }
  for (const trackable of trackables) {
    const fix = relocated.get(trackable);
    if (isUntracked(context, fix ?? trackable.fix)) loseMotion(context, trackable, moment);
    else if (fix !== undefined) moveTrackableWithZone(context, trackable, fix, moment);
    else if (trackable.fix !== undefined) observeInFences(context, trackable, fences, moment);
  }
}

function isUntracked({ state }: ShardContext, fix: Fix | undefined): boolean {
  return fix !== undefined && state.untracked.coverFix(fix);
}

function observeInFences(
  context: ShardContext,
  object: ProviderState | TrackableState,
  fences: readonly FenceState[],
  moment: Moment,
): void {
  const { state, index } = context;
  const { nowMs, eventNowMs } = moment;
  if (fences.length === 0) return;
  if (isMember(object, fences)) fireSuppressed(context, object, nowMs);
  if (object.kind === 'provider') {
    const seen = observeProvider(state, object, object.fix as Fix, nowMs, eventNowMs);
    publishProviderCrossings(context, object, observeChangedFences(index, object, fences, seen));
  } else {
    const seen = observeTrackable(object, eventNowMs, nowMs);
    publishTrackableCrossings(context, object, observeChangedFences(index, object, fences, seen));
  }
  if (object.changes !== 0) touch(state, object);
  schedule(state, object);
}

function moveProvider(context: ShardContext, provider: ProviderState, fix: Fix, moment: Moment): void {
  const { state } = context;
  const { nowMs, eventNowMs } = moment;
  fireSuppressed(context, provider, nowMs);
  state.fixes.put(provider, fix);
  touch(state, provider);
  const crossings = observeFences(context, provider, observeProvider(state, provider, fix, nowMs, eventNowMs));
  publishProviderCrossings(context, provider, crossings);
  schedule(state, provider);
}

/**
 * Moves a trackable with its zone. If only the height of the zone's floor has changed, the trackable is just observed
 * in its fences.
 */
function moveTrackableWithZone(context: ShardContext, trackable: TrackableState, fix: Fix, moment: Moment): void {
  const { state } = context;
  const { nowMs, eventNowMs } = moment;
  fireSuppressed(context, trackable, nowMs);
  const before = trackable.fix as Fix;
  if (before.lon !== fix.lon || before.lat !== fix.lat) {
    moveTo(context, trackable, { fix, eventTimeMs: eventNowMs, moment });
    return;
  }
  settle(state, trackable, fix);
  touch(state, trackable);
  const crossings = observeFences(context, trackable, observeTrackable(trackable, eventNowMs, nowMs));
  publishTrackableCrossings(context, trackable, crossings);
  schedule(state, trackable);
}

/**
 * Whether the object is a member of one of the fences. An exit suppressed since a restart must fire before the fence is
 * observed again.
 */
function isMember(object: Tracked, fences: readonly FenceState[]): boolean {
  return fences.some(({ occupants }) => occupants.has(object));
}

/** New fixes of the objects that moved with their zone. */
export type Relocated = ReadonlyMap<ProviderState | TrackableState, Fix>;

/**
 * Computes the new fixes of objects whose zone has changed: positions in meters of the zone move with its plane; others
 * stay, but the height of the floor below may have changed. Moves no object yet.
 *
 * Zones that follow these objects move with the next location: otherwise two zones that follow each other's objects
 * would move forever.
 */
export function relocate(
  state: ShardState,
  { id: zoneId, zone }: { readonly id: string; readonly zone: Zone },
  { providers, trackables }: ObjectSets,
): Relocated {
  const relocated = new Map<ProviderState | TrackableState, Fix>();
  for (const provider of providers) {
    const { fix } = provider;
    if (isIn(state, fix, zoneId)) relocated.set(provider, fixInZone(state.fixes, fix, zone));
  }
  for (const trackable of trackables) {
    const { fix } = trackable;
    if (!isIn(state, fix, zoneId)) continue;
    // A trackable has its provider's fix or a copy of it, which has a track of its own if it is fused.
    const provider = state.providers.get(fix.providerId);
    const shared = provider && relocated.get(provider);
    const isAlike = shared !== undefined && shared.trackables === fix.trackables && !fix.hasTrackFlag(FUSED);
    const isShared = isAlike && isSameLocation(shared, fix);
    relocated.set(trackable, isShared ? shared : fixInZone(state.fixes, fix, zone));
  }
  return relocated;
}

/**
 * Whether a fix is in a zone. A fix that was restored while its zone did not exist is in the zone that its source names.
 */
function isIn({ zones }: ShardState, fix: Fix | undefined, zoneId: string): fix is Fix {
  if (fix?.zone !== undefined) return fix.zone.id === zoneId;
  return fix?.isLocal === true && zones.find(fix.source)?.id === zoneId;
}
