import { type Borrowed, lend } from '../model/borrowed.ts';
import type { ObjectKind } from '../model/id.ts';
import type { Zone } from '../model/zone.ts';
import { DERIVED, MEMBER, OWN_TIMING, TIMERS } from './encoding/layouts.ts';
import type { FenceMembership } from './fence/membership.ts';
import { UNSET } from './fence/timing.ts';
import { GrowingBuffer } from './growing_buffer.ts';
import { UTF8_MAX } from './json_bytes.ts';
import { DERIVED_BYTES, type Derived, type Fix, type FixContext } from './location/fix.ts';
import { type NewRecordBuffer, type RecordBuffer, recordIdIn, type Utf8Bytes } from './location/record.ts';
import { emptyTrack, type Track, TRACK_BYTES } from './tracking/track.ts';
import { CHANGED_SHARD, type FenceMember, type ProviderState, type TrackableState } from './state.ts';

/**
 * State changes of the objects of a shard in one step, as bytes. From the entities and the locations and effects of all
 * steps, handlers/replay.ts rebuilds the state without repeating any decision.
 *
 * An effect contains the position of an object and its fence memberships: always the full state, never a difference. So
 * applying effects again, from any earlier point, is idempotent. Memberships are omitted if an observation only
 * restarted their fence timeouts, which follow from its time.
 *
 * Effects are contiguous and little-endian. A string is its length in bytes as u32, then UTF-8:
 *
 *     u32 bytes of the effect, u8 flags
 *     if SUPPRESSED: f64 time until which deadlines are suppressed
 *     if OBSERVED: f64 time of the last observation
 *     unless LOCATED: string id
 *     the position, one of
 *       LOCATED    f64 number of the location, the values derived from it (see Fix), context
 *       SHARED     u32 offset of the effect of the provider at the same position
 *       otherwise  u8 FIXED, string source, string zone, context, u32 bytes, derived values, record and track;
 *                  or u8 NOWHERE; or u8 ELSEWHERE: in another shard
 *     if MEMBERS: u32 number of memberships, and for each string fence, MEMBER, TIMERS
 *     if TRACKED, only with LOCATED: the track of the position as f64. It is last, so that older versions skip it
 *
 * The context is u8 flags, if TIMED OWN_TIMING, a u32 number of trackables and their ids as strings.
 */
const [TRACKABLE, LOCATED, SHARED, MEMBERS, COLLIDING, SUPPRESSED, OBSERVED, TRACKED] = [
  1, 2, 4, 8, 16, 32, 64, 128,
] as const;
const [NOWHERE, FIXED, ELSEWHERE] = [0, 1, 2] as const;
/**
 * Flags of a context. LOCAL: the position was sent in meters of its zone. ZONED: it is in a zone. ZONE_REMOVED: the
 * shard no longer has that zone, so its JSON replaces its name. TIMED: the provider has its own timing.
 */
const [LOCAL, ZONED, ZONE_REMOVED, TIMED] = [1, 2, 4, 8] as const;
const AREAS = ['entering', 'in', 'tolerance', 'out'] as const;

const INITIAL_BYTES = 1 << 12;
/** Maximum bytes of all fixed-size fields of an effect, and of those of one membership. */
const FIXED_MAX = 256;
const MEMBER_MAX = 64;

/** A decoded effect. */
export interface Effect {
  readonly kind: ObjectKind;
  /** Undefined for a provider with a LOCATED position, since the location contains the id. */
  readonly id: string | undefined;
  /** Offset among the effects of the step. Effects that share the position refer to this offset. */
  readonly at: number;
  /** Time until which the deadlines are suppressed; 0 for none. */
  readonly suppressUntilMs: number;
  /** Time of the last observation; undefined if `members` contains it, or if there are no memberships. */
  readonly lastSeenMs: number | undefined;
  readonly colliding: boolean;
  readonly place: EffectPosition;
  /** Undefined if only fence timeouts have changed. */
  readonly members: readonly EffectMember[] | undefined;
}

export type EffectPosition =
  | { readonly at: 'nowhere' }
  /** The object has moved to another shard, which may not have received it before the hub failed. */
  | { readonly at: 'elsewhere' }
  /** The position in the effect at offset `effect`. */
  | { readonly at: 'shared'; readonly effect: number }
  /** The position of location number `seq`. */
  | ({
      readonly at: 'location';
      readonly seq: number;
      readonly derived: Derived;
      readonly track: Track | undefined;
    } & PositionContext)
  | ({ readonly at: 'fix'; readonly bytes: Uint8Array } & PositionContext & FixNames);

/** Parts of a fix's context that do not follow from its location. */
type PositionContext = Pick<FixContext, 'timing' | 'trackables'> & {
  readonly isLocal: boolean;
  readonly isInZone: boolean;
};

interface FixNames {
  readonly providerId: string;
  readonly source: string;
  /** Name of the zone, or the zone itself if the shard no longer has it. */
  readonly zone: string | Zone;
}

export interface EffectMember {
  readonly fenceId: string;
  readonly seenMs: number;
  readonly membership: FenceMembership;
}

