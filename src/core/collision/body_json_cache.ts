// hot: see bench/kernel/collisions.bench.ts

import { asciiBytes, NUMBER_BYTES_MAX, put, putNumber } from '../json_bytes.ts';
import type { NewRecordBuffer, RecordBuffer, Utf8Bytes } from '../location/record.ts';
import type { TrackableMotion } from '../motion/motion.ts';
import {
  CIRCLE_BYTES_MAX,
  OUT_OF_PLANE,
  type OutputPlane,
  POINT_BYTES_MAX,
  polygonBytesMax,
  putCircle,
  putPoint,
  putPolygon,
} from '../motion/shape_bytes.ts';
import type { Body } from './body.ts';

/** Size of the cache: about two thousand circles. */
const CACHE_BYTES = 4 << 20;

const ID = asciiBytes('{"id":');
const POSITION = asciiBytes(',"object_type":"trackable","position":');
const GEOMETRY = asciiBytes(',"geometry":');
const FLOOR = asciiBytes(',"floor":');
const CLOSING_BRACE = 0x7d;
/** Maximum bytes of a character of an id as JSON, as in \u001f. */
const ESCAPED_MAX = 6;
/** Maximum bytes of a trackable's JSON besides its id and polygon. */
const REST_MAX =
  ID.length + POSITION.length + GEOMETRY.length + FLOOR.length + 2 * POINT_BYTES_MAX + NUMBER_BYTES_MAX + 3;

/** A subscribed rendering: its index and output plane. */
export interface BodyRendering {
  readonly index: number;
  readonly plane: OutputPlane;
}

/**
 * Caches each trackable's JSON in events, polygon included, as bytes. In a crowd, most events repeat the same
 * neighbors. An entry is valid until the trackable moves. When the memory is full, the whole cache is cleared.
 */
export class BodyJsonCache {
  readonly #newBuffer: NewRecordBuffer;
  #buffer: RecordBuffer | undefined;
  #used = 0;
  /** Entries of earlier rounds are invalid. */
  #round = 1;

  constructor(newBuffer: NewRecordBuffer) {
    this.#newBuffer = newBuffer;
  }

  forgetAll(): void {
    this.#round++;
    this.#used = 0;
  }

  /** Caches the JSON of both bodies and returns its size in bytes; undefined if a body is out of range of the plane. */
  prepare(a: Body, b: Body, rendering: BodyRendering): number | undefined {
    const buffer = this.#withRoomFor(bytesMax(a.motion) + bytesMax(b.motion));
    const first = this.#lengthOf(buffer, a, rendering);
    if (first === OUT_OF_PLANE) return undefined;
    const second = this.#lengthOf(buffer, b, rendering);
    return second === OUT_OF_PLANE ? undefined : first + second;
  }

  /** Copies a cached entry and returns the offset after it. */
  copy({ texts }: Body, index: number, to: Utf8Bytes, at: number): number {
    return at + this.#buffer!.bytes.copy(to, at, texts[2 * index]!, texts[2 * index + 1]!);
  }

  #withRoomFor(most: number): RecordBuffer {
    const buffer = this.#buffer;
    if (buffer !== undefined && this.#used + most <= buffer.bytes.length) return buffer;
    this.forgetAll();
    if (buffer !== undefined && most <= buffer.bytes.length) return buffer;
    this.#buffer = this.#newBuffer(Math.max(CACHE_BYTES, most));
    return this.#buffer;
  }

  #lengthOf(buffer: RecordBuffer, body: Body, { index, plane }: BodyRendering): number {
    const { texts } = body;
    if (body.jsonRound !== this.#round) {
      body.jsonRound = this.#round;
      texts.length = 0;
    }
    while (texts.length < 2 * index + 2) texts.push(0);
    if (texts[2 * index + 1] === 0) {
      const end = write(buffer, this.#used, body.motion, plane);
      if (end === OUT_OF_PLANE) return OUT_OF_PLANE;
      texts[2 * index] = this.#used;
      texts[2 * index + 1] = end;
      this.#used = end;
    }
    return texts[2 * index + 1]! - texts[2 * index]!;
  }
}

function bytesMax({ id, ring }: TrackableMotion): number {
  return REST_MAX + ESCAPED_MAX * id.length + (ring === undefined ? CIRCLE_BYTES_MAX : polygonBytesMax(ring.length));
}

/** Writes one trackable of a CollisionEvent (see Collision). Returns the offset after it, or OUT_OF_PLANE. */
function write(to: RecordBuffer, start: number, motion: TrackableMotion, plane: OutputPlane): number {
  const { bytes } = to;
  let at = put(bytes, start, ID);
  at += bytes.write(JSON.stringify(motion.id), at);
  at = putPoint(to, put(bytes, at, POSITION), motion, plane);
  if (at === OUT_OF_PLANE) return OUT_OF_PLANE;
  at = putGeometry(to, put(bytes, at, GEOMETRY), motion, plane);
  if (at === OUT_OF_PLANE) return OUT_OF_PLANE;
  at = putNumber(to, put(bytes, at, FLOOR), motion.floor);
  bytes[at] = CLOSING_BRACE;
  return at + 1;
}

function putGeometry(to: RecordBuffer, at: number, motion: TrackableMotion, plane: OutputPlane): number {
  const { ring, radiusMeters } = motion;
  if (ring !== undefined) return putPolygon(to, at, ring, plane);
  return radiusMeters > 0 ? putCircle(to, at, motion, plane) : putPoint(to, at, motion, plane);
}
