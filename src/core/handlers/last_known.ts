import { parseLossless } from '../../model/lossless_numbers.ts';
import type { Location } from '../../model/location.ts';
import type { ShardContext } from '../context.ts';
import { restored, resumed, timersOf } from '../fence/membership.ts';
import { timingIn } from '../fence/observe_fences.ts';
import { type OwnTiming, UNSET } from '../fence/timing.ts';
import type { Item } from '../item.ts';
import { UTF8_MAX } from '../json_bytes.ts';
import { type AcceptedLocation, accept, acceptAs } from '../location/accepted.ts';
import { locationBytesMax, writeStored } from '../location/event_bytes.ts';
import type { Fix } from '../location/fix.ts';
import { fixInZone } from '../location/locate.ts';
import { received } from '../location/received.ts';
import type { NewRecordBuffer, RecordBuffer } from '../location/record.ts';
import { storedJson, membersIn } from '../location/location_json.ts';
import type { RowWriter } from '../row_bytes.ts';
import { trackIn } from '../tracking/track_text.ts';
import { type Row, rowUntil } from '../row_times.ts';
import { type ProviderState, providerState, type ShardState, type TrackableState } from '../state.ts';
import { type EntityLookup, currentEntities } from './entity_lookup.ts';
import { reportPosition, settle } from './move.ts';
import { forgetRow } from './reevaluate_trackable.ts';
import { schedule } from './on_deadline.ts';
import { providerTiming, trackableTiming } from './fence_observation.ts';
import { fixesOf } from './significant_fix.ts';

/**
 * Stored state of an object that survives a restart: its last fix and its fence memberships. Tolerance, delay and entry
 * timers do not survive: a member is restored as inside, with the fence timeout counting from the time of receipt of
 * its last location. In a worker that replaces a failed one, timers continue. A trackable whose provider was removed is
 * restored at its last position. If the hub is configured to let such trackables leave, and stopped before this one had
 * left, it is restored without a fix, as a member that leaves.
 */

/** Memory for the record of a location, which grows for larger ones. */
const RECORD_BYTES = 1024;

/**
 * Writes the rows of objects whose memberships have changed, and tombstones of removed objects. They are stored before
 * the events are published, so that a restart repeats no entry.
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

/** Writes at most `max` rows of other objects that have changed since their last row, those waiting longest first. */
export function writeBackgroundRows(state: ShardState, rows: RowWriter, max: number): void {
  let left = max;
  for (const object of state.dirty) {
    if (left-- <= 0) break;
    state.dirty.delete(object);
    if (object.fix !== undefined) writeRow(rows, object, object.fix);
  }
}

/** Writes the row of an object with a fix. */
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
  at = writeStored(rows, at, fix);
  // Overwrites the closing brace.
  if (timing !== '') at += rows.bytes.write(timing, at - 1) - 1;
  rows.end(at);
}

/**
 * Whether the row contains the timing of the fix's provider. It does if the provider is not assigned to the trackable,
 * because it may then belong to another shard.
 */
// hot
function ownsTiming(object: ProviderState | TrackableState, { timing, providerId }: Fix): boolean {
  if (timing === UNSET || object.kind === 'provider') return false;
  return object.entity.location_providers?.includes(providerId) !== true;
}

/** Returns the memberships as JSON (StoredMembership); empty without any. */
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

/** Marks objects so that their rows are written again, in the background. */
export function onRewriteRows({ state, draft }: ShardContext, item: Item & { kind: 'keep' }): void {
  for (const id of item.providers) markDirty(state, state.providers.get(id));
  for (const id of item.trackables) markDirty(state, state.trackables.get(id));
  draft.answers.push([item.id, { ids: [] }]);
}

function markDirty(state: ShardState, object: ProviderState | TrackableState | undefined): void {
  if (object?.fix !== undefined) state.dirty.add(object);
}

/**
 * Restores rows from the store. Rows of trackables that are no longer configured are skipped; a provider may send
 * locations before it is configured.
 */
export function onRestore(context: ShardContext, item: Item & { kind: 'restore' }): void {
  restoreRows(context, { ...item, entities: currentEntities(context.state) });
}

/** Rows to restore, with the time and entities to apply. */
export interface RowsToRestore
  extends Pick<Item & { kind: 'restore' }, 'seq' | 'receivedMs' | 'rows' | 'suppressUntilMs'> {
  readonly withTimers?: boolean;
  readonly entities: EntityLookup;
}

interface Restoring extends RowsToRestore {
  /** Returns memory for a record that is valid until the next call. */
  readonly newBuffer: NewRecordBuffer;
}

/** Restores rows that refer to the given fences and zones. */
export function restoreRows(context: ShardContext, item: RowsToRestore): void {
  const { state, options } = context;
  let record = options.newBuffer(RECORD_BYTES);
  const newBuffer = (bytes: number): RecordBuffer => {
    if (record.bytes.length < bytes) record = options.newBuffer(bytes);
    return record;
  };
  const restoring: Restoring = { ...item, newBuffer };
  for (const stored of item.rows) {
    if (stored.gone === true || stored.kind === 'collision') continue;
    // Times in the future were recorded while the clock was ahead. The rows of a running hub have none.
    const row = item.withTimers === true ? stored : rowUntil(stored, item.receivedMs);
    const object = row.kind === 'provider' ? providerState(state, row.id) : state.trackables.get(row.id);
    // A location received after the row was read is newer.
    if (object !== undefined && object.fix === undefined) revive(context, object, row, restoring);
  }
}

