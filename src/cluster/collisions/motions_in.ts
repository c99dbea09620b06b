import type { Clock } from '../../time/clock.ts';
import type { RemoteHubMotions, PackedMotions } from '../../wire/messages.ts';
import type { MotionsMessage } from '../messages/messages.ts';

/**
 * State of the other hubs at the owner of the collision stage: the time up to which their motions have arrived, and whether the
 * positions of their trackables are known.
 *
 *   a hub is    | when                                  | its trackables       | the stage waits for it
 *   ------------+---------------------------------------+----------------------+----------------------------------------
 *   requested   | it starts to own objects; this hub    | their positions are  | up to its watermark; not while it has
 *               | gets the stage; a message is lost;    | requested until it   | been silent for SILENT_MS, and not
 *               | the worker was replaced               | has sent all         | beyond that lag
 *   known       | it has sent all positions             | are known            | the same
 *   without any | it owns nothing any more; its         | are owned by others  | not at all
 *               | remaining messages are taken          |                      |
 *   removed     | it was expelled, or has left          | go to its successors | not at all
 *
 * Times of the other hub are converted to monotonic times of this one. Clocks must agree within some milliseconds; one that is
 * wrong by more than CLOCK_MS counts as right at the arrival of a message.
 */
export interface MotionsInOptions {
  readonly clock: Pick<Clock, 'monotonic' | 'monotonicTime'>;
  /** Requests the positions of all trackables of a hub. */
  ask(hub: string, number: number): void;
}

/** Silence and lag of a hub beyond which the others go on without it. */
export const SILENT_MS = 1000;
const CLOCK_MS = 1000;
/** Interval at which a request is repeated. */
const ASK_MS = 250;

/** Content of a message. */
export interface News extends Omit<RemoteHubMotions, 'motions'> {
  readonly motions: readonly PackedMotions[];
}

interface Sender {
  /** Monotonic times of this hub. */
  passedMs: number;
  lastSeenMs: number;
  /** See RemoteHubMotions. */
  behindMs: number;
  isOwner: boolean;
  isKnown: boolean;
  /** Undefined if there was no request since the positions were known, or at all. */
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

  /** Whether another hub owns objects, or may still send messages. */
  get isAny(): boolean {
    return this.#senders.size > 0;
  }

  /** Number of times that messages were lost. */
  get gaps(): number {
    return this.#gaps;
  }

  /** Sets the other hubs that own objects. */
  owners(owners: ReadonlySet<string>): void {
    const nowMs = this.#options.clock.monotonic();
    for (const [hub, sender] of this.#senders) if (!owners.has(hub)) sender.isOwner = false;
    for (const hub of owners) {
      const known = this.#senders.get(hub);
      if (known?.isOwner === true) continue;
      const times = { passedMs: nowMs, lastSeenMs: nowMs, behindMs: known?.behindMs ?? 0 };
      this.#senders.set(hub, { ...times, isOwner: true, isKnown: false, asked: undefined });
    }
    this.askDue();
    this.#tell();
  }

  /** Removes a member that was expelled or has left. */
  gone(hub: string): void {
    this.#senders.delete(hub);
    this.#tell();
  }

  /** Takes a message; undefined if it is unusable. `isLate`: it had to wait for earlier ones of its sender. */
  take(hub: string, message: MotionsMessage, isLate = false): News | undefined {
    const { watermark, clockSteps, stood, motions } = message;
    const sender = this.#senders.get(hub);
    if (sender === undefined) return undefined;
    const { clock } = this.#options;
    const nowMs = clock.monotonic();
    const offMs = nowMs - clock.monotonicTime(message.sentMs);
    // The clocks are compared by messages that arrive at once.
    if (!isLate) sender.behindMs = Math.abs(offMs) > CLOCK_MS ? offMs : 0;
    const { behindMs } = sender;
    sender.lastSeenMs = nowMs;
    sender.passedMs = Math.min(nowMs, clock.monotonicTime(message.passedMs) + behindMs);
    // An answer to an earlier request may precede what is missing.
    const isStood = !sender.isKnown && sender.asked !== undefined && stood >= sender.asked.number;
    sender.isKnown ||= isStood;
    this.#tell();
    return { hub, watermark, passedMs: sender.passedMs, clockSteps, isStood, behindMs, motions };
  }

  /** Messages of a hub are lost. */
  lost(hub: string): void {
    const sender = this.#senders.get(hub);
    if (sender === undefined) return;
    this.#gaps++;
    forget(sender);
  }

  /** Monotonic time up to which the motions of the others have arrived; Infinity without others. */
  untilMs(): number {
    const nowMs = this.#options.clock.monotonic();
    let untilMs = Number.POSITIVE_INFINITY;
    for (const { passedMs, lastSeenMs, isOwner } of this.#senders.values()) {
      if (!isOwner || nowMs - lastSeenMs > SILENT_MS) continue;
      untilMs = Math.min(untilMs, Math.max(passedMs, nowMs - SILENT_MS));
    }
    // The others may send again.
    return this.isAny ? Math.min(untilMs, nowMs) : untilMs;
  }

  /** Requests the positions of all trackables of all hubs again. Resolves when those have arrived whose hubs remain members. */
  standing(): Promise<void> {
    for (const sender of this.#senders.values()) forget(sender);
    this.askDue();
    if (this.#areKnown) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Requests unknown positions. Call it repeatedly. */
  askDue(): void {
    const nowMs = this.#options.clock.monotonic();
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
