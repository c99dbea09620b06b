import { type Borrowed, lend } from '../model/borrowed.ts';
import type { Zone } from '../model/zone.ts';
import type { Membership } from './fence/membership.ts';
import { type OwnTiming, UNSET } from './fence/timing.ts';
import { GrowingBuffer } from './growing_buffer.ts';
import { UTF8_MAX } from './json_bytes.ts';
import { DERIVED_BYTES, type Fix, type FixContext } from './location/fix.ts';
import { type RecordBuffer, recordIdIn, type TextBytes } from './location/record.ts';
import type { Member, ProviderState, TrackableState } from './state.ts';

/**
 * What a step has changed of the objects of its shard, as bytes: who has the entities and the effects of all steps has
 * the state, without deciding anything anew (handlers/replay.ts).
 *
 * An effect says where an object is and which fences it is in. All of it is absolute, none of it a difference: to apply
 * one twice, or an older one before all newer ones once more, changes nothing. Memberships are left out where an
 * observation has only put off their silence: that follows from when it was made.
 *
 * An effect, little-endian:
 *
 *     0  u32 bytes of the effect      4  u8 kind, as its index in KINDS      5  u8 flags
 *     8  f64 seenMs, of the last observation          16  f64 until when its deadlines are held
 *    24  u32 bytes of the id         28  u32 bytes of the place, or where the effect is whose place it shares
 *    32  the id in UTF-8, the place, the memberships
 *
 * A place:
 *
 *     0  u32 bytes of the place       4  u32 bytes of the source      8  u32 bytes of the zone's name     12  u32 flags
 *    16  u32 trackables              20  seven f64 where it is timed, NaN for unset
 *        source, zone, trackables (u32 bytes and UTF-8 each), what was derived and the record: see Fix
 *
 * Memberships are a u32 count, and for each:
 *
 *     0  u32 bytes of the fence's id  4  u8 area, as its index in AREAS
 *     5  f64 seenMs, entryMs or sinceMs, timeoutAtMs, toleranceFromMs, toleranceAtMs, delayFromMs, delayAtMs
 *    61  the fence's id in UTF-8
 */
const [SIZE, KIND, FLAGS, SEEN, HELD, ID_SIZE, PLACE] = [0, 4, 5, 8, 16, 24, 28] as const;
const HEAD_BYTES = 32;
const KINDS = ['provider', 'trackable'] as const;
/** The place stands here; it is that of another effect; memberships stand here; the collision stage knows the object. */
const [PLACED, SHARED, MEMBERS, COLLIDING] = [1, 2, 4, 8] as const;

const [P_SIZE, P_SOURCE, P_ZONE, P_FLAGS, P_TRACKABLES] = [0, 4, 8, 12, 16] as const;
const PLACE_HEAD_BYTES = 20;
/** Metres of its zone; it has a zone; that is none of the shard's any more, and stands here as JSON; it is timed. */
const [LOCAL, ZONED, ZONE_GONE, TIMED] = [1, 2, 4, 8] as const;
const TIMING_NAMES = Object.keys(UNSET) as (keyof OwnTiming)[];

const [M_ID, M_AREA, M_TIMES, M_HEAD_BYTES] = [0, 4, 5, 61] as const;
const AREAS = ['entering', 'in', 'tolerance', 'out'] as const;

const BYTES_AT_FIRST = 1 << 12;
const NOBODY: readonly string[] = [];

/** What an effect says. */
export interface Effect {
  readonly kind: 'provider' | 'trackable';
  readonly id: string;
  /** Where it stands among the others: who shares its place names that. */
  readonly at: number;
  readonly seenMs: number;
  readonly suppressUntilMs: number;
  readonly colliding: boolean;
  /** Where the object is: a place of its own, that of the effect at a number, or nowhere. */
  readonly place: Place | number | undefined;
  /** Undefined where they have not changed but for their silence. */
  readonly members: readonly EffectMember[] | undefined;
}

/** A fix on its way. Of its zone there is the name, or what it was. */
export interface Place extends Omit<FixContext, 'zone'> {
  readonly bytes: Uint8Array;
  readonly zone: string | Zone | undefined;
}

export interface EffectMember {
  readonly fenceId: string;
  readonly seenMs: number;
  readonly membership: Membership;
}

/** Writes effects into memory that is used again. */
export class EffectWriter extends GrowingBuffer {
  #end = 0;

  constructor(newBuffer: ConstructorParameters<typeof GrowingBuffer>[0]) {
    super(newBuffer, BYTES_AT_FIRST);
  }

