import { type Borrowed, lend } from '../../model/borrowed.ts';

/**
 * Ring buffer of frames in memory that two threads share: one of them writes, the other reads, and neither waits. With nothing
 * to read, the reader goes to sleep. The writer then finds out, once, that it must wake it with a message between threads.
 * While it is awake, the reader finds new frames by itself.
 *
 * Positions count bytes, modulo 2^32. A frame is never split: a size of 0 says that the next one begins at the start of the
 * ring:
 *
 *     0  u32 bytes of the frame, a multiple of 8       4  u16 kind, u16 flags
 *     8  u32 id, u32 area                             16  u32 bytes of subject, of reply, of body, u32 length
 *    32  f64 first, second, third                     56  subject, reply (Latin-1), body
 */
const [SIZE, KIND, FLAGS, ID, AREA, SUBJECT, REPLY, BODY, LENGTH, FIRST, SECOND, THIRD] = [
  0, 4, 6, 8, 12, 16, 20, 24, 28, 32, 40, 48,
] as const;
const HEAD_BYTES = 56;
/** More than a frame ever takes besides its body. */
const FRAME_BYTES = 1024;
/** Indexes into the memory for control. */
const [WRITTEN, READ, SLEEPS] = [0, 1, 2] as const;
const CONTROL_BYTES = 16;

/** Memory that both threads share. */
export interface SharedRing {
  readonly control: SharedArrayBuffer;
  readonly frames: SharedArrayBuffer;
}

/** Members that are left out are 0, or empty. */
export interface FrameFields {
  readonly kind: number;
  readonly flags?: number;
  readonly id?: number;
  readonly area?: number;
  readonly length?: number;
  readonly subject?: string;
  readonly reply?: string;
  readonly body?: Uint8Array;
  readonly first?: number;
  readonly second?: number;
  readonly third?: number;
}

/** Makes a ring. `bytes`: its size, a power of two, at least twice that of the largest frame. */
export function newRing(bytes: number): SharedRing {
  const control = new SharedArrayBuffer(CONTROL_BYTES);
  Atomics.store(new Int32Array(control), SLEEPS, 1);
  return { control, frames: new SharedArrayBuffer(bytes) };
}

/** Writer of a ring. */
export class FrameWriter {
  readonly #control: Int32Array;
  readonly #bytes: Buffer;
  readonly #view: DataView;
  readonly #length: number;

  constructor({ control, frames }: SharedRing) {
    this.#control = new Int32Array(control);
    this.#bytes = Buffer.from(frames);
    this.#view = new DataView(frames);
    this.#length = frames.byteLength;
  }

