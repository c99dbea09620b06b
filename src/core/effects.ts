import { type Borrowed, lend } from '../model/borrowed.ts';
import type { Zone } from '../model/zone.ts';
import type { Membership } from './fence/membership.ts';
import { type OwnTiming, UNSET } from './fence/timing.ts';
import { GrowingBuffer } from './growing_buffer.ts';
import { UTF8_MAX } from './json_bytes.ts';
import { DERIVED_BYTES, type Derived, derivedIn, type Fix, type FixContext } from './location/fix.ts';
import { type NewRecordBuffer, recordIdIn, type TextBytes } from './location/record.ts';
import type { Member, ProviderState, TrackableState } from './state.ts';

/**
 * What a step has changed of the objects of its shard, as bytes: who has the entities, and the locations and effects of
 * all steps, has the state, without deciding anything anew (handlers/replay.ts).
 *
 * An effect says where an object is and which fences it is in. All of it is absolute, none of it a difference: to apply
 * one twice, or an older one before all newer ones once more, changes nothing. Memberships are left out where all that
 * has happened to them is an observation that has put off their silence: that follows from when it was made.
 *
 * One behind the other, little-endian, a text being a u32 of bytes and UTF-8:
 *
 *     u32 bytes of the effect, u8 flags
 *     f64 until when deadlines are held, where HELD
 *     f64 of the last observation, where it is HEARD of
 *     text its id, but not where LOCATED
 *     where it is: one of
 *       LOCATED    f64 number of the location, what was derived of it (see Fix), context
 *       SHARED     u32 where the effect is of the provider that is at the same place
 *       otherwise  u8 PLACED, text source, text zone, context, u32 bytes, what was derived and the record; or u8 NOWHERE
 *     its memberships, where MEMBERS: a u32 count, and for each
 *       text fence, u8 area, f64 seenMs, entryMs or sinceMs, timeoutAtMs, toleranceFromMs, toleranceAtMs, delayFromMs, delayAtMs
 *
 * Context is u8 flags, where TIMED seven f64 with NaN for unset, a u32 count of trackables and their texts.
 */
const [TRACKABLE, LOCATED, SHARED, MEMBERS, COLLIDING, HELD, HEARD] = [1, 2, 4, 8, 16, 32, 64] as const;
const [NOWHERE, PLACED] = [0, 1] as const;
/** Metres of its zone; it has a zone; that is none of the shard's any more, and stands there as JSON; it is timed. */
const [LOCAL, ZONED, ZONE_GONE, TIMED] = [1, 2, 4, 8] as const;
const AREAS = ['entering', 'in', 'tolerance', 'out'] as const;
const TIMING_NAMES = Object.keys(UNSET) as (keyof OwnTiming)[];

const BYTES_AT_FIRST = 1 << 12;
/** Of all that has a fixed size. */
const FIXED_MAX = 256;
const MEMBER_MAX = 64;

/** What an effect says. */
export interface Effect {
  readonly kind: 'provider' | 'trackable';
  /** Of a provider that was located, its location says it. */
  readonly id: string | undefined;
  /** Where it stands among the others: who shares its place names that. */
  readonly at: number;
  /** Until when its deadlines are held. */
  readonly suppressUntilMs: number;
  /** When its fences have seen it last; undefined where its memberships say so, or it has none. */
  readonly heardMs: number | undefined;
  readonly colliding: boolean;
  readonly place: Place;
  /** Undefined where they have not changed but for their silence. */
  readonly members: readonly EffectMember[] | undefined;
}

export type Place =
  | { readonly at: 'nowhere' }
  /** At the place that the effect at `effect` says. */
  | { readonly at: 'shared'; readonly effect: number }
  /** Where the location of that number was found to be. */
  | ({ readonly at: 'location'; readonly seq: number; readonly derived: Derived } & PlaceContext)
  | ({ readonly at: 'fix'; readonly bytes: Uint8Array } & PlaceContext & FixNames);

/** What is known of a fix besides its location. */
type PlaceContext = Pick<FixContext, 'timing' | 'trackables'> & {
  readonly isLocal: boolean;
  readonly isInZone: boolean;
};

interface FixNames {
  readonly providerId: string;
  readonly source: string;
  /** Its name, or what it was. */
  readonly zone: string | Zone;
}

export interface EffectMember {
  readonly fenceId: string;
  readonly seenMs: number;
  readonly membership: Membership;
}