  /**
   * Writes the effect of an object as it is now, with its memberships where `withMembers` says so. `shared` is where the
   * effect of an object stands that has the same fix. Returns where this one stands.
   */
  // hot
  write(object: ProviderState | TrackableState, { withMembers, shared, isKnown }: HowToWrite): number {
    const { kind, id, fix, members } = object;
    const start = this.#end;
    const ownFix = shared === undefined ? fix : undefined;
    this.reserve(start + HEAD_BYTES + UTF8_MAX * id.length + placeBytesMax(ownFix), start);
    const idBytes = this.bytes.write(id, start + HEAD_BYTES);
    let flags = 0;
    let at = start + HEAD_BYTES + idBytes;
    let place = 0;
    if (shared !== undefined) {
      flags |= SHARED;
      place = shared;
    } else if (ownFix !== undefined) {
      flags |= PLACED;
      at = this.#writePlace(at, ownFix, isKnown);
      place = at - start - HEAD_BYTES - idBytes;
    }
    if (withMembers) {
      flags |= MEMBERS;
      at = this.#writeMembers(at, members);
    }
    if (object.kind === 'trackable' && object.colliding) flags |= COLLIDING;
    const { view } = this;
    view.setUint32(start + SIZE, at - start, true);
    view.setUint8(start + KIND, kind === 'provider' ? 0 : 1);
    view.setUint8(start + FLAGS, flags);
    view.setFloat64(start + SEEN, members[0]?.seenMs ?? 0, true);
    view.setFloat64(start + HELD, object.suppressUntilMs, true);
    view.setUint32(start + ID_SIZE, idBytes, true);
    view.setUint32(start + PLACE, place, true);
    this.#end = at;
    return start;
  }

  /** All effects since the last call. They are good until the next one is written. */
  take(): Borrowed {
    const effects = lend(this.bytes.subarray(0, this.#end));
    this.#end = 0;
    return effects;
  }

  /** Lets go of memory beyond that. Between two steps. */
  tidy(bytesKept = BYTES_AT_FIRST): void {
    this.shrink(bytesKept, this.#end);
  }

  // hot
  #writePlace(start: number, fix: Fix, isKnown: (zone: Zone) => boolean): number {
    const { bytes, view } = this;
    const { source, zone, trackables, timing, isLocal } = fix;
    let flags = isLocal ? LOCAL : 0;
    let at = start + PLACE_HEAD_BYTES;
    if (timing !== UNSET) {
      flags |= TIMED;
      for (const name of TIMING_NAMES) {
        view.setFloat64(at, timing[name] ?? Number.NaN, true);
        at += 8;
      }
    }
    const sourceBytes = bytes.write(source, at);
    at += sourceBytes;
    let zoneBytes = 0;
    if (zone !== undefined) {
      const isHere = isKnown(zone);
      flags |= isHere ? ZONED : ZONED | ZONE_GONE;
      // Named as most locations name it: then it need not be written twice.
      if (!isHere || zone.id !== source) {
        const text = isHere ? zone.id : JSON.stringify(zone);
        this.reserve(at + UTF8_MAX * text.length + restBytesMax(fix), at);
        zoneBytes = this.bytes.write(text, at);
        at += zoneBytes;
      }
    }
    for (const id of trackables) {
      const idBytes = this.bytes.write(id, at + 4);
      this.view.setUint32(at, idBytes, true);
      at += 4 + idBytes;
    }
    at = fix.copyBytes(this.bytes, at);
    const written = this.view;
    written.setUint32(start + P_SIZE, at - start, true);
    written.setUint32(start + P_SOURCE, sourceBytes, true);
    written.setUint32(start + P_ZONE, zoneBytes, true);
    written.setUint32(start + P_FLAGS, flags, true);
    written.setUint32(start + P_TRACKABLES, trackables.length, true);
    return at;
  }

  #writeMembers(start: number, members: readonly Member[]): number {
    this.reserve(start + membersBytesMax(members), start);
    const { bytes, view } = this;
    view.setUint32(start, members.length, true);
    let at = start + 4;
    for (const { fence, membership, seenMs } of members) {
      const { toleranceFromMs, toleranceAtMs, delayFromMs, delayAtMs } = membership;
      const isInside = membership.at === 'inside';
      const fromMs = isInside ? membership.entryMs : membership.sinceMs;
      const timeoutAtMs = isInside ? membership.timeoutAtMs : 0;
      view.setUint8(at + M_AREA, isInside ? AREAS.indexOf(membership.area) : 0);
      view.setFloat64(at + M_TIMES, seenMs, true);
      view.setFloat64(at + M_TIMES + 8, fromMs, true);
      view.setFloat64(at + M_TIMES + 16, timeoutAtMs, true);
      view.setFloat64(at + M_TIMES + 24, toleranceFromMs, true);
      view.setFloat64(at + M_TIMES + 32, toleranceAtMs, true);
      view.setFloat64(at + M_TIMES + 40, delayFromMs, true);
      view.setFloat64(at + M_TIMES + 48, delayAtMs, true);
      const idBytes = bytes.write(fence.id, at + M_HEAD_BYTES);
      view.setUint32(at + M_ID, idBytes, true);
      at += M_HEAD_BYTES + idBytes;
    }
    return at;
  }
}

export interface HowToWrite {
  readonly withMembers: boolean;
  readonly shared: number | undefined;
  /** Whether the shard has a zone of that id. */
  readonly isKnown: (zone: Zone) => boolean;
}

/** The effects among these bytes, in the order in which they were written. */
export function* effectsIn(bytes: TextBytes): Generator<Effect> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const buffer = { bytes, view };
  for (let at = 0; at < bytes.length; at += view.getUint32(at + SIZE, true)) yield effectAt(buffer, at);
}

