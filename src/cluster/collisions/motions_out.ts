import { copied, lend, look } from '../../model/borrowed.ts';
import type { Clock } from '../../time/clock.ts';
import { type PackedMotions, unpackMotions } from '../../wire/messages.ts';
import { packMotions } from '../../wire/motion_bytes.ts';
import { MOTIONS } from '../messages/messages.ts';

/** Watermark of a hub: items before that number are done, and later motions are received then or later, in monotonic time. */
export interface Passed {
  readonly seq: number;
  readonly receivedMs: number;
}

export interface MotionsOutOptions {
  /** Sends a message to the owner of the stage. */
  send(target: string, message: Uint8Array): void;
  readonly clock: Pick<Clock, 'now' | 'wallClockTime' | 'clockSteps'>;
  /** Watermark of the shards. */
  passed(): Passed;
}

/** Approximate bytes of motions in a message. */
const MESSAGE_BYTES = 1 << 20;
/** Most bytes of retained motions. If the stage lags further, its next owner gets only the positions of the trackables. */
const RETAINED_BYTES_MAX = 64 << 20;

const NOTHING: Passed = { seq: 0, receivedMs: 0 };

interface Held {
  readonly parts: readonly PackedMotions[];
  readonly bound: Passed;
}

/**
 * Sends the motions of this hub to the owner of the collision stage, those of a step once it is journaled.
 *
 * Motions released in one turn leave together, in messages of about a megabyte. Each states the watermark of this hub. Steps
 * that are not journaled yet hold that back: it stays at the watermark before the earliest of them.
 *
 * Motions are retained until the owner of the stage confirms that their events are published. They are sent again before the
 * positions of the trackables: to an owner that has missed a message, and to a new owner, which so evaluates every motion since
 * the last one whose events are published. Duplicates are recognized by their items.
 */
export class MotionsOut {
  readonly #options: MotionsOutOptions;
  #target: string | undefined;
  readonly #held = new Map<PackedMotions, Held>();
  #pending: PackedMotions[] = [];
  #pendingBytes = 0;
  #retained: PackedMotions[] = [];
  #retainedBytes = 0;
  /** Number of the last request that is answered. */
  #stood = 0;
  #isToFlush = false;
  /** Watermark at the last call. */
  #passed: Passed = NOTHING;
  /** Watermark that the receiver has. */
  #reported: Passed = NOTHING;

  constructor(options: MotionsOutOptions) {
    this.#options = options;
  }

  /** Whether it has sent anything but watermarks. */
  hasSent = false;

  /** Sends to another hub from now on. */
  to(target: string): void {
    this.#target = target;
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#stood = 0;
    this.hasSent = false;
    this.#passed = this.#options.passed();
    this.#reported = NOTHING;
  }

  /** Takes the motions of a step that is not journaled yet. */
  stepped(motions: PackedMotions | undefined): void {
    // The watermark before this step was done bounds its motions.
    const bound = this.#passed;
    this.#passed = this.#options.passed();
    if (motions !== undefined) this.#held.set(motions, { parts: copiedInParts(motions, MESSAGE_BYTES), bound });
  }

  /** The step with these motions is journaled: returns them if they were held. */
  released(motions: PackedMotions): readonly PackedMotions[] | undefined {
    const held = this.#held.get(motions);
    this.#held.delete(motions);
    return held?.parts;
  }

  /** Sends motions of journaled steps. */
  send(motions: readonly PackedMotions[]): void {
    for (const part of motions) {
      this.#retained.push(part);
      this.#retainedBytes += look(part.packed).length;
    }
    while (this.#retainedBytes > RETAINED_BYTES_MAX) {
      this.#retainedBytes -= look((this.#retained.shift() as PackedMotions).packed).length;
    }
    this.#put(motions);
  }

  /** Sends the retained motions again, in order. */
  sendRetained(): void {
    this.#put(this.#retained);
  }

  /** The owner of the stage has published the events of all motions of items before that number. */
  confirmed(item: number): void {
    this.#retained = this.#retained.filter(({ lastSeq }) => lastSeq >= item);
    this.#retainedBytes = this.#retained.reduce((sum, { packed }) => sum + look(packed).length, 0);
  }

  /** Returns the retained motions, and retains them no longer. */
  takeRetained(): readonly PackedMotions[] {
    const retained = this.#retained;
    this.#retained = [];
    this.#retainedBytes = 0;
    return retained;
  }

  #put(motions: readonly PackedMotions[]): void {
    if (motions.length === 0) return;
    for (const part of motions) {
      const { length } = look(part.packed);
      // The watermark does not rise before the rest is sent.
      if (this.#pendingBytes + length > MESSAGE_BYTES) this.#send();
      this.#pending.push(part);
      this.#pendingBytes += length;
    }
    this.hasSent = true;
    if (this.#isToFlush) return;
    this.#isToFlush = true;
    queueMicrotask(() => {
      this.#isToFlush = false;
      if (this.#pending.length > 0) this.beat();
    });
  }

  /** All positions that the receiver has requested by that number were passed to `send`. */
  stood(number: number): void {
    this.#stood = number;
    this.beat();
  }

  /** Sends pending motions, and the watermark of this hub. */
  beat(): void {
    this.#passed = this.#options.passed();
    let { seq, receivedMs } = this.#passed;
    for (const { bound } of this.#held.values()) {
      seq = Math.min(seq, bound.seq);
      receivedMs = Math.min(receivedMs, bound.receivedMs);
    }
    this.#reported = { seq, receivedMs };
    this.#send();
  }

  #send(): void {
    const { send, clock } = this.#options;
    const motions = this.#pending;
    this.#pending = [];
    this.#pendingBytes = 0;
    if (this.#target === undefined) return;
    const message = MOTIONS.pack({
      watermark: this.#reported.seq,
      passedMs: clock.wallClockTime(this.#reported.receivedMs),
      sentMs: clock.now(),
      clockSteps: clock.clockSteps,
      stood: this.#stood,
      motions,
    });
    send(this.#target, message);
  }
}

/** Copies motions into their own memory, in parts of about that many bytes. */
function copiedInParts({ packed, lastSeq }: PackedMotions, bytesMax: number): readonly PackedMotions[] {
  const own = copied(packed);
  if (own.length <= bytesMax) return [{ packed: lend(own), lastSeq }];
  const motions = unpackMotions(own);
  const count = Math.max(1, Math.floor((motions.length * bytesMax) / own.length));
  const parts: PackedMotions[] = [];
  for (let at = 0; at < motions.length; at += count) {
    const part = motions.slice(at, at + count);
    parts.push({ packed: lend(copied(packMotions(part))), lastSeq: part.at(-1)?.seq ?? lastSeq });
  }
  return parts;
}