function revive(context: ShardContext, object: ProviderState | TrackableState, row: Row, restoring: Restoring): void {
  const { state } = context;
  const { seq, suppressUntilMs, receivedMs, withTimers, entities } = restoring;
  const fix = fixOfProvider(state, object, row) ?? fixOf(state, object, row, restoring);
  // The fence may have been imported while the hub was stopped.
  if (state.untracked.coverFix(fix)) {
    forgetRow(context, object);
    return;
  }
  const isLeaving = leavesAtOnce(context, object, fix, withTimers);
  if (object.kind === 'provider') state.fixes.put(object, fix);
  else if (!isLeaving) {
    settle(state, object, fix);
    // The collision stage may still have the trackable from the previous worker, so its removal must be reported.
    object.colliding = true;
    reportPosition(context, object, seq);
  }
  object.suppressUntilMs = suppressUntilMs;
  const timing = object.kind === 'provider' ? providerTiming(state, object) : trackableTiming(object);
  for (const [fenceId, entryMs, timers] of row.memberships) {
    const fence = entities.fence(fenceId);
    if (fence === undefined) continue;
    const applied = timingIn(fence, timing);
    if (withTimers === true && timers !== undefined) {
      object.members.push({ fence, membership: resumed(entryMs, timers, applied), seenMs: timers.seen });
    } else if (entryMs !== null) {
      const timeoutAtMs = isLeaving ? receivedMs : row.receivedMs + applied.fenceTimeoutMs;
      object.members.push({ fence, membership: restored(entryMs, timeoutAtMs), seenMs: row.receivedMs });
    } else continue;
    fence.occupants.add(object);
  }
  schedule(state, object);
  if (isLeaving && object.members.length === 0) forgetRow(context, object);
}

/**
 * Whether the object is a trackable that leaves because the provider that moved it was removed. If steps are replayed
 * after the rows, one of them contains the removal.
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

type StoredLocation = Location & {
  readonly provider_id: string;
  readonly source: string;
  readonly crs: string;
  /** Position in meters of the location's zone. */
  readonly local?: readonly [x: number, y: number];
  /** State of the filter, see track_text.ts. */
  readonly track?: string;
  /** Timing of the provider, see ownsTiming. */
  readonly timing?: Partial<OwnTiming>;
};

/** Accepts the location of a row; reuses the JSON of the row where possible. */
function acceptStored(value: StoredLocation, { location, eventTimeMs }: Row): AcceptedLocation {
  const { provider_id: providerId, source, crs } = value;
  const filledIn = { providerId, source, crs, generatedMs: eventTimeMs };
  const members = membersIn(location, value);
  return members === undefined ? accept(value, filledIn) : acceptAs(value, filledIn, members);
}

/** Returns the fix of the provider that moved the trackable, if its row has the same location. */
function fixOfProvider(state: ShardState, object: ProviderState | TrackableState, row: Row): Fix | undefined {
  if (object.kind === 'provider') return undefined;
  return fixesOf(state, object.entity).find((fix) => {
    return fix.eventTimeMs === row.eventTimeMs && fix.receivedMs === row.receivedMs && storedJson(fix) === row.location;
  });
}

function fixOf(
  state: ShardState,
  object: ProviderState | TrackableState,
  row: Row,
  { entities, newBuffer }: Restoring,
): Fix {
  const { local, timing, track, ...value } = parseLossless(row.location) as StoredLocation;
  const { provider_id: providerId, source, trackables, speed, course } = value;
  const [lon, lat, ...height] = value.position.coordinates as [number, number];
  const { receivedMs, eventTimeMs } = row;
  const accepted = acceptStored(value, row);
  // Without its text, the position is written as the zone places it, also after the zone has moved.
  const sent = local === undefined ? accepted : { ...accepted, positionText: '', coordinates: [...local, ...height] };
  const zone = entities.zone(source);
  const fix = state.fixes.take(
    received(sent, { seq: 0, receivedMs, generatedMs: eventTimeMs }, newBuffer),
    { lon, lat, floor: value.floor ?? 0, eventTimeMs, speed: speed ?? undefined, course: course ?? undefined },
    {
      providerId,
      source,
      zone,
      timing: timing === undefined ? timingOfProvider(state, object, providerId) : { ...UNSET, ...timing },
      trackables: trackables ?? [],
      isLocal: local !== undefined,
    },
    track === undefined ? undefined : trackIn(track),
  );
  // The zone may have moved after the row was written.
  return local === undefined || zone === undefined ? fix : fixInZone(state.fixes, fix, zone);
}

/** Returns the timing of a fix's provider; UNSET for a trackable from which the provider was removed. */
function timingOfProvider(state: ShardState, object: ProviderState | TrackableState, providerId: string): OwnTiming {
  const provider = state.providers.get(providerId);
  if (provider === undefined) return UNSET;
  if (object.kind === 'provider') return provider.timing;
  const { location_providers: providers, parent } = object.entity;
  return parent != null || providers?.includes(providerId) === true ? provider.timing : UNSET;
}