function effectAt(buffer: RecordBuffer, at: number): Effect {
  const { bytes, view } = buffer;
  const flags = view.getUint8(at + FLAGS);
  const idBytes = view.getUint32(at + ID_SIZE, true);
  const placeAt = at + HEAD_BYTES + idBytes;
  const place = view.getUint32(at + PLACE, true);
  const isPlaced = (flags & PLACED) !== 0;
  const ownPlace = isPlaced ? placeIn(buffer, placeAt) : undefined;
  return {
    kind: KINDS[view.getUint8(at + KIND)] as Effect['kind'],
    id: bytes.toString('utf8', at + HEAD_BYTES, placeAt),
    at,
    seenMs: view.getFloat64(at + SEEN, true),
    suppressUntilMs: view.getFloat64(at + HELD, true),
    colliding: (flags & COLLIDING) !== 0,
    place: (flags & SHARED) !== 0 ? place : ownPlace,
    members: (flags & MEMBERS) !== 0 ? membersIn(buffer, placeAt + (isPlaced ? place : 0)) : undefined,
  };
}

function placeIn(buffer: RecordBuffer, start: number): Place {
  const { bytes, view } = buffer;
  const flags = view.getUint32(start + P_FLAGS, true);
  let at = start + PLACE_HEAD_BYTES;
  let timing = UNSET;
  if ((flags & TIMED) !== 0) {
    timing = timingIn(view, at);
    at += 8 * TIMING_NAMES.length;
  }
  const text = (size: number): string => {
    at += size;
    return bytes.toString('utf8', at - size, at);
  };
  const source = text(view.getUint32(start + P_SOURCE, true));
  const named = text(view.getUint32(start + P_ZONE, true));
  const trackables = Array.from({ length: view.getUint32(start + P_TRACKABLES, true) }, () => {
    at += 4;
    return text(view.getUint32(at - 4, true));
  });
  const zone = (flags & ZONE_GONE) !== 0 ? (JSON.parse(named) as Zone) : named === '' ? source : named;
  return {
    providerId: recordIdIn(buffer, at + DERIVED_BYTES),
    source,
    zone: (flags & ZONED) === 0 ? undefined : zone,
    timing,
    trackables: trackables.length === 0 ? NOBODY : trackables,
    isLocal: (flags & LOCAL) !== 0,
    bytes: bytes.subarray(at, start + view.getUint32(start + P_SIZE, true)),
  };
}

function timingIn(view: DataView, at: number): OwnTiming {
  const timing: { -readonly [K in keyof OwnTiming]: OwnTiming[K] } = { ...UNSET };
  for (const [i, name] of TIMING_NAMES.entries()) {
    const value = view.getFloat64(at + 8 * i, true);
    timing[name] = Number.isNaN(value) ? undefined : value;
  }
  return timing;
}

function membersIn({ bytes, view }: RecordBuffer, start: number): EffectMember[] {
  let at = start + 4;
  return Array.from({ length: view.getUint32(start, true) }, () => {
    const idAt = at + M_HEAD_BYTES;
    const time = (index: number): number => view.getFloat64(at + M_TIMES + 8 * index, true);
    const area = AREAS[view.getUint8(at + M_AREA)] as (typeof AREAS)[number];
    const timers = { toleranceFromMs: time(3), toleranceAtMs: time(4), delayFromMs: time(5), delayAtMs: time(6) };
    const membership: Membership =
      area === 'entering'
        ? { at: 'entering', sinceMs: time(1), ...timers }
        : { at: 'inside', area, entryMs: time(1), timeoutAtMs: time(2), ...timers };
    const seenMs = time(0);
    at = idAt + view.getUint32(at + M_ID, true);
    return { fenceId: bytes.toString('utf8', idAt, at), seenMs, membership };
  });
}

function placeBytesMax(fix: Fix | undefined): number {
  return fix === undefined ? 0 : PLACE_HEAD_BYTES + 8 * TIMING_NAMES.length + zoneBytesMax(fix) + restBytesMax(fix);
}

/** Of the source and the name of a zone that is there. */
function zoneBytesMax({ source, zone }: Fix): number {
  return UTF8_MAX * (source.length + (zone?.id.length ?? 0));
}

/** Of the trackables and the fix itself. */
function restBytesMax({ trackables, bytesTaken }: Fix): number {
  let most = bytesTaken;
  for (const id of trackables) most += 4 + UTF8_MAX * id.length;
  return most;
}

function membersBytesMax(members: readonly Member[]): number {
  let most = 4;
  for (const { fence } of members) most += M_HEAD_BYTES + UTF8_MAX * fence.id.length;
  return most;
}
