import type { EncodedEvents } from '../../core/entity_write.ts';
import type { FenceEventPosition } from '../../wire/fence_events.ts';
import { type ClusterContext, pause } from '../context.ts';
import { lastOf, tried } from '../nats/attempts.ts';
import { type LoggedSoFar, type LogWatermark, packLogMessage, readLogMessage } from './log_message.ts';
import { eventStream, eventSubject } from './log_stream.ts';

/**
 * Appends events to the event log of the cluster, in order: one message at a time.
 *
 * The events of a writer (THEORY.md, rule 11) are all on its own subject, and each message there names those that the log has.
 * An append expects the last sequence of the subject that its author has read. So of several authors, such as a removed member
 * and its successors, one is first; the others read which events it has appended, and append only the rest:
 *
 *   result    | meaning                                  | action
 *   ----------+------------------------------------------+----------------------------------------------------------------
 *   committed | the events are in the log                | append the next message
 *   refused   | another message is last                  | read it, and append what it does not name
 *   unknown   | it may be stored already, or later       | the same, a moment later
 *   full      | the server has no room                   | retry a moment later
 *   busy      | the queue of the bus is full             | retry a moment later
 *   failure   | the call is wrong, or is not allowed     | drop the events: readers find a gap
 */
export interface EventAppenderOptions
  extends Pick<ClusterContext, 'bus' | 'name' | 'incarnation' | 'notice' | 'now' | 'schedule'> {
  /** Number of the first message of this hub's journal that may contain a step whose outcome is released now. */
  journaledFrom(): number;
  /** Bytes of pending events beyond which further ones are dropped; 64 MiB if left out. */
  readonly heldMax?: number;
}

/** Consecutive events of one writer, which are appended together. */
export interface PendingEvents {
  /** The member that produced them, or one of the writers below. */
  readonly of: string;
  readonly events: EncodedEvents;
  /** Position of the last one; undefined for events that are lost if their author fails. */
  readonly position?: FenceEventPosition | undefined;
  /** Identifies the events where positions of different authors do not agree. */
  readonly key?: string | undefined;
}

/** Writer of the starts and ends of collisions: the owner of the collision stage. */
export const COLLISIONS = 'collisions';
/** Writer of changes in the configuration log: the first member. */
export const CONFIG = 'config';

const APPEND_MS = 2000;
const AGAIN_MS = 100;
const HELD_MAX = 64 << 20;
/** Approximate size of a message, and most events of one. */
const MESSAGE_BYTES = 512 << 10;
export const MESSAGE_EVENTS = 10_000;

/** Known content of a subject. */
interface Subject extends LoggedSoFar {
  /** Of the last message; 0 for none. */
  readonly sequence: number;
}

interface Queued {
  readonly item: PendingEvents;
  readonly from: number;
  /** Whether events before it were dropped. */
  hasLost: boolean;
}

interface Waiter {
  readonly until: number;
  resolve(): void;
  reject(error: Error): void;
}

export class EventAppender {
  readonly #options: EventAppenderOptions;
  readonly #subjects = new Map<string, Subject>();
  #queue: Queued[] = [];
  #heldBytes = 0;
  #added = 0;
  #done = 0;
  #waiters: Waiter[] = [];
  #number = 0;
  #isAppending = false;
  /** Whether events were dropped after all pending ones. */
  #hasLost = false;
  #isReported = false;
  #closed: Error | undefined;

  constructor(options: EventAppenderOptions) {
    this.#options = options;
    this.#subjects.set(options.incarnation, newSubject(options.incarnation));
  }

  /** Bytes of pending events. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Number of the first message of this hub's journal that may have pending events; Infinity without any. */
  get pendingFrom(): number {
    return this.#queue[0]?.from ?? Infinity;
  }

