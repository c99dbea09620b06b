import type { LocationProvider } from '../../model/provider.ts';
import type { Trackable } from '../../model/trackable.ts';
import { unlink } from '../assignments.ts';
import type { ShardContext } from '../context.ts';
import type { Membership } from '../fence/membership.ts';
import { type OwnTiming, timingOfObject } from '../fence/timing.ts';
import type { Item } from '../item.ts';
import type { Fix, FixContext } from '../location/fix.ts';
import {
  CHANGED_MEMBERS,
  CHANGED_SHARD,
  type ProviderState,
  providerState,
  type ShardState,
  type TrackableState,
  touch,
} from '../state.ts';
import { writeRow } from './last_known.ts';
import { settle } from './move.ts';
import { schedule } from './on_deadline.ts';
import { setTrackable } from './on_trackable.ts';
import { chainsOf, retimeChanged } from './retime.ts';
import { soleTrackableTiming } from './seen.ts';

/**
 * Objects move from shard to shard when their assignment changes. Their state goes along whole, with all timers
 * running, so nobody can tell from the events that they have moved.
 */

type FixOnTheWay = FixContext & { readonly bytes: Uint8Array };

interface ObjectOnTheWay {
  readonly id: string;
  readonly fix: FixOnTheWay | undefined;
  readonly members: readonly (readonly [fenceId: string, membership: Membership, seenMs: number])[];
  readonly suppressUntilMs: number;
}

interface ProviderOnTheWay extends ObjectOnTheWay {
  readonly entity: LocationProvider | undefined;
  /** What its trackable has it timed by. */
  readonly chain: OwnTiming;
}

interface TrackableOnTheWay extends ObjectOnTheWay {
  readonly entity: Trackable;
  readonly colliding: boolean;
}

/** Hands out the state of objects and forgets them, without events. */
export function onExportState(context: ShardContext, item: Item & { kind: 'exportState' }): void {
  const { state } = context;
  const providers: ProviderOnTheWay[] = [];
  const trackables: TrackableOnTheWay[] = [];
  for (const id of item.providers) {
    const provider = state.providers.get(id);
    if (provider === undefined) continue;
    const chain = soleTrackableTiming(state, id);
    providers.push({ ...packed(provider), entity: provider.entity, chain });
    forget(context, provider);
    state.providers.delete(id);
  }
  const staying = item.trackables.flatMap((id) => state.trackables.get(id)?.entity.location_providers ?? []);
  const chains = chainsOf(state, staying);
  for (const id of item.trackables) {
    const trackable = state.trackables.get(id);
    if (trackable === undefined) continue;
    const { entity, colliding } = trackable;
    trackables.push({ ...packed(trackable), entity, colliding });
    forget(context, trackable);
    unlink(state, trackable);
    state.trackables.delete(id);
  }
  retimeChanged(context, chains, item.receivedMs);
  context.draft.answers.push([item.id, { providers, trackables }]);
}

/**
 * Takes in the state of objects from another shard. Their rows are wanted at once: should this shard's worker die, they
 * must not be older than what has come along; and what is told of the objects here, once the rows are kept, then comes
 * after what was told of them there.
 */
export function onImportState(context: ShardContext, item: Item & { kind: 'importState' }): void {
  const { state } = context;
  const chains = new Map<ProviderState, OwnTiming>();
  for (const packedProvider of item.state.providers as readonly ProviderOnTheWay[]) {
    const provider = providerState(state, packedProvider.id);
    provider.entity ??= packedProvider.entity;
    provider.timing = timingOfObject(provider.entity);
    state.fixes.put(provider, unpackFix(state, packedProvider.fix));
    unpackInto(state, provider, packedProvider);
    chains.set(provider, packedProvider.chain);
  }
  for (const packedTrackable of item.state.trackables as readonly TrackableOnTheWay[]) {
    // Its entity may be here already, in a newer version.
    const trackable = state.trackables.get(packedTrackable.id) ?? setTrackable(state, packedTrackable.entity);
    const fix = unpackFix(state, packedTrackable.fix);
    if (fix !== undefined) settle(state, trackable, fix);
    trackable.colliding = packedTrackable.colliding;
    unpackInto(state, trackable, packedTrackable);
  }
  retimeChanged(context, chains, item.receivedMs);
}

function packed(object: ProviderState | TrackableState): ObjectOnTheWay {
  const { id, fix, members, suppressUntilMs } = object;
  return {
    id,
    fix: fix && packedFix(fix),
    members: members.map(({ fence, membership, seenMs }) => [fence.id, membership, seenMs] as const),
    suppressUntilMs,
  };
}

function packedFix(fix: Fix): FixOnTheWay {
  const { providerId, source, zone, timing, trackables, isLocal } = fix;
  // The memory of the fix may be used again before this is packed.
  return { providerId, source, zone, timing, trackables, isLocal, bytes: Uint8Array.from(fix.bytes) };
}

/** What must be kept before its events are published is kept by this shard, which publishes them. */
function forget({ state, rows }: ShardContext, object: ProviderState | TrackableState): void {
  if (state.urgent.has(object) && object.fix !== undefined) writeRow(rows, object, object.fix);
  for (const { fence } of object.members) fence.occupants.delete(object);
  state.fixes.put(object, undefined);
  state.deadlines.remove(object);
  touch(state, object);
  object.changes |= CHANGED_SHARD;
  state.dirty.delete(object);
  state.urgent.delete(object);
}

function unpackInto(state: ShardState, object: ProviderState | TrackableState, from: ObjectOnTheWay): void {
  object.suppressUntilMs = from.suppressUntilMs;
  for (const [fenceId, membership, seenMs] of from.members) {
    const fence = state.fences.get(fenceId);
    if (fence === undefined) continue;
    object.members.push({ fence, membership, seenMs });
    fence.occupants.add(object);
  }
  object.changes |= CHANGED_MEMBERS;
  touch(state, object);
  state.urgent.add(object);
  schedule(state, object);
}

/** The zone is this shard's own, unless it is gone. */
function unpackFix({ zones, fixes }: ShardState, from: FixOnTheWay | undefined): Fix | undefined {
  const zone = from?.zone && (zones.find(from.zone.id) ?? from.zone);
  return from && fixes.takeOver(from.bytes, { ...from, zone });
}
