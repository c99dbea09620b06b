import { parseLossless } from '../../model/lossless_numbers.ts';
import type { Location } from '../../model/location.ts';
import type { ShardContext } from '../context.ts';
import { restored, resumed, timersOf } from '../fence/membership.ts';
import { timingIn } from '../fence/observe_fences.ts';
import { type OwnTiming, UNSET } from '../fence/timing.ts';
import type { Item, LastKnownRow } from '../item.ts';
import { UTF8_MAX } from '../json_bytes.ts';
import { type AcceptedLocation, accept, acceptAs } from '../location/accepted.ts';
import { locationBytesMax, writeKept } from '../location/event_bytes.ts';
import type { Fix } from '../location/fix.ts';
import { fixInZone } from '../location/locate.ts';
import { received } from '../location/received.ts';
import { keptText, membersIn } from '../location/text.ts';
import type { RowWriter } from '../row_bytes.ts';
import { type ProviderState, providerState, type ShardState, type TrackableState } from '../state.ts';
import { type Around, aroundOf } from './around.ts';
import { reportStanding, settle } from './move.ts';
import { forgetRow } from './observe_anew.ts';
import { schedule } from './on_deadline.ts';
import { providerTiming, trackableTiming } from './seen.ts';
import { fixesOf } from './significant_fix.ts';

/**
 * What survives a restart of an object: its last fix and the fences that it is in. Tolerance, delay and entry timers
 * do not: a member comes back as inside, with the fence timeout counting from the time of receipt of its last location.
 * In a worker that replaces a dead one they continue.
 * A trackable whose provider was removed comes back where it was. If the hub is set to let such trackables leave, and
 * stopped just before, it comes back as a member that leaves: it has no fix.
 */

/**
 * Writes rows of the objects whose memberships have changed, and of those that are gone. They are kept before their events
 * are published, so that a restart repeats no entry.
 */
export function writeUrgentRows(state: ShardState, rows: RowWriter): void {
  for (const [kind, id] of state.gone.values()) rows.gone(kind, id);
  state.gone.clear();
  for (const object of state.urgent) {
    state.dirty.delete(object);
    const { kind, id, fix } = object;
    if (fix === undefined) rows.gone(kind, id);
    else writeRow(rows, object, fix);
  }
  state.urgent.clear();
}

/** Writes rows of other objects that have changed since their last row: those that have waited longest, `max` at most. */
export function writeBackgroundRows(state: ShardState, rows: RowWriter, max: number): void {
  let left = max;
  for (const object of state.dirty) {
    if (left-- <= 0) break;
    state.dirty.delete(object);
    if (object.fix !== undefined) writeRow(rows, object, object.fix);
  }
}

/** Writes the row of an object that is there. */
// hot
export function writeRow(rows: RowWriter, object: ProviderState | TrackableState, fix: Fix): void {
  const members = membersOf(object, fix);
  const timing = ownsTiming(object, fix) ? `,"timing":${JSON.stringify(fix.timing)}}` : '';
  let at = rows.begin(
    { kind: object.kind, id: object.id, receivedMs: fix.receivedMs, eventTimeMs: fix.eventTimeMs },
    UTF8_MAX * (members.length + timing.length) + locationBytesMax(fix),
  );
  if (members !== '') at += rows.bytes.write(members, at);
  rows.endMembers(at);
  at = writeKept(rows, at, fix);
  // In the place of the closing brace.
  if (timing !== '') at += rows.bytes.write(timing, at - 1) - 1;
  rows.end(at);
}

/**
 * Whether the row says what the provider of the fix sets: that provider is not assigned to the trackable, and may belong to
 * another shard.
 */
// hot
function ownsTiming(object: ProviderState | TrackableState, { timing, providerId }: Fix): boolean {
  if (timing === UNSET || object.kind === 'provider') return false;
  return object.entity.location_providers?.includes(providerId) !== true;
}

/** The memberships as JSON (KeptMembership); an empty text if there are none. */
function membersOf({ members }: ProviderState | TrackableState, { receivedMs }: Fix): string {
  let text = '';
  for (const { fence, membership, seenMs } of members) {
    const entryMs = membership.at === 'inside' ? membership.entryMs : null;
    const timers = timersOf(membership, seenMs, receivedMs);
    const more = timers === undefined ? '' : `,${JSON.stringify(timers)}`;
    text += `${text === '' ? '[' : ','}[${JSON.stringify(fence.id)},${entryMs}${more}]`;
  }
  return text === '' ? '' : `${text}]`;
}

/** The rows of objects are wanted anew, in the background. */
export function onKeep({ state, draft }: ShardContext, item: Item & { kind: 'keep' }): void {
  for (const id of item.providers) markDirty(state, state.providers.get(id));
  for (const id of item.trackables) markDirty(state, state.trackables.get(id));
  draft.answers.push([item.id, { ids: [] }]);
}

function markDirty(state: ShardState, object: ProviderState | TrackableState | undefined): void {
  if (object?.fix !== undefined) state.dirty.add(object);
}

/**
 * Takes over rows from the store. Rows of trackables that are no longer configured are left out; a provider may have said
 * where it is before it is configured.
 */
export function onRestore(context: ShardContext, item: Item & { kind: 'restore' }): void {
  restoreRows(context, { ...item, around: aroundOf(context.state) });
}

/** Rows, and how to read them. */
export interface Restored extends Pick<Item & { kind: 'restore' }, 'seq' | 'receivedMs' | 'rows' | 'suppressUntilMs'> {
  readonly withTimers?: boolean;
  readonly around: Around;
}