  /** Appends events after all earlier ones. Call it once they can no longer change. */
  add(item: PendingEvents): void {
    if (this.#closed !== undefined) return;
    if (this.#heldBytes + item.events.bytes.length > (this.#options.heldMax ?? HELD_MAX)) {
      this.#hasLost = true;
      this.#report('too many of them wait');
      return;
    }
    this.#queue.push({ item, from: this.#options.journaledFrom(), hasLost: this.#hasLost });
    this.#hasLost = false;
    this.#heldBytes += item.events.bytes.length;
    this.#added++;
    if (!this.#isAppending) void this.#appendAll();
  }

  /** Resolves when everything added so far is in the log, or was dropped. Rejects if this hub cannot append any more. */
  settled(): Promise<void> {
    if (this.#closed !== undefined) return Promise.reject(this.#closed);
    if (this.#done === this.#added) return Promise.resolve();
    return new Promise((resolve, reject) => this.#waiters.push({ until: this.#added, resolve, reject }));
  }

  /**
   * Names all events of a writer up to a step by that step, instead of by their keys. The steps of its authors must increase
   * from each to its successor. Only a former author still has some of these events: their steps are earlier.
   */
  forget(of: string, upToStep: number): void {
    const subject = this.#subjects.get(of);
    if (subject === undefined) return;
    const keys = new Map([...subject.keys].filter(([, step]) => step > upToStep));
    this.#subjects.set(of, { ...subject, keys, watermarks: new Map([[0, [upToStep + 1, -1]]]) });
  }

  /** Stops appending. */
  close(error = new Error('The event log is closed')): void {
    if (this.#closed !== undefined) return;
    this.#closed = error;
    this.#queue = [];
    this.#heldBytes = 0;
    for (const { reject } of this.#waiters.splice(0)) reject(error);
  }

  /** Never rejects. */
  async #appendAll(): Promise<void> {
    this.#isAppending = true;
    // Further events of this turn go into the same message.
    await Promise.resolve();
    while (this.#queue.length > 0) {
      const batch = this.#nextBatch();
      let hasLost = this.#queue[0]?.hasLost === true;
      try {
        const isStored = await this.#append(batch, hasLost);
        hasLost &&= !isStored;
      } catch (error) {
        hasLost = true;
        if (this.#closed === undefined) this.#report((error as Error).message);
      }
      if (this.#closed !== undefined) break;
      this.#queue.splice(0, batch.length);
      const [next] = this.#queue;
      if (hasLost && next !== undefined) next.hasLost = true;
      else this.#hasLost ||= hasLost;
      for (const { events } of batch) this.#heldBytes -= events.bytes.length;
      this.#done += batch.length;
      const still = this.#waiters.findIndex(({ until }) => until > this.#done);
      for (const { resolve } of this.#waiters.splice(0, still < 0 ? this.#waiters.length : still)) resolve();
    }
    this.#isAppending = false;
  }

  /** The first pending events of one writer that fit into a message. */
  #nextBatch(): readonly PendingEvents[] {
    const batch: PendingEvents[] = [];
    let [bytes, count] = [0, 0];
    for (const { item, hasLost } of this.#queue) {
      bytes += item.events.bytes.length;
      count += item.events.count;
      const isFull = bytes > MESSAGE_BYTES || count > MESSAGE_EVENTS;
      if (batch[0] !== undefined && (isFull || hasLost || batch[0].of !== item.of)) break;
      batch.push(item);
    }
    return batch;
  }

  /**
   * Resolves when the log has the events, with whether a message of this hub has stored them. Rejects with a BusError if they
   * can never be appended. `hasLost`: events before them were dropped.
   */
  async #append(batch: readonly PendingEvents[], hasLost: boolean): Promise<boolean> {
    const { bus, name, incarnation } = this.#options;
    const of = (batch[0] as PendingEvents).of;
    /** Number of the first message that may be stored although the server did not say so. */
    let uncertain: number | undefined;
    while (this.#closed === undefined) {
      const known = this.#subjects.get(of) ?? (await this.#read(of));
      if (this.#closed !== undefined) return false;
      if (known === undefined) {
        await pause(this.#options, AGAIN_MS);
        continue;
      }
      if (of === incarnation && known.author !== incarnation) {
        this.close(new Error(`Member "${known.author}" appends the events of this one, which was removed`));
        return false;
      }
      this.#subjects.set(of, known);
      if (uncertain !== undefined && known.author === incarnation && known.number >= uncertain) {
        this.#reportEnd();
        return true;
      }
      const missing = batch.filter((item) => {
        return item.position === undefined ? uncertain === undefined : !isLogged(item, item.position, known);
      });
      if (missing.length === 0) return false;
      const next = this.#after(known, of, missing);
      const message = packLogMessage({
        ...next,
        timeMs: this.#options.now(),
        events: joined(missing),
        hasLost,
      });
      const append = bus.append({
        ...{ stream: eventStream(name), subject: eventSubject(name, of), bytes: message, timeoutMs: APPEND_MS },
        expects: { lastOfSubject: known.sequence },
      });
      const appended = await tried(append);
      if (appended.at === 'committed') {
        this.#subjects.set(of, { ...next, sequence: appended.sequence });
        this.#reportEnd();
        if (of !== incarnation && of !== COLLISIONS && of !== CONFIG) this.#subjects.delete(of);
        return true;
      }
      const isRejected = appended.at === 'full' || appended.at === 'busy';
      if (!isRejected) uncertain ??= next.number;
      const found = isRejected ? known : await this.#readAgain(of, known);
      this.#subjects.set(of, found);
      if (found.sequence === known.sequence) await pause(this.#options, AGAIN_MS);
    }
    return false;
  }

  #reportEnd(): void {
    if (this.#isReported) this.#options.notice('Events are logged again', 'info');
    this.#isReported = false;
  }

  /** Returns the events that the log has of a subject after these ones are appended. */
  #after(known: LoggedSoFar, of: string, events: readonly PendingEvents[]): LoggedSoFar {
    const watermarks = new Map(known.watermarks);
    const keys = new Map(known.keys);
    for (const { position, key } of events) {
      if (position === undefined) continue;
      const { shard, step, index } = position;
      if (key !== undefined) keys.set(key, step);
      else if (of === CONFIG || of === this.#options.incarnation) watermarks.set(shard, [step, index]);
      else keys.set(keyOf(position), step);
    }
    return { author: this.#options.incarnation, number: ++this.#number, watermarks, keys };
  }

  /** Reads the last message of a subject; undefined if it cannot be read now. */
  async #read(of: string): Promise<Subject | undefined> {
    const { bus, name } = this.#options;
    const last = await lastOf(bus, { stream: eventStream(name), subject: eventSubject(name, of) });
    if (last === 'nothing') return undefined;
    return last === undefined ? newSubject('') : { ...readLogMessage(last.bytes), sequence: last.sequence };
  }

  /** The last message may have been removed from the log since: then this hub remembers what it named. */
  async #readAgain(of: string, known: Subject): Promise<Subject> {
    for (;;) {
      const found = await this.#read(of);
      if (found !== undefined) return found.sequence === 0 ? { ...known, sequence: 0 } : found;
      if (this.#closed !== undefined) return known;
      await pause(this.#options, AGAIN_MS);
    }
  }

  #report(why: string): void {
    if (this.#isReported) return;
    this.#isReported = true;
    this.#options.notice(`Events are missing in the event log: ${why}`);
  }
}

function joined(items: readonly PendingEvents[]): EncodedEvents {
  return {
    count: items.reduce((sum, { events }) => sum + events.count, 0),
    bytes: Buffer.concat(items.map(({ events }) => events.bytes)),
  };
}

function newSubject(author: string): Subject {
  return { author, number: 0, sequence: 0, watermarks: new Map(), keys: new Map() };
}

function isLogged({ key }: PendingEvents, position: FenceEventPosition, { watermarks, keys }: LoggedSoFar): boolean {
  return keys.has(key ?? keyOf(position)) || !isAfter(position, watermarks.get(position.shard));
}

/** Returns whether a position is after the watermark. Every position is after an absent watermark. */
export function isAfter({ step, index }: FenceEventPosition, [lastStep, lastIndex]: LogWatermark = [-1, -1]): boolean {
  return step > lastStep || (step === lastStep && index > lastIndex);
}

function keyOf({ shard, step, index }: FenceEventPosition): string {
  return `${shard} ${step} ${index}`;
}
