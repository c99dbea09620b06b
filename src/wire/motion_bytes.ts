import { GrowingBuffer } from '../core/growing_buffer.ts';
import { UTF8_MAX } from '../core/json_bytes.ts';
import type { Motion, TrackableMotion, TrackableRemoved } from '../core/motion/motion.ts';
import { type Borrowed, lend } from '../model/borrowed.ts';
import { newRecordBuffer } from './location_record.ts';

/**
 * Motions as msgpack, in the form that msgpackr gives them: a list of records, each of which refers to the names of its
 * members. These names are known, so they are written here in a fraction of the time. `unpackMotions` reads them, as do
 * hubs that pack motions with msgpackr.
 */

/** Members in the order in which they are written. The compiler checks that none is missing. */
const MOTION_NAMES: Record<keyof TrackableMotion, true> = {
  kind: true,
  seq: true,
  id: true,
  receivedMs: true,
  eventTimeMs: true,
  lon: true,
  lat: true,
  z: true,
  elevationRef: true,
  levelMeters: true,
  floor: true,
  extrusion: true,
  collides: true,
  radiusMeters: true,
  ring: true,
  exitToleranceMeters: true,
  toleranceTimeoutMs: true,
  exitDelayMs: true,
  providers: true,
  ancestors: true,
};
const REMOVAL_NAMES: Record<keyof TrackableRemoved, true> = { kind: true, seq: true, id: true, receivedMs: true };

/** Types of msgpack, and the extensions of msgpackr for undefined, typed arrays and definitions of records. */
const [TRUE, FALSE, FLOAT64, UINT32, EXT32, FIXEXT1] = [0xc3, 0xc2, 0xcb, 0xce, 0xc9, 0xd4] as const;
const [FIXSTR, STR8, STR32, FIXARRAY, ARRAY16, ARRAY32] = [0xa0, 0xd9, 0xdb, 0x90, 0xdc, 0xdd] as const;
const [TYPED_ARRAY, FLOAT64_ARRAY, DEFINITION] = [0x74, 8, 0x72] as const;
/** Largest number in a single byte, since from 64 on bytes refer to records, and longest list with its length in one. */
const [FIXINT_MAX, FIXARRAY_MAX] = [63, 15] as const;
/** Longest string with its length in the first byte, and longest one that is faster to copy here. */
const [FIXSTR_MAX, SHORT_MAX] = [31, 64] as const;

/** Numbers of the two forms of records, from 0x40. */
const [MOTION, REMOVAL] = [0x40, 0x41] as const;
const DEFINITIONS = [definition(MOTION, MOTION_NAMES), definition(REMOVAL, REMOVAL_NAMES)] as const;

const INITIAL_BYTES = 1 << 14;
/** Maximum bytes of a record without the contents of its strings, its lists and its ring; with a definition. */
const FIXED_MAX = 512;
/** Maximum bytes before the contents of a string. */
const STRING_HEAD = 5;

class MotionWriter extends GrowingBuffer {
  #at = 0;