/** Takes over rows, whatever fences and zones they are about. */
export function restoreRows(context: ShardContext, item: Restored): void {
  const { state } = context;
  for (const row of item.rows) {
    if (row.gone === true) continue;
    const object = row.kind === 'provider' ? providerState(state, row.id) : state.trackables.get(row.id);
    // What an object has said since is newer.
    if (object !== undefined && object.fix === undefined) revive(context, object, row, item);
  }
}

function revive(
  context: ShardContext,
  object: ProviderState | TrackableState,
  row: LastKnownRow & { gone?: false },
  { seq, suppressUntilMs, receivedMs, withTimers, around }: Restored,
): void {
  const { state } = context;
  const fix = fixOfProvider(state, object, row) ?? fixOf(context, object, row, around);
  const isTakenOff = leavesAtOnce(context, object, fix, withTimers);
  if (object.kind === 'provider') state.fixes.put(object, fix);
  else if (!isTakenOff) {
    settle(state, object, fix);
    // The collision stage may know it from before this worker: its end must reach it.
    object.colliding = true;
    reportStanding(context, object, seq);
  }
  object.suppressUntilMs = suppressUntilMs;
  const timing = object.kind === 'provider' ? providerTiming(state, object) : trackableTiming(object);
  for (const [fenceId, entryMs, timers] of row.memberships) {
    const fence = around.fence(fenceId);
    if (fence === undefined) continue;
    const applied = timingIn(fence, timing);
    if (withTimers === true && timers !== undefined) {
      object.members.push({ fence, membership: resumed(entryMs, timers, applied), seenMs: timers.seen });
    } else if (entryMs !== null) {
      const timeoutAtMs = isTakenOff ? receivedMs : row.receivedMs + applied.fenceTimeoutMs;
      object.members.push({ fence, membership: restored(entryMs, timeoutAtMs), seenMs: row.receivedMs });
    } else continue;
    fence.occupants.add(object);
  }
  schedule(state, object);
  if (isTakenOff && object.members.length === 0) forgetRow(context, object);
}

/**
 * Whether the object is a trackable that leaves because the provider that moved it was removed. If steps follow, one of
 * them says so.
 */
function leavesAtOnce(
  { options }: ShardContext,
  object: ProviderState | TrackableState,
  { providerId, trackables }: Fix,
  withTimers = false,
): boolean {
  if (options.detachedStay || withTimers || object.kind === 'provider') return false;
  return trackables.includes(object.id) && object.entity.location_providers?.includes(providerId) !== true;
}

type KeptLocation = Location & {
  readonly provider_id: string;
  readonly source: string;
  readonly crs: string;
  /** Metres in its zone. */
  readonly local?: readonly [x: number, y: number];
  /** What its provider sets, see ownsTiming. */
  readonly timing?: Partial<OwnTiming>;
};

/** The location of a row, whose text says what it says already. */
function acceptKept(value: KeptLocation, { location, eventTimeMs }: LastKnownRow & { gone?: false }): AcceptedLocation {
  const { provider_id: providerId, source, crs } = value;
  const filledIn = { providerId, source, crs, generatedMs: eventTimeMs };
  const members = membersIn(location, value);
  return members === undefined ? accept(value, filledIn) : acceptAs(value, filledIn, members);
}

/** The fix of the provider that has moved a trackable, where its row says the same. */
function fixOfProvider(
  state: ShardState,
  object: ProviderState | TrackableState,
  row: LastKnownRow & { gone?: false },
): Fix | undefined {
  if (object.kind === 'provider') return undefined;
  return fixesOf(state, object.entity).find((fix) => {
    return fix.eventTimeMs === row.eventTimeMs && fix.receivedMs === row.receivedMs && keptText(fix) === row.location;
  });
}

function fixOf(
  { state, options }: ShardContext,
  object: ProviderState | TrackableState,
  row: LastKnownRow & { gone?: false },
  around: Around,
): Fix {
  const { local, timing, ...value } = parseLossless(row.location) as KeptLocation;
  const { provider_id: providerId, source, trackables, speed, course } = value;
  const [lon, lat, ...height] = value.position.coordinates as [number, number];
  const { receivedMs, eventTimeMs } = row;
  const accepted = acceptKept(value, row);
  const sent = local === undefined ? accepted : { ...accepted, coordinates: [...local, ...height] };
  const zone = around.zone(source);
  const fix = state.fixes.take(
    received(sent, { seq: 0, receivedMs, generatedMs: eventTimeMs }, options.newBuffer),
    { lon, lat, floor: value.floor ?? 0, eventTimeMs, speed: speed ?? undefined, course: course ?? undefined },
    {
      providerId,
      source,
      zone,
      timing: timing === undefined ? timingOfProvider(state, object, providerId) : { ...UNSET, ...timing },
      trackables: trackables ?? [],
      isLocal: local !== undefined,
    },
  );
  // The zone may have moved just before the end.
  return local === undefined || zone === undefined ? fix : fixInZone(state.fixes, fix, zone);
}

/** What the provider of a fix sets. It does not time a trackable that it was removed from. */
function timingOfProvider(state: ShardState, object: ProviderState | TrackableState, providerId: string): OwnTiming {
  const provider = state.providers.get(providerId);
  if (provider === undefined) return UNSET;
  if (object.kind === 'provider') return provider.timing;
  const { location_providers: providers, parent } = object.entity;
  return parent != null || providers?.includes(providerId) === true ? provider.timing : UNSET;
}
