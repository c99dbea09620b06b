import { type ClusterContext, pause } from '../context.ts';
import { lastOf, tried } from '../nats/attempts.ts';
import type { JournalRange } from './journal_reader.ts';
import { JournalFormatError, journalMessage, RecordsMessage, sealMessage } from './journal_message.ts';
import type { JournalSubjects } from './journal_streams.ts';

/**
 * Journal of a hub: the changes of its steps, stored by a majority of the servers before they become visible.
 *
 * It has a subject in each of two streams, A and B, that are led by different servers. It appends to one of them at a time, and
 * switches to the other when that fails: an election takes seconds, and the other stream is available at once. One append is in
 * flight at a time; records that arrive meanwhile make up the next, so messages grow with the load. Each expects the last
 * sequence that the journal knows of its subject:
 *
 *   result    | meaning                                   | action
 *   ----------+-------------------------------------------+----------------------------------------------------------
 *   committed | a majority has it                         | its records are stored; send the next message
 *   unknown   | it may be stored already, or later        | send the same message to the other stream
 *   full      | the stream is full                        | retry a moment later, once trimming has made room
 *   busy      | the queue of the bus is full              | retry a moment later
 *   refused   | another message is last: read it          |
 *     itself  | an earlier attempt succeeded              | its records are stored; send the next message
 *     earlier | an unknown one was stored after all       | send the same message again, expecting that one
 *     a seal  | another hub has taken over                | close the journal: nothing of it is ever stored again
 *     nothing | it cannot be read, or is not agreed yet   | send the same message to the other stream
 *
 * After both streams have failed, the journal waits a moment before it tries them again.
 *
 * Messages are numbered without gaps, and a reader merges both streams by number. So a message may be in both, and no stored
 * message can be missed. A seal is appended to both streams without an expectation: from then on every append of the journal is
 * refused in either stream.
 */
export interface HubJournalOptions extends Pick<ClusterContext, 'bus' | 'schedule'> {
  readonly places: JournalSubjects;
  /** Called whenever an append finds its stream full. It is retried until there is room. */
  full?(): void;
  /** Called once when the journal closes: another hub has sealed it, it was closed, or it failed. `error` says which. */
  ended(error: JournalClosed): void;
}

/** Reason why a journal is closed and stores no more records. */
export class JournalClosed extends Error {
  override name = 'JournalEnded';
  /** Whether another hub has sealed it; otherwise it was closed, or `cause` is the failure. */
  readonly isSealed: boolean;

  constructor(message: string, { isSealed, cause }: { readonly isSealed: boolean; readonly cause?: unknown }) {
    super(message, { cause });
    this.isSealed = isSealed;
  }
}

/** Time for an append, in milliseconds, before the other stream is tried. */
export const APPEND_MS = 700;
/** Pause before an append that was not accepted is retried. */
const AGAIN_MS = 100;
/** Largest record, in bytes. Bus.last could not read a larger one back. */
const RECORD_BYTES_MAX = 4_000_000;
/** Approximate size of a message. A larger record has its own message. */
const MESSAGE_BYTES = 1 << 20;
/** Messages that are retained for reuse: one is in flight, and one is being filled. */
const SPARE_MAX = 2;

interface Barrier {
  resolve(): void;
  reject(error: JournalClosed): void;
}

interface Waiter extends Barrier {
  /** Number of records of the journal that must be stored. */
  readonly until: number;
}

/** Position of a stored message. */
interface KeptAt {
  readonly number: number;
  /** Index of its stream. */
  readonly in: 0 | 1;
  readonly sequence: number;
}

/** Writer of a journal. */
export class HubJournal {
  readonly #options: HubJournalOptions;
  /** Index of the stream that is currently appended to. */
  #at: 0 | 1 = 0;
  /** Last known sequence of the subject in each stream. */
  readonly #last: [number, number] = [0, 0];
  #number = 0;
  /** Unsent messages; the last one is being filled. */
  #waiting: RecordsMessage[] = [];
  #spare: RecordsMessage[] = [];
  #bytes = 0;
  /** Number of records passed in so far, and of those that are stored. */
  #put = 0;
  #committed = 0;
  #isSending = false;
  #isFull = false;
  #ended: JournalClosed | undefined;
  /** Set once no append may begin any more: what waits for the pending ones. */
  #finishing: PromiseWithResolvers<void> | undefined;
  #waiters: Waiter[] = [];
  /** Barriers that wait for a message sent after them, or without records. */
  #barriers: Barrier[] = [];
  /** Barriers that wait for the message in flight. */
  #inFlight: Barrier[] = [];
  #messages: KeptAt[] = [];

