import { look } from '../model/borrowed.ts';
import type { Clock } from '../time/clock.ts';
import type { PackedMotions } from '../wire/messages.ts';
import { type Bus, PAYLOAD_BYTES_MAX } from './bus.ts';
import { copiedInParts, packMotionsMessage } from './motion_message.ts';

/** What a hub has passed: items before that number are done, and what comes is received then or later, in running time. */
export interface Passed {
  readonly seq: number;
  readonly receivedMs: number;
}

export interface MotionsOutOptions {
  readonly bus: Pick<Bus, 'publish'>;
  /** Name of the cluster, with which all subjects begin. */
  readonly name: string;
  /** Member id of this hub. */
  readonly self: string;
  readonly clock: Pick<Clock, 'now' | 'timeOfDay' | 'setBacks'>;
  /** What the shards have passed. */
  passed(): Passed;
}

/** Bytes of motions in a message, about. */
const MESSAGE_BYTES = 1 << 20;
/** Bytes of retained motions. If the stage is farther behind, its next owner is only told where the trackables stand. */
const RETAINED_BYTES_MAX = 64 << 20;

const NOTHING: Passed = { seq: 0, receivedMs: 0 };

interface Held {
  readonly parts: readonly PackedMotions[];
  readonly bound: Passed;
}

/**
 * Sends the motions of this hub to the owner of the collision stage, those of a step once that is kept.
 *
 * What is let out in one turn leaves together, in messages of about a megabyte. Each has a number, whether it can be sent
 * or not: what was not sent is missing, and the receiver sees that it is. It also says what this hub has passed. The steps
 * that are not kept yet hold that back: by what was passed when the one before each of them was done.
 *
 * Motions are retained until the owner of the stage confirms that their events are published. They are sent again before the
 * answer where the trackables stand: to an owner that has missed a message, and to a new owner, which so evaluates every
 * motion since the last one that the old owner has published for. One that has come twice is recognized by its item.
 */
export class MotionsOut {
  readonly #options: MotionsOutOptions;
  #target: string | undefined;
  #number = 0;
  readonly #held = new Map<PackedMotions, Held>();
  #pending: PackedMotions[] = [];
  #pendingBytes = 0;
  #retained: PackedMotions[] = [];
  #retainedBytes = 0;
  /** The number of the last question that is answered. */
  #stood = 0;
  #isToFlush = false;
  /** As it was when this was called last. */
  #passed: Passed = NOTHING;
  /** What the receiver was told. */
  #told: Passed = NOTHING;

  constructor(options: MotionsOutOptions) {
    this.#options = options;
  }

  /** Whether it has sent anything but what it has passed. */
  hasSent = false;

  /** Sends to another hub from now on. */
  to(target: string): void {
    this.#target = target;
    this.#number = 0;
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#stood = 0;
    this.hasSent = false;
    this.#passed = this.#options.passed();
    this.#told = NOTHING;
  }

  /** Takes the motions of a step that is not kept yet. */
  stepped(motions: PackedMotions | undefined): void {
    // What was passed before this step was done, it is behind.
    const bound = this.#passed;
    this.#passed = this.#options.passed();
    if (motions !== undefined) this.#held.set(motions, { parts: copiedInParts(motions, MESSAGE_BYTES), bound });
  }

  /** The step with these motions is kept: returns them, where they were held. */
  released(motions: PackedMotions): readonly PackedMotions[] | undefined {
    const held = this.#held.get(motions);
    this.#held.delete(motions);
    return held?.parts;
  }

  /** Sends motions of steps that are kept. */
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

  /** Sends the retained motions again, in their order. */
  sendRetained(): void {
    this.#put(this.#retained);
  }

  /** The owner of the stage has published the events of all motions of items before that number. */
  confirmed(item: number): void {
    this.#retained = this.#retained.filter(({ lastSeq }) => lastSeq >= item);
    this.#retainedBytes = this.#retained.reduce((sum, { packed }) => sum + look(packed).length, 0);
  }

  /** Returns the retained motions, which are not retained any more. */
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
      // Nothing more is passed before the rest is sent.
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

  /** All has been handed to `send` of where the trackables stand, as the receiver has asked by that number. */
  stood(number: number): void {
    this.#stood = number;
    this.beat();
  }

  /** Sends what there is, and what this hub has passed. */
  beat(): void {
    this.#passed = this.#options.passed();
    let { seq, receivedMs } = this.#passed;
    for (const { bound } of this.#held.values()) {
      seq = Math.min(seq, bound.seq);
      receivedMs = Math.min(receivedMs, bound.receivedMs);
    }
    this.#told = { seq, receivedMs };
    this.#send();
  }

  #send(): void {
    const { bus, name, self, clock } = this.#options;
    const motions = this.#pending;
    this.#pending = [];
    this.#pendingBytes = 0;
    if (this.#target === undefined) return;
    const bytes = packMotionsMessage({
      from: self,
      number: ++this.#number,
      watermark: this.#told.seq,
      passedMs: clock.timeOfDay(this.#told.receivedMs),
      sentMs: clock.now(),
      setBacks: clock.setBacks,
      stood: this.#stood,
      motions,
    });
    if (bytes.length <= PAYLOAD_BYTES_MAX) bus.publish(`${name}.m.${this.#target}`, bytes);
  }
}