  /** Writes a frame. Returns false, and writes nothing, if there is no room. Hot path. */
  write(frame: FrameFields): boolean {
    const { subject = '', reply = '', body } = frame;
    const bodyBytes = body?.length ?? 0;
    const size = (HEAD_BYTES + subject.length + reply.length + bodyBytes + 7) & ~7;
    const at = this.#place(size);
    if (at < 0) return false;
    const view = this.#view;
    view.setUint32(at + SIZE, size, true);
    view.setUint16(at + KIND, frame.kind, true);
    view.setUint16(at + FLAGS, frame.flags ?? 0, true);
    view.setUint32(at + ID, frame.id ?? 0, true);
    view.setUint32(at + AREA, frame.area ?? 0, true);
    view.setUint32(at + SUBJECT, subject.length, true);
    view.setUint32(at + REPLY, reply.length, true);
    view.setUint32(at + BODY, bodyBytes, true);
    view.setUint32(at + LENGTH, frame.length ?? 0, true);
    view.setFloat64(at + FIRST, frame.first ?? 0, true);
    view.setFloat64(at + SECOND, frame.second ?? 0, true);
    view.setFloat64(at + THIRD, frame.third ?? 0, true);
    let to = at + HEAD_BYTES;
    to += this.#bytes.write(subject, to, 'latin1');
    to += this.#bytes.write(reply, to, 'latin1');
    if (body !== undefined) this.#bytes.set(body, to);
    Atomics.store(this.#control, WRITTEN, (this.#written + size) | 0);
    return true;
  }

  /** Whether there is room now for `frames` frames with `bytes` bytes in all, and `largest` in the largest of them. */
  hasRoomFor(bytes: number, { frames, largest }: { readonly frames: number; readonly largest: number }): boolean {
    const used = (this.#written - Atomics.load(this.#control, READ)) >>> 0;
    return used + bytes + frames * FRAME_BYTES + largest <= this.#length;
  }

  /** Whether to wake the reader now; true once each time that it goes to sleep. */
  wakes(): boolean {
    return Atomics.exchange(this.#control, SLEEPS, 0) === 1;
  }

  /** Blocks until the reader has released something, or the time is over. For threads that may block. */
  waitForRoom(timeoutMs: number): void {
    const read = Atomics.load(this.#control, READ);
    if ((this.#written - read) >>> 0 === 0) return;
    Atomics.wait(this.#control, READ, read, timeoutMs);
  }

  get #written(): number {
    return Atomics.load(this.#control, WRITTEN);
  }

  /** Offset at which that many bytes may be written; below 0 if there is no room. */
  #place(size: number): number {
    const used = (this.#written - Atomics.load(this.#control, READ)) >>> 0;
    const at = (this.#written >>> 0) % this.#length;
    const toEnd = this.#length - at;
    if (size <= toEnd) return used + size <= this.#length ? at : -1;
    if (used + toEnd + size > this.#length) return -1;
    this.#view.setUint32(at + SIZE, 0, true);
    Atomics.store(this.#control, WRITTEN, (this.#written + toEnd) | 0);
    return 0;
  }
}

/** Reader of a ring: a view of one frame after another. Its views are valid until `release`. */
export class FrameReader {
  readonly #control: Int32Array;
  readonly #bytes: Buffer;
  readonly #view: DataView;
  readonly #length: number;
  #at = 0;
  /** Position of the next frame; those before it may not have been released yet. */
  #next = 0;

  constructor({ control, frames }: SharedRing) {
    this.#control = new Int32Array(control);
    this.#bytes = Buffer.from(frames);
    this.#view = new DataView(frames);
    this.#length = frames.byteLength;
    this.#next = Atomics.load(this.#control, READ);
  }

  /** Moves on to the next frame. False at the end. Hot path. */
  next(): boolean {
    for (;;) {
      if (Atomics.load(this.#control, WRITTEN) === this.#next) return false;
      this.#at = (this.#next >>> 0) % this.#length;
      const size = this.#view.getUint32(this.#at + SIZE, true);
      this.#next = (this.#next + (size || this.#length - this.#at)) | 0;
      if (size > 0) return true;
    }
  }

  /** Gives the room of all frames read so far back to the writer. */
  release(): void {
    Atomics.store(this.#control, READ, this.#next);
    Atomics.notify(this.#control, READ);
  }

  /** Goes to sleep. False if something has arrived in the meantime, so that the reader stays awake. */
  sleeps(): boolean {
    Atomics.store(this.#control, SLEEPS, 1);
    if (Atomics.load(this.#control, WRITTEN) === this.#next) return true;
    return Atomics.exchange(this.#control, SLEEPS, 0) === 0;
  }

  // The fields of the current frame; `size` is that of the whole frame in bytes.

  get size(): number {
    return this.#view.getUint32(this.#at + SIZE, true);
  }

  get kind(): number {
    return this.#view.getUint16(this.#at + KIND, true);
  }

  get flags(): number {
    return this.#view.getUint16(this.#at + FLAGS, true);
  }

  get id(): number {
    return this.#view.getUint32(this.#at + ID, true);
  }

  get area(): number {
    return this.#view.getUint32(this.#at + AREA, true);
  }

  get length(): number {
    return this.#view.getUint32(this.#at + LENGTH, true);
  }

  get first(): number {
    return this.#view.getFloat64(this.#at + FIRST, true);
  }

  get second(): number {
    return this.#view.getFloat64(this.#at + SECOND, true);
  }

  get third(): number {
    return this.#view.getFloat64(this.#at + THIRD, true);
  }

  get subject(): string {
    const from = this.#at + HEAD_BYTES;
    return this.#bytes.toString('latin1', from, from + this.#view.getUint32(this.#at + SUBJECT, true));
  }

  get reply(): string {
    const from = this.#at + HEAD_BYTES + this.#view.getUint32(this.#at + SUBJECT, true);
    return this.#bytes.toString('latin1', from, from + this.#view.getUint32(this.#at + REPLY, true));
  }

  get body(): Borrowed {
    const view = this.#view;
    const from =
      this.#at + HEAD_BYTES + view.getUint32(this.#at + SUBJECT, true) + view.getUint32(this.#at + REPLY, true);
    return lend(this.#bytes.subarray(from, from + view.getUint32(this.#at + BODY, true)));
  }
}