  constructor(options: HubJournalOptions) {
    this.#options = options;
  }

  /** Whether everything passed in is stored. */
  get isIdle(): boolean {
    return !this.#isSending && this.#waiting.length === 0 && this.#barriers.length === 0;
  }

  /** Bytes of the records that are not stored yet. */
  get heldBytes(): number {
    return this.#bytes;
  }

  /** Whether the last append found its stream full. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Number of the earliest message that may contain the next record. */
  get nextNumber(): number {
    return this.#number + (this.#isSending ? 1 : 0);
  }

  /** Position of the stored messages from a number on. */
  rangeFrom(from: number): JournalRange {
    const firstIn = (index: 0 | 1): number => {
      return this.#messages.find((message) => message.in === index && message.number >= from)?.sequence ?? 0;
    };
    return { from, before: this.#number, sequences: [firstIn(0), firstIn(1)] };
  }

  /**
   * Appends a record of at most 4,000,000 bytes, whose parts are copied. Resolves once it is stored, after all records before
   * it. Rejects with JournalClosed; a larger record closes the journal.
   */
  append(...record: readonly Uint8Array[]): Promise<void> {
    const bytes = record.reduce((sum, { length }) => sum + length, 0);
    if (bytes > RECORD_BYTES_MAX) {
      this.#end(`A record of journal "${this.#name}" has ${bytes} bytes, more than ${RECORD_BYTES_MAX}`);
    }
    const refused = this.#refused();
    if (refused !== undefined) return Promise.reject(refused);
    this.#openFor(bytes).add(record, bytes);
    this.#bytes += bytes;
    const until = ++this.#put;
    return new Promise((resolve, reject) => {
      this.#waiters.push({ until, resolve, reject });
      this.#go();
    });
  }

  /**
   * Resolves once an append that began after this call is stored, which proves that no other hub had sealed the journal before
   * the call. Rejects with JournalClosed.
   */
  barrier(): Promise<void> {
    const refused = this.#refused();
    if (refused !== undefined) return Promise.reject(refused);
    return new Promise((resolve, reject) => {
      this.#barriers.push({ resolve, reject });
      this.#go();
    });
  }

  /**
   * Removes the messages before a number, whose contents are in the state. The last message of each stream always stays. Does
   * nothing once the journal is closed, since others may be reading it. Rejects with a BusError.
   */
  async trim(before: number): Promise<void> {
    const { bus, places } = this.#options;
    for (const [index, { stream, subject }] of places.entries()) {
      if (this.#ended !== undefined) return;
      const own = this.#messages.filter((message) => message.in === index);
      const first = own.find(({ number }) => number >= before) ?? own.at(-1);
      if (first === undefined || first === own[0]) continue;
      await bus.purge(stream, subject, first.sequence);
      this.#messages = this.#messages.filter((message) => message.in !== index || message.sequence >= first.sequence);
    }
  }

  /**
   * Takes no appends and barriers any more, so that its own hub can seal it: an append after the seal would find that another
   * hub has taken over. Resolves when those before are stored. Rejects with JournalClosed.
   */
  finish(): Promise<void> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    this.#finishing ??= Promise.withResolvers();
    if (this.isIdle) this.#finishing.resolve();
    return this.#finishing.promise;
  }

  /** Closes the journal, and rejects everything that is pending. */
  close(): void {
    this.#end(`Journal "${this.#name}" is closed`);
  }

  /** Why nothing can be appended; undefined if something can. */
  #refused(): JournalClosed | undefined {
    if (this.#ended !== undefined || this.#finishing === undefined) return this.#ended;
    return new JournalClosed(`Journal "${this.#name}" is finished`, { isSealed: false });
  }

  #go(): void {
    if (this.#isSending || this.#ended !== undefined) return;
    if (this.#waiting.length === 0 && this.#barriers.length === 0) return;
    this.#isSending = true;
    const message = this.#waiting.shift() ?? this.#spare.pop() ?? new RecordsMessage();
    this.#inFlight = this.#barriers;
    this.#barriers = [];
    this.#send(message.bytes(this.#number)).then(
      () => this.#done(message),
      (error: unknown) => this.#end(`Journal "${this.#name}" cannot append: ${(error as Error).message}`, error),
    );
  }

  /** Message that takes a record of that size. */
  #openFor(bytes: number): RecordsMessage {
    const last = this.#waiting.at(-1);
    if (last !== undefined && last.size + bytes <= MESSAGE_BYTES) return last;
    const message = this.#spare.pop() ?? new RecordsMessage();
    this.#waiting.push(message);
    return message;
  }