/** How an object is written. */
export interface HowToWrite {
  readonly withMembers: boolean;
  /** Where the effect stands of the provider whose place it shares; -1 for none. */
  readonly shared: number;
  /** Whether its place is that of a location of this step. */
  readonly isLocated: boolean;
  /** Whether the shard has a zone of that id. */
  readonly isKnown: (zone: Zone) => boolean;
}

/** Writes effects into memory that is used again. */
export class EffectWriter extends GrowingBuffer {
  #at = 0;

  constructor(newBuffer: NewRecordBuffer) {
    super(newBuffer, BYTES_AT_FIRST);
  }

  /** Writes the effect of an object as it is now, and returns where it stands. */
  // hot
  write(object: ProviderState | TrackableState, how: HowToWrite): number {
    const { fix, members, suppressUntilMs } = object;
    const start = this.#at;
    const isLocated = how.isLocated && fix !== undefined;
    this.reserve(start + FIXED_MAX + UTF8_MAX * object.id.length, start);
    this.#at += 5;
    let flags = 0;
    if (suppressUntilMs !== 0) {
      flags |= HELD;
      this.#f64(suppressUntilMs);
    }
    if (!how.withMembers && members.length > 0) {
      flags |= HEARD;
      this.#f64((members[0] as Member).seenMs);
    }
    if (object.kind === 'trackable') flags |= object.colliding ? TRACKABLE | COLLIDING : TRACKABLE;
    if (!isLocated) this.#text(object.id);
    if (how.shared >= 0) {
      flags |= SHARED;
      this.#u32(how.shared);
    } else if (isLocated) {
      flags |= LOCATED;
      this.#f64(fix.seq);
      fix.copyDerived(this.view, this.#at);
      this.#at += DERIVED_BYTES;
      this.#context(fix, fix.zone === undefined ? 0 : ZONED);
    } else if (fix === undefined) this.#u8(NOWHERE);
    else this.#place(fix, how.isKnown);
    if (how.withMembers) {
      flags |= MEMBERS;
      this.#members(members);
    }
    this.view.setUint32(start, this.#at - start, true);
    this.view.setUint8(start + 4, flags);
    return start;
  }

  /** All effects since the last call. They are good until the next one is written. */
  take(): Borrowed {
    const effects = lend(this.bytes.subarray(0, this.#at));
    this.#at = 0;
    return effects;
  }

  /** Lets go of memory beyond that. Between two steps. */
  tidy(bytesKept = BYTES_AT_FIRST): void {
    this.shrink(bytesKept, this.#at);
  }

  #place(fix: Fix, isKnown: (zone: Zone) => boolean): void {
    const { source, zone, bytes } = fix;
    const isHere = zone === undefined || isKnown(zone);
    const name = zone === undefined ? '' : isHere ? zone.id : JSON.stringify(zone);
    this.reserve(this.#at + FIXED_MAX + UTF8_MAX * (source.length + name.length), this.#at);
    this.#u8(PLACED);
    this.#text(source);
    this.#text(name);
    this.#context(fix, (zone === undefined ? 0 : ZONED) | (isHere ? 0 : ZONE_GONE));
    this.reserve(this.#at + FIXED_MAX + bytes.length, this.#at);
    this.#u32(bytes.length);
    this.bytes.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  // hot
  #context({ isLocal, timing, trackables }: Fix, ofZone: number): void {
    this.#u8(ofZone | (isLocal ? LOCAL : 0) | (timing === UNSET ? 0 : TIMED));
    if (timing !== UNSET) for (const name of TIMING_NAMES) this.#f64(timing[name] ?? Number.NaN);
    this.#u32(trackables.length);
    for (const id of trackables) {
      this.reserve(this.#at + FIXED_MAX + UTF8_MAX * id.length, this.#at);
      this.#text(id);
    }
  }

  #members(members: readonly Member[]): void {
    this.#u32(members.length);
    for (const { fence, membership, seenMs } of members) {
      this.reserve(this.#at + MEMBER_MAX + UTF8_MAX * fence.id.length, this.#at);
      const isInside = membership.at === 'inside';
      this.#text(fence.id);
      this.#u8(isInside ? AREAS.indexOf(membership.area) : 0);
      this.#f64(seenMs);
      this.#f64(isInside ? membership.entryMs : membership.sinceMs);
      this.#f64(isInside ? membership.timeoutAtMs : 0);
      this.#f64(membership.toleranceFromMs);
      this.#f64(membership.toleranceAtMs);
      this.#f64(membership.delayFromMs);
      this.#f64(membership.delayAtMs);
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

  #text(text: string): void {
    const bytes = this.bytes.write(text, this.#at + 4);
    this.#u32(bytes);
    this.#at += bytes;
  }
}

/** The effects among these bytes, in the order in which they were written. */
export function* effectsIn(bytes: TextBytes): Generator<Effect> {
  const reader = new EffectReader(bytes);
  while (reader.at < bytes.length) yield reader.effect();
}

class EffectReader {
  readonly #bytes: TextBytes;
  readonly #view: DataView;
  at = 0;

  constructor(bytes: TextBytes) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  effect(): Effect {
    const { at } = this;
    const end = at + this.#u32();
    const flags = this.#u8();
    const suppressUntilMs = (flags & HELD) === 0 ? 0 : this.#f64();
    const heardMs = (flags & HEARD) === 0 ? undefined : this.#f64();
    const id = (flags & LOCATED) === 0 ? this.#text() : undefined;
    const place = this.#place(flags);
    const members = (flags & MEMBERS) === 0 ? undefined : this.#members();
    this.at = end;
    const kind = (flags & TRACKABLE) === 0 ? 'provider' : 'trackable';
    return { kind, id, at, suppressUntilMs, heardMs, colliding: (flags & COLLIDING) !== 0, place, members };
  }

  #place(flags: number): Place {
    if ((flags & SHARED) !== 0) return { at: 'shared', effect: this.#u32() };
    if ((flags & LOCATED) !== 0) {
      const seq = this.#f64();
      const derived = derivedIn(this.#view, this.at);
      this.at += DERIVED_BYTES;
      const { isGone: _, ...context } = this.#context();
      return { at: 'location', seq, derived, ...context };
    }
    if (this.#u8() === NOWHERE) return { at: 'nowhere' };
    const source = this.#text();
    const name = this.#text();
    const { isGone, ...context } = this.#context();
    const size = this.#u32();
    const start = this.at;
    this.at += size;
    const providerId = recordIdIn({ bytes: this.#bytes, view: this.#view }, start + DERIVED_BYTES);
    const zone = isGone ? (JSON.parse(name) as Zone) : name;
    return { at: 'fix', bytes: this.#bytes.subarray(start, this.at), providerId, source, zone, ...context };
  }

  #context(): PlaceContext & { readonly isGone: boolean } {
    const flags = this.#u8();
    const timing = (flags & TIMED) === 0 ? UNSET : this.#timing();
    const trackables = Array.from({ length: this.#u32() }, () => this.#text());
    const isGone = (flags & ZONE_GONE) !== 0;
    return { isLocal: (flags & LOCAL) !== 0, isInZone: (flags & ZONED) !== 0, isGone, timing, trackables };
  }

  #timing(): OwnTiming {
    const timing: { -readonly [K in keyof OwnTiming]: OwnTiming[K] } = { ...UNSET };
    for (const name of TIMING_NAMES) {
      const value = this.#f64();
      timing[name] = Number.isNaN(value) ? undefined : value;
    }
    return timing;
  }

  #members(): EffectMember[] {
    return Array.from({ length: this.#u32() }, () => {
      const fenceId = this.#text();
      const area = AREAS[this.#u8()] as (typeof AREAS)[number];
      const [seenMs, fromMs, timeoutAtMs] = [this.#f64(), this.#f64(), this.#f64()];
      const [toleranceFromMs, toleranceAtMs] = [this.#f64(), this.#f64()];
      const [delayFromMs, delayAtMs] = [this.#f64(), this.#f64()];
      const timers = { toleranceFromMs, toleranceAtMs, delayFromMs, delayAtMs };
      const membership: Membership =
        area === 'entering'
          ? { at: 'entering', sinceMs: fromMs, ...timers }
          : { at: 'inside', area, entryMs: fromMs, timeoutAtMs, ...timers };
      return { fenceId, seenMs, membership };
    });
  }

  #u8(): number {
    return this.#view.getUint8(this.at++);
  }

  #u32(): number {
    this.at += 4;
    return this.#view.getUint32(this.at - 4, true);
  }

  #f64(): number {
    this.at += 8;
    return this.#view.getFloat64(this.at - 8, true);
  }

  #text(): string {
    const start = this.at + 4;
    const end = start + this.#u32();
    this.at = end;
    return this.#bytes.toString('utf8', start, end);
  }
}