  // hot
  pack(motions: readonly Motion[]): Borrowed {
    this.#at = 0;
    this.#byte(ARRAY32);
    this.#u32(motions.length);
    const isDefined = [false, false];
    for (const motion of motions) {
      this.reserve(this.#at + bytesMax(motion), this.#at);
      const form = motion.kind === 'gone' ? REMOVAL : MOTION;
      if (isDefined[form - MOTION] === true) this.#byte(form);
      else this.#copy(DEFINITIONS[form - MOTION] as Uint8Array);
      isDefined[form - MOTION] = true;
      this.#string(motion.kind);
      this.#number(motion.seq);
      this.#string(motion.id);
      this.#number(motion.receivedMs);
      if (motion.kind !== 'gone') this.#rest(motion);
    }
    return lend(this.bytes.subarray(0, this.#at));
  }

  /** Frees memory beyond the initial size. */
  tidy(): void {
    this.shrink(INITIAL_BYTES, 0);
  }

  /** Writes the members that a removal does not have. */
  // hot
  #rest(motion: TrackableMotion): void {
    this.#number(motion.eventTimeMs);
    this.#number(motion.lon);
    this.#number(motion.lat);
    this.#number(motion.z);
    this.#string(motion.elevationRef);
    this.#number(motion.levelMeters);
    this.#number(motion.floor);
    this.#number(motion.extrusion);
    this.#byte(motion.collides ? TRUE : FALSE);
    this.#number(motion.radiusMeters);
    this.#ring(motion.ring);
    this.#number(motion.exitToleranceMeters);
    this.#number(motion.toleranceTimeoutMs);
    this.#number(motion.exitDelayMs);
    this.#strings(motion.providers);
    this.#strings(motion.ancestors);
  }

  // hot
  #number(value: number | undefined): void {
    if (value === undefined) {
      this.#undefined();
      return;
    }
    // Readers hold small whole numbers without memory of their own, unless these come as floats.
    if (value >>> 0 === value && !Object.is(value, -0)) {
      if (value > FIXINT_MAX) {
        this.#byte(UINT32);
        this.#u32(value);
      } else this.#byte(value);
      return;
    }
    this.bytes[this.#at] = FLOAT64;
    this.view.setFloat64(this.#at + 1, value);
    this.#at += 9;
  }

  #undefined(): void {
    this.bytes[this.#at] = FIXEXT1;
    this.bytes[this.#at + 1] = 0;
    this.bytes[this.#at + 2] = 0;
    this.#at += 3;
  }

  #ring(ring: Float64Array | undefined): void {
    if (ring === undefined) {
      this.#undefined();
      return;
    }
    this.#byte(EXT32);
    this.#u32(ring.byteLength + 1);
    this.#byte(TYPED_ARRAY);
    this.#byte(FLOAT64_ARRAY);
    this.#copy(new Uint8Array(ring.buffer, ring.byteOffset, ring.byteLength));
  }

  // hot
  #strings(texts: readonly string[]): void {
    if (texts.length > FIXARRAY_MAX) {
      this.#byte(ARRAY32);
      this.#u32(texts.length);
    } else this.#byte(FIXARRAY | texts.length);
    for (const text of texts) this.#string(text);
  }

  // hot
  #string(text: string): void {
    const { bytes } = this;
    const start = this.#at;
    const { length } = text;
    if (length <= SHORT_MAX) {
      const at = length <= FIXSTR_MAX ? start + 1 : start + 2;
      let i = 0;
      for (; i < length; i++) {
        const code = text.charCodeAt(i);
        if (code > 0x7f) break;
        bytes[at + i] = code;
      }
      if (i === length) {
        bytes[start] = length <= FIXSTR_MAX ? FIXSTR | length : STR8;
        if (length > FIXSTR_MAX) bytes[start + 1] = length;
        this.#at = at + length;
        return;
      }
    }
    const written = bytes.write(text, start + STRING_HEAD);
    bytes[start] = STR32;
    this.view.setUint32(start + 1, written);
    this.#at = start + STRING_HEAD + written;
  }

  #byte(value: number): void {
    this.bytes[this.#at++] = value;
  }

  #u32(value: number): void {
    this.view.setUint32(this.#at, value);
    this.#at += 4;
  }

  #copy(from: Uint8Array): void {
    this.bytes.set(from, this.#at);
    this.#at += from.length;
  }
}

const writer = new MotionWriter(newRecordBuffer, INITIAL_BYTES);

/** Packs motions into bytes that are valid until the next call. */
export function packMotions(motions: readonly Motion[]): Borrowed {
  return writer.pack(motions);
}

/** Frees unused memory. Invalidates the bytes of the last call. */
export function tidyMotions(): void {
  writer.tidy();
}

// hot
function bytesMax(motion: Motion): number {
  if (motion.kind === 'gone') return FIXED_MAX + UTF8_MAX * motion.id.length;
  const { id, elevationRef, ring, providers, ancestors } = motion;
  let bytes = FIXED_MAX + UTF8_MAX * (id.length + elevationRef.length) + (ring === undefined ? 0 : ring.byteLength);
  for (const text of providers) bytes += STRING_HEAD + UTF8_MAX * text.length;
  for (const text of ancestors) bytes += STRING_HEAD + UTF8_MAX * text.length;
  return bytes;
}

/** Returns the definition of a form of records: its number and the names of its members. */
function definition(form: number, names: Readonly<Record<string, true>>): Uint8Array {
  const keys = Object.keys(names);
  const packed = keys.flatMap((key) => [FIXSTR | key.length, ...Buffer.from(key)]);
  return Uint8Array.from([FIXEXT1, DEFINITION, form, ARRAY16, 0, keys.length, ...packed]);
}