/** Options for writing the effect of an object. */
export interface EffectOptions {
  readonly withMembers: boolean;
  /** Offset of the effect of the provider whose position the object shares; -1 for none. */
  readonly shared: number;
  /** Whether the position comes from a location of this step. */
  readonly isLocated: boolean;
  /** Whether the shard has the zone. */
  readonly hasZone: (zone: Zone) => boolean;
}

/** Writes effects into a buffer that each step reuses. */
export class EffectWriter extends GrowingBuffer {
  #at = 0;

  constructor(newBuffer: NewRecordBuffer) {
    super(newBuffer, INITIAL_BYTES);
  }

  /** Writes the current state of an object as an effect and returns its offset. */
  // hot
  write(object: ProviderState | TrackableState, how: EffectOptions): number {
    const { fix, members, suppressUntilMs } = object;
    const start = this.#at;
    const isLocated = how.isLocated && fix !== undefined;
    this.reserve(start + FIXED_MAX + UTF8_MAX * object.id.length, start);
    this.#at += 5;
    let flags = 0;
    if (suppressUntilMs !== 0) {
      flags |= SUPPRESSED;
      this.#f64(suppressUntilMs);
    }
    if (!how.withMembers && members.length > 0) {
      flags |= OBSERVED;
      this.#f64((members[0] as FenceMember).seenMs);
    }
    if (object.kind === 'trackable') flags |= object.colliding ? TRACKABLE | COLLIDING : TRACKABLE;
    if (!isLocated) this.#string(object.id);
    if (how.shared >= 0) {
      flags |= SHARED;
      this.#u32(how.shared);
    } else if (isLocated) {
      flags |= LOCATED;
      this.#f64(fix.seq);
      fix.copyDerived(this.view, this.#at);
      this.#at += DERIVED_BYTES;
      this.#context(fix, fix.zone === undefined ? 0 : ZONED);
    } else if (fix === undefined) this.#u8((object.changes & CHANGED_SHARD) === 0 ? NOWHERE : ELSEWHERE);
    else this.#position(fix, how.hasZone);
    if (how.withMembers) {
      flags |= MEMBERS;
      this.#members(members);
    }
    if (isLocated && fix.hasTrack) {
      flags |= TRACKED;
      this.reserve(this.#at + TRACK_BYTES, this.#at);
      fix.copyTrack(this.bytes, this.#at);
      this.#at += TRACK_BYTES;
    }
    this.view.setUint32(start, this.#at - start, true);
    this.view.setUint8(start + 4, flags);
    return start;
  }

  /** Writes that an object has no state. */
  nowhere(kind: ObjectKind, id: string): void {
    const start = this.#at;
    this.reserve(start + FIXED_MAX + UTF8_MAX * id.length, start);
    this.#at += 5;
    this.#string(id);
    this.#u8(NOWHERE);
    this.view.setUint32(start, this.#at - start, true);
    this.view.setUint8(start + 4, kind === 'trackable' ? TRACKABLE : 0);
  }

  /** Returns the effects written since the last call. They are valid until the next write. */
  take(): Borrowed {
    const effects = lend(this.bytes.subarray(0, this.#at));
    this.#at = 0;
    return effects;
  }

  /** Frees memory beyond `bytesRetained`. Call it between two steps. */
  tidy(bytesRetained = INITIAL_BYTES): void {
    this.shrink(bytesRetained, this.#at);
  }

  #position(fix: Fix, hasZone: (zone: Zone) => boolean): void {
    const { source, zone, bytes } = fix;
    const isHere = zone === undefined || hasZone(zone);
    const name = zone === undefined ? '' : isHere ? zone.id : JSON.stringify(zone);
    this.reserve(this.#at + FIXED_MAX + UTF8_MAX * (source.length + name.length), this.#at);
    this.#u8(FIXED);
    this.#string(source);
    this.#string(name);
    this.#context(fix, (zone === undefined ? 0 : ZONED) | (isHere ? 0 : ZONE_REMOVED));
    this.reserve(this.#at + FIXED_MAX + bytes.length, this.#at);
    this.#u32(bytes.length);
    this.bytes.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  // hot
  #context({ isLocal, timing, trackables }: Fix, ofZone: number): void {
    this.#u8(ofZone | (isLocal ? LOCAL : 0) | (timing === UNSET ? 0 : TIMED));
    if (timing !== UNSET) {
      OWN_TIMING.write(this, this.#at, timing);
      this.#at += OWN_TIMING.bytes;
    }
    this.#u32(trackables.length);
    for (const id of trackables) {
      this.reserve(this.#at + FIXED_MAX + UTF8_MAX * id.length, this.#at);
      this.#string(id);
    }
  }

  #members(members: readonly FenceMember[]): void {
    this.#u32(members.length);
    for (const { fence, membership, seenMs } of members) {
      this.reserve(this.#at + MEMBER_MAX + UTF8_MAX * fence.id.length, this.#at);
      const isInside = membership.at === 'inside';
      this.#string(fence.id);
      const area = isInside ? AREAS.indexOf(membership.area) : 0;
      const fromMs = isInside ? membership.entryMs : membership.sinceMs;
      MEMBER.write(this, this.#at, { area, seenMs, fromMs, timeoutAtMs: isInside ? membership.timeoutAtMs : 0 });
      TIMERS.write(this, this.#at + MEMBER.bytes, membership);
      this.#at += MEMBER.bytes + TIMERS.bytes;
    }
    this.reserve(this.#at + FIXED_MAX, this.#at);
  }

  #u8(value: number): void {
    this.view.setUint8(this.#at, value);
    this.#at += 1;
  }

  #u32(value: number): void {
    this.view.setUint32(this.#at, value, true);
    this.#at += 4;
  }

  #f64(value: number): void {
    this.view.setFloat64(this.#at, value, true);
    this.#at += 8;
  }

  #string(text: string): void {
    const bytes = this.bytes.write(text, this.#at + 4);
    this.#u32(bytes);
    this.#at += bytes;
  }
}

/** Decodes effects in the order in which they were written. */
export function* effectsIn(bytes: Utf8Bytes): Generator<Effect> {
  const reader = new EffectReader(bytes);
  while (reader.at < bytes.length) yield reader.effect();
}

class EffectReader {
  readonly #buffer: RecordBuffer;
  at = 0;

  constructor(bytes: Utf8Bytes) {
    this.#buffer = { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength) };
  }

  effect(): Effect {
    const { at } = this;
    const end = at + this.#u32();
    const flags = this.#u8();
    const suppressUntilMs = (flags & SUPPRESSED) === 0 ? 0 : this.#f64();
    const lastSeenMs = (flags & OBSERVED) === 0 ? undefined : this.#f64();
    const id = (flags & LOCATED) === 0 ? this.#string() : undefined;
    const found = this.#position(flags);
    const members = (flags & MEMBERS) === 0 ? undefined : this.#members();
    const place = (flags & TRACKED) === 0 || found.at !== 'location' ? found : { ...found, track: this.#track() };
    this.at = end;
    const kind = (flags & TRACKABLE) === 0 ? 'provider' : 'trackable';
    return { kind, id, at, suppressUntilMs, lastSeenMs, colliding: (flags & COLLIDING) !== 0, place, members };
  }

  #position(flags: number): EffectPosition {
    if ((flags & SHARED) !== 0) return { at: 'shared', effect: this.#u32() };
    if ((flags & LOCATED) !== 0) {
      const seq = this.#f64();
      const derived = DERIVED.read(this.#buffer, this.#after(DERIVED_BYTES) + DERIVED_BYTES);
      const { isZoneRemoved: _, ...context } = this.#context();
      return { at: 'location', seq, derived, track: undefined, ...context };
    }
    const at = this.#u8();
    if (at !== FIXED) return { at: at === NOWHERE ? 'nowhere' : 'elsewhere' };
    const source = this.#string();
    const name = this.#string();
    const { isZoneRemoved, ...context } = this.#context();
    const start = this.#after(this.#u32());
    const providerId = recordIdIn(this.#buffer, start + DERIVED_BYTES);
    const zone = isZoneRemoved ? (JSON.parse(name) as Zone) : name;
    return { at: 'fix', bytes: this.#buffer.bytes.subarray(start, this.at), providerId, source, zone, ...context };
  }

  #context(): PositionContext & { readonly isZoneRemoved: boolean } {
    const flags = this.#u8();
    const timing = (flags & TIMED) === 0 ? UNSET : OWN_TIMING.read(this.#buffer, this.#after(OWN_TIMING.bytes));
    const trackables = Array.from({ length: this.#u32() }, () => this.#string());
    const isZoneRemoved = (flags & ZONE_REMOVED) !== 0;
    return { isLocal: (flags & LOCAL) !== 0, isInZone: (flags & ZONED) !== 0, isZoneRemoved, timing, trackables };
  }

  #members(): EffectMember[] {
    return Array.from({ length: this.#u32() }, () => {
      const fenceId = this.#string();
      const { area: index, seenMs, fromMs, timeoutAtMs } = MEMBER.read(this.#buffer, this.#after(MEMBER.bytes));
      const area = AREAS[index] as (typeof AREAS)[number];
      const timers = TIMERS.read(this.#buffer, this.#after(TIMERS.bytes));
      const membership: FenceMembership =
        area === 'entering'
          ? { at: 'entering', sinceMs: fromMs, ...timers }
          : { at: 'inside', area, entryMs: fromMs, timeoutAtMs, ...timers };
      return { fenceId, seenMs, membership };
    });
  }

  #track(): Track {
    return emptyTrack().map(() => this.#f64());
  }

  #u8(): number {
    return this.#buffer.view.getUint8(this.#after(1));
  }

  #u32(): number {
    return this.#buffer.view.getUint32(this.#after(4), true);
  }

  #f64(): number {
    return this.#buffer.view.getFloat64(this.#after(8), true);
  }

  #string(): string {
    const bytes = this.#u32();
    const start = this.#after(bytes);
    return this.#buffer.bytes.toString('utf8', start, start + bytes);
  }

  /** Skips `bytes` bytes and returns the offset at which they start. */
  #after(bytes: number): number {
    this.at += bytes;
    return this.at - bytes;
  }
}