  #done(message: RecordsMessage): void {
    if (this.#ended !== undefined) return;
    this.#isSending = false;
    this.#number++;
    this.#committed += message.count;
    this.#bytes -= message.recordBytes;
    message.clear();
    if (this.#spare.length < SPARE_MAX) this.#spare.push(message);
    const still = this.#waiters.findIndex(({ until }) => until > this.#committed);
    for (const { resolve } of this.#waiters.splice(0, still < 0 ? this.#waiters.length : still)) resolve();
    for (const { resolve } of this.#inFlight.splice(0)) resolve();
    this.#go();
    if (this.isIdle) this.#finishing?.resolve();
  }

  /** Resolves once the message is stored; rejects if the journal closes first. */
  async #send(message: Uint8Array): Promise<void> {
    const { bus, places } = this.#options;
    let misses = 0;
    while (this.#ended === undefined) {
      const index = this.#at;
      const expects = { lastOfSubject: this.#last[index] };
      const appended = await tried(bus.append({ ...places[index], bytes: message, expects, timeoutMs: APPEND_MS }));
      this.#isFull = appended.at === 'full';
      if (this.#isFull) this.#options.full?.();
      if (appended.at === 'committed') {
        this.#noteCommitted(index, appended.sequence);
        return;
      }
      const found = appended.at === 'refused' ? await this.#look(index, message) : 'nothing';
      if (found === 'itself') return;
      if (found === 'earlier') continue;
      if (appended.at === 'full' || appended.at === 'busy') await pause(this.#options, AGAIN_MS);
      else {
        this.#at = index === 0 ? 1 : 0;
        if (++misses % 2 === 0) await pause(this.#options, AGAIN_MS);
      }
    }
    throw this.#ended;
  }

  /**
   * Finds out which message is last in a stream that has refused this one. Throws a JournalClosed for a seal, and a
   * JournalFormatError for a message that the journal did not send.
   */
  async #look(index: 0 | 1, message: Uint8Array): Promise<'itself' | 'earlier' | 'nothing'> {
    const { bus, places } = this.#options;
    const last = await lastOf(bus, places[index]);
    if (last === 'nothing') return last;
    const { sequence = 0 } = last ?? {};
    if (last === undefined || sequence === this.#last[index]) {
      const isNew = sequence !== this.#last[index];
      this.#last[index] = sequence;
      return isNew ? 'earlier' : 'nothing';
    }
    if (Buffer.compare(last.bytes, message) === 0) {
      this.#noteCommitted(index, last.sequence);
      return 'itself';
    }
    const found = journalMessage(last.bytes);
    if (found.kind === 'seal') {
      throw new JournalClosed(`Journal "${this.#name}" was sealed by "${found.by}"`, { isSealed: true });
    }
    if (found.number >= this.#number) {
      const what = `message ${found.number}, which this journal did not send`;
      throw new JournalFormatError(`Stream "${places[index].stream}" has ${what}`);
    }
    this.#last[index] = sequence;
    return 'earlier';
  }

  #noteCommitted(index: 0 | 1, sequence: number): void {
    this.#last[index] = sequence;
    this.#messages.push({ number: this.#number, in: index, sequence });
  }

  get #name(): string {
    return this.#options.places[0].subject;
  }

  #end(message: string, cause?: unknown): void {
    if (this.#ended !== undefined) return;
    const ended = cause instanceof JournalClosed ? cause : new JournalClosed(message, { isSealed: false, cause });
    this.#ended = ended;
    const waiters = [...this.#waiters.splice(0), ...this.#inFlight.splice(0), ...this.#barriers.splice(0)];
    this.#waiting = [];
    this.#bytes = 0;
    for (const { reject } of waiters) reject(ended);
    this.#finishing?.reject(ended);
    this.#options.ended(ended);
  }
}

/** Parameters of a seal. */
export interface Sealing extends Pick<HubJournalOptions, 'bus' | 'places' | 'schedule'> {
  readonly by: string;
  /** Whether to give up, because the seal is no longer needed. */
  isOff(): boolean;
}

/**
 * Seals a journal. Once this resolves, no append of its owner is stored any more, unless `isOff` returned true: then it
 * resolves too, with some of the streams unsealed. It retries until then. A full stream accepts no seal either: the caller must
 * raise its `bytesMax`. Rejects with a BusError if the call itself is wrong.
 */
export async function sealJournal({ bus, places, schedule, by, isOff }: Sealing): Promise<void> {
  const bytes = sealMessage(by);
  for (const place of places) {
    while (!isOff()) {
      const { at } = await tried(bus.append({ ...place, bytes, timeoutMs: 5 * APPEND_MS }));
      if (at === 'committed') break;
      await pause({ schedule }, AGAIN_MS);
    }
  }
}
