import type { Clock } from '../time/clock.ts';
import type { OtherMotions, PackedMotions } from '../wire/messages.ts';
import type { MotionsMessage } from './motion_message.ts';

/**
 * What the owner of the collision stage knows of the other hubs that own objects: up to when their motions have come, and
 * whether it knows where their trackables stand.
 *
 *   a hub is    | when                                  | its trackables       | the stage waits for it
 *   ------------+---------------------------------------+----------------------+----------------------------------------
 *   to be asked | it owns objects from now on; this hub | it is asked where    | up to what it has passed; while it has
 *               | has the stage from now on; a message  | they stand, until it | been silent for SILENT_MS, and where it
 *               | is missing; the worker is a new one   | says that it has     | is farther behind than that, no longer
 *   known       | it has said that all stand            | are known            | the same
 *   without any | it owns nothing any more; what it has | are others' by now   | not at all
 *               | still to say is taken                 |                      |
 *   gone        | it is expelled, or has left           | are its heirs' soon  | not at all
 *
 * Times of the other hub are shown as running times of this one. Clocks are to be within some milliseconds; one that is
 * wrong by more than CLOCK_MS counts as if it was right when its message came.
 */
export interface MotionsInOptions {
  readonly clock: Pick<Clock, 'running' | 'runningTime'>;
  /** Asks a hub where all its trackables stand. */
  ask(hub: string, number: number): void;
}

/** For how long a hub may be silent, and how far behind, before the others go on without it. */
export const SILENT_MS = 1000;
const CLOCK_MS = 1000;
/** How often a hub is asked. */
const ASK_MS = 250;

/** What a message has brought. */
export interface News extends Omit<OtherMotions, 'motions'> {
  readonly motions: readonly PackedMotions[];
}

interface Sender {
  /** The number of its next message; undefined while none has come. */
  next: number | undefined;
  /** Running times of this hub. */
  passedMs: number;
  heardMs: number;
  isOwner: boolean;
  isKnown: boolean;
  /** Undefined where it is still to be asked since it was known, or at all. */
  asked: { readonly number: number; lastMs: number } | undefined;
}

export class MotionsIn {
  readonly #options: MotionsInOptions;
  readonly #senders = new Map<string, Sender>();
  #waiting: (() => void)[] = [];
  #gaps = 0;
  #questions = 0;

  constructor(options: MotionsInOptions) {
    this.#options = options;
  }

  /** Whether any other hub owns objects, or may still have something to say. */
  get isAny(): boolean {
    return this.#senders.size > 0;
  }

  /** How often a message was missing. */
  get gaps(): number {
    return this.#gaps;
  }

  /** Who else owns objects from now on. */
  owners(owners: ReadonlySet<string>): void {
    const nowMs = this.#options.clock.running();
    for (const [hub, sender] of this.#senders) if (!owners.has(hub)) sender.isOwner = false;
    for (const hub of owners) {
      const known = this.#senders.get(hub);
      if (known?.isOwner === true) continue;
      const { next } = known ?? {};
      const times = { passedMs: nowMs, heardMs: nowMs };
      this.#senders.set(hub, { next, ...times, isOwner: true, isKnown: false, asked: undefined });
    }
    this.askDue();
    this.#tell();
  }

  /** Another hub is expelled, or has left. */
  gone(hub: string): void {
    this.#senders.delete(hub);
    this.#tell();
  }

  /** Takes a message; undefined where nothing can be made of it. */
  take(message: MotionsMessage): News | undefined {
    const { from: hub, number, watermark, setBacks, stood, motions } = message;
    const sender = this.#senders.get(hub);
    if (sender === undefined) return undefined;
    const { next = number } = sender;
    if (number < next) return undefined;
    if (number > next) this.lost(hub);
    sender.next = number + 1;
    const { clock } = this.#options;
    const nowMs = clock.running();
    const offMs = nowMs - clock.runningTime(message.sentMs);
    const behindMs = Math.abs(offMs) > CLOCK_MS ? offMs : 0;
    sender.heardMs = nowMs;
    sender.passedMs = Math.min(nowMs, clock.runningTime(message.passedMs) + behindMs);
    // An answer to an earlier question may lie in front of what is missing.
    const isStood = !sender.isKnown && sender.asked !== undefined && stood >= sender.asked.number;
    sender.isKnown ||= isStood;
    this.#tell();
    return { hub, watermark, passedMs: sender.passedMs, setBacks, isStood, behindMs, motions };
  }

  /** Something is missing of what a hub has sent. */
  lost(hub: string): void {
    const sender = this.#senders.get(hub);
    if (sender === undefined) return;
    this.#gaps++;
    forget(sender);
  }

  /** Up to when the motions of the others have come, in running time; Infinity where there are none. */
  untilMs(): number {
    const nowMs = this.#options.clock.running();
    let untilMs = Number.POSITIVE_INFINITY;
    for (const { passedMs, heardMs, isOwner } of this.#senders.values()) {
      if (!isOwner || nowMs - heardMs > SILENT_MS) continue;
      untilMs = Math.min(untilMs, Math.max(passedMs, nowMs - SILENT_MS));
    }
    // The others may be heard of again.
    return this.isAny ? Math.min(untilMs, nowMs) : untilMs;
  }

  /** Has all hubs tell anew where their trackables stand. Resolves when they have, and those of them that are gone. */
  standing(): Promise<void> {
    for (const sender of this.#senders.values()) forget(sender);
    this.askDue();
    if (this.#areKnown) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Asks those of whom it is not known where their trackables stand. To be called again and again. */
  askDue(): void {
    const nowMs = this.#options.clock.running();
    for (const [hub, sender] of this.#senders) {
      const { isOwner, isKnown, asked } = sender;
      if (!isOwner || isKnown || (asked !== undefined && nowMs - asked.lastMs < ASK_MS)) continue;
      const number = asked?.number ?? ++this.#questions;
      sender.asked = { number, lastMs: nowMs };
      this.#options.ask(hub, number);
    }
  }

  get #areKnown(): boolean {
    return [...this.#senders.values()].every(({ isOwner, isKnown }) => isKnown || !isOwner);
  }

  #tell(): void {
    if (this.#waiting.length === 0 || !this.#areKnown) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

function forget(sender: Sender): void {
  sender.isKnown = false;
  sender.asked = undefined;
}
