import { type Borrowed, lend } from '../model/borrowed.ts';
import type { ObjectKind } from '../model/id.ts';
import type { Zone } from '../model/zone.ts';
import type { Membership } from './fence/membership.ts';
import { type OwnTiming, UNSET } from './fence/timing.ts';
import { GrowingBuffer } from './growing_buffer.ts';
import { UTF8_MAX } from './json_bytes.ts';
import { DERIVED_BYTES, type Derived, derivedIn, type Fix, type FixContext } from './location/fix.ts';
import { type NewRecordBuffer, recordIdIn, type TextBytes } from './location/record.ts';
import { CHANGED_SHARD, type Member, type ProviderState, type TrackableState } from './state.ts';

/**
 * What a step has changed of the objects of its shard, as bytes. Whoever has the entities, and the locations and effects
 * of all steps, can rebuild the state from them without making any decision again (handlers/replay.ts).
 *
 * An effect says where an object is and which fences it is in. It states this in full, never as a difference: so to apply
 * an effect twice, or to apply a run of effects again from an earlier point, changes nothing. Memberships are left out if
 * all that has happened to them is an observation that restarted their fence timeouts, since these follow from its time.
 *
 * Effects lie one after another, little-endian; a text is its length in bytes as a u32, and then UTF-8:
 *
 *     u32 bytes of the effect, u8 flags
 *     if HELD: f64 time until which deadlines are held
 *     if HEARD: f64 time of the last observation
 *     unless LOCATED: text id
 *     its place, one of
 *       LOCATED    f64 number of the location, what was derived from it (see Fix), context
 *       SHARED     u32 offset of the effect of the provider that is at the same place
 *       otherwise  u8 PLACED, text source, text zone, context, u32 bytes, what was derived and the record; or u8 NOWHERE or
 *                  ELSEWHERE: in another shard
 *     if MEMBERS: its memberships, as a u32 count, and for each
 *       text fence, u8 area, f64 seenMs, entryMs or sinceMs, timeoutAtMs, toleranceFromMs, toleranceAtMs, delayFromMs, delayAtMs
 *
 * The context is u8 flags, if TIMED seven f64 with NaN for unset, a u32 count of trackables and their ids as texts.
 */
const [TRACKABLE, LOCATED, SHARED, MEMBERS, COLLIDING, HELD, HEARD] = [1, 2, 4, 8, 16, 32, 64] as const;
const [NOWHERE, PLACED, ELSEWHERE] = [0, 1, 2] as const;
/**
 * Flags of a context: it was sent in metres of its zone; it is in a zone; the shard no longer has that zone, which is
 * written as JSON instead of its name; its provider has timing of its own.
 */
const [LOCAL, ZONED, ZONE_GONE, TIMED] = [1, 2, 4, 8] as const;
const AREAS = ['entering', 'in', 'tolerance', 'out'] as const;
const TIMING_NAMES = Object.keys(UNSET) as (keyof OwnTiming)[];

const BYTES_AT_FIRST = 1 << 12;
/** More than all that has a fixed size takes, in bytes; and the same for one membership. */
const FIXED_MAX = 256;
const MEMBER_MAX = 64;

/** An effect, decoded. */
export interface Effect {
  readonly kind: ObjectKind;
  /** Undefined for a provider that was located: its location names it. */
  readonly id: string | undefined;
  /** Its offset among the effects of the step, by which others that share its place refer to it. */
  readonly at: number;
  /** Time until which its deadlines are held; 0 if they are not. */
  readonly suppressUntilMs: number;
  /** When it was last observed; undefined if its memberships say so, or if it has none. */
  readonly heardMs: number | undefined;
  readonly colliding: boolean;
  readonly place: Place;
  /** Undefined if nothing has changed about them but when their fence timeouts end. */
  readonly members: readonly EffectMember[] | undefined;
}

export type Place =
  | { readonly at: 'nowhere' }
  /** It has left for another shard, which may not have got it when the hub died. */
  | { readonly at: 'elsewhere' }
  /** The same place as in the effect at the offset `effect`. */
  | { readonly at: 'shared'; readonly effect: number }
  /** The place of the location with that number. */
  | ({ readonly at: 'location'; readonly seq: number; readonly derived: Derived } & PlaceContext)
  | ({ readonly at: 'fix'; readonly bytes: Uint8Array } & PlaceContext & FixNames);

/** What a fix has besides its location. */
type PlaceContext = Pick<FixContext, 'timing' | 'trackables'> & {
  readonly isLocal: boolean;
  readonly isInZone: boolean;
};

interface FixNames {
  readonly providerId: string;
  readonly source: string;
  /** Its name, or the zone itself if the shard no longer has it. */
  readonly zone: string | Zone;
}

export interface EffectMember {
  readonly fenceId: string;
  readonly seenMs: number;
  readonly membership: Membership;
}

/** How to write an object. */
export interface HowToWrite {
  readonly withMembers: boolean;
  /** The offset of the effect of the provider whose place it shares; -1 if none. */
  readonly shared: number;
  /** Whether its place is that of a location in this step. */
  readonly isLocated: boolean;
  /** Whether the shard has a zone of that id. */
  readonly isKnown: (zone: Zone) => boolean;
}

/** Writes effects into memory that is reused by each step. */
export class EffectWriter extends GrowingBuffer {
  #at = 0;

  constructor(newBuffer: NewRecordBuffer) {
    super(newBuffer, BYTES_AT_FIRST);
  }

  /** Writes the effect of an object as it is now, and returns its offset. */
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
    } else if (fix === undefined) this.#u8((object.changes & CHANGED_SHARD) === 0 ? NOWHERE : ELSEWHERE);
    else this.#place(fix, how.isKnown);
    if (how.withMembers) {
      flags |= MEMBERS;
      this.#members(members);
    }
    this.view.setUint32(start, this.#at - start, true);
    this.view.setUint8(start + 4, flags);
    return start;
  }

  /** All effects since the last call. They are valid until the next one is written. */
  take(): Borrowed {
    const effects = lend(this.bytes.subarray(0, this.#at));
    this.#at = 0;
    return effects;
  }

  /** Frees memory beyond so many bytes. To be called between two steps. */
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

/** Decodes effects, in the order in which they were written. */
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
    const at = this.#u8();
    if (at !== PLACED) return { at: at === NOWHERE ? 'nowhere' : 'elsewhere' };
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
