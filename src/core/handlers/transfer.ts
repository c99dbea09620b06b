import type { LocationProvider } from '../../model/provider.ts';
import type { Trackable } from '../../model/trackable.ts';
import { unlink } from '../assignments.ts';
import type { ShardContext } from '../context.ts';
import type { FenceMembership } from '../fence/membership.ts';
import { type OwnTiming, timingOfObject } from '../fence/timing.ts';
import type { Item, ObjectIds } from '../item.ts';
import type { Fix, FixContext } from '../location/fix.ts';
import type { ProximityState } from '../location/proximity_arbitration.ts';
import {
  CHANGED_MEMBERS,
  CHANGED_SHARD,
  type ProviderState,
  providerState,
  type ShardState,
  type TrackableState,
  touch,
} from '../state.ts';
import { noteFilter } from './filter_location.ts';
import { writeRow } from './last_known.ts';
import { settle } from './move.ts';
import { schedule } from './on_deadline.ts';
import { setTrackable } from './on_trackable.ts';
import { writeState } from './release.ts';
import { inheritedTimings, retimeChanged } from './retime.ts';
import { soleTrackableTiming } from './fence_observation.ts';

/**
 * State transfer of objects between shards when their assignment changes. The complete state moves, with running
 * timers, so events do not reveal the transfer.
 */

type TransferredFix = FixContext & { readonly bytes: Uint8Array };

interface TransferredObject {
  readonly id: string;
  readonly fix: TransferredFix | undefined;
  readonly members: readonly (readonly [fenceId: string, membership: FenceMembership, seenMs: number])[];
  readonly suppressUntilMs: number;
}

interface TransferredProvider extends TransferredObject {
  readonly entity: LocationProvider | undefined;
  /** Timing that the provider inherits from its only trackable. */
  readonly chain: OwnTiming;
  readonly proximity: ProximityState | undefined;
}

interface TransferredTrackable extends TransferredObject {
  readonly entity: Trackable;
  readonly colliding: boolean;
}

/**
 * Exports the state of objects and removes them, without events. The effects of the step contain their state as exported, and
 * then that they are in another shard: a successor of the hub that has no step of the other shard continues from that state,
 * which the step may have changed, or adopted from another hub.
 */
export function onExportState(context: ShardContext, item: Item & { kind: 'exportState' }): void {
  const { state } = context;
  writeExported(context, item);
  const providers: TransferredProvider[] = [];
  const trackables: TransferredTrackable[] = [];
  for (const id of item.providers) {
    const provider = state.providers.get(id);
    if (provider === undefined) continue;
    const chain = soleTrackableTiming(state, id);
    providers.push({ ...packed(provider), entity: provider.entity, chain, proximity: provider.proximity });
    removeObject(context, provider);
    state.providers.delete(id);
  }
  const staying = item.trackables.flatMap((id) => state.trackables.get(id)?.entity.location_providers ?? []);
  const chains = inheritedTimings(state, staying);
  for (const id of item.trackables) {
    const trackable = state.trackables.get(id);
    if (trackable === undefined) continue;
    const { entity, colliding } = trackable;
    trackables.push({ ...packed(trackable), entity, colliding });
    removeObject(context, trackable);
    unlink(state, trackable);
    state.trackables.delete(id);
  }
  retimeChanged(context, chains, item.receivedMs);
  context.draft.answers.push([item.id, { providers, trackables }]);
}

/** Writes the state of exported objects as effects. All are written before the first is removed: they share positions. */
function writeExported({ state, effects }: ShardContext, { providers, trackables }: ObjectIds): void {
  const positions = new Map<Fix, number>();
  const leaving = [
    ...providers.flatMap((id) => state.providers.get(id) ?? []),
    ...trackables.flatMap((id) => state.trackables.get(id) ?? []),
  ];
  for (const object of leaving) if (hasState(object)) writeState(state, object, { effects, positions });
}

/** Whether steps of this shard may contain a position of an object, or its deletion, that it has not released since. */
function hasState({ fix, hasHadFix }: ProviderState | TrackableState): boolean {
  return fix !== undefined || hasHadFix;
}

/**
 * Imports the state of objects from another shard. Their rows are urgent for two reasons. If this shard's worker dies,
 * the rows must not be older than the imported state. And events of the objects wait for their rows, so they follow the
 * events of the old shard.
 */
export function onImportState(context: ShardContext, item: Item & { kind: 'importState' }): void {
  const { state } = context;
  const chains = new Map<ProviderState, OwnTiming>();
  for (const packedProvider of item.state.providers as readonly TransferredProvider[]) {
    const provider = providerState(state, packedProvider.id);
    provider.entity ??= packedProvider.entity;
    provider.timing = timingOfObject(provider.entity);
    if (provider.entity !== undefined) noteFilter(state, provider.entity);
    state.fixes.put(provider, unpackFix(state, packedProvider.fix));
    provider.proximity = packedProvider.proximity;
    unpackInto(state, provider, packedProvider);
    chains.set(provider, packedProvider.chain);
  }
  for (const packedTrackable of item.state.trackables as readonly TransferredTrackable[]) {
    // The entity may already be here, in a newer version.
    const trackable = state.trackables.get(packedTrackable.id) ?? setTrackable(state, packedTrackable.entity);
    const fix = unpackFix(state, packedTrackable.fix);
    if (fix !== undefined) settle(state, trackable, fix);
    trackable.colliding = packedTrackable.colliding;
    unpackInto(state, trackable, packedTrackable);
  }
  retimeChanged(context, chains, item.receivedMs);
}

function packed(object: ProviderState | TrackableState): TransferredObject {
  const { id, fix, members, suppressUntilMs } = object;
  return {
    id,
    fix: fix && packedFix(fix),
    members: members.map(({ fence, membership, seenMs }) => [fence.id, membership, seenMs] as const),
    suppressUntilMs,
  };
}

function packedFix(fix: Fix): TransferredFix {
  const { providerId, source, zone, timing, trackables, isLocal } = fix;
  // The memory of the fix may be reused before the message is serialized.
  return { providerId, source, zone, timing, trackables, isLocal, bytes: Uint8Array.from(fix.bytes) };
}

/** Removes an object. If its events wait for its row, this shard writes the row, because it publishes those events. */
function removeObject({ state, rows }: ShardContext, object: ProviderState | TrackableState): void {
  if (state.urgent.has(object) && object.fix !== undefined) writeRow(rows, object, object.fix);
  for (const { fence } of object.members) fence.occupants.delete(object);
  if (hasState(object)) {
    touch(state, object);
    object.changes |= CHANGED_SHARD;
  }
  state.fixes.put(object, undefined);
  state.deadlines.remove(object);
  state.dirty.delete(object);
  state.urgent.delete(object);
}

function unpackInto(state: ShardState, object: ProviderState | TrackableState, from: TransferredObject): void {
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

/** Returns the fix with this shard's zone, or with the transferred zone if this shard has deleted it. */
function unpackFix({ zones, fixes }: ShardState, from: TransferredFix | undefined): Fix | undefined {
  const zone = from?.zone && (zones.find(from.zone.id) ?? from.zone);
  return from && fixes.takeOver(from.bytes, { ...from, zone });
}
