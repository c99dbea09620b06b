import { look } from '../model/borrowed.ts';
import { type Append, type Appended, type Bus, BusBusyError, BusError } from './bus.ts';
import { JournalFormatError, journalMessage, recordBytes, recordsMessage, sealMessage } from './journal_message.ts';

/**
 * The journal of one lane, a shard of one hub: what its steps have changed, kept by a majority of servers before anybody
 * hears of it.
 *
 * A lane has a subject in each of two streams, A and B, that are led by different servers. It appends to one of them at a
 * time: an election takes seconds, and the other stream is there at once. One append is in flight, and what comes meanwhile is
 * the next, so messages grow with the load. Each expects the last sequence that the lane knows of its subject:
 *
 *   result    | what it means                             | what is done
 *   ----------+-------------------------------------------+----------------------------------------------------------
 *   kept      | a majority has it                         | its records are kept; the next message
 *   unknown   | it may be there, or come to be there      | the same message to the other stream
 *   full      | no room                                   | the same again, a moment later: trimming makes room
 *   busy      | too much waits to be sent                 | the same again, a moment later
 *   refused   | something else is last: look what it is   |
 *     itself  | an earlier try has got through            | its records are kept
 *     earlier | one that was unknown is there after all   | the same message again, expecting that
 *     a seal  | another hub has taken over                | the lane is out: nothing of it is ever kept again
 *     nothing | nobody can say, or it is agreed on still  | the same message to the other stream
 *
 * Where neither stream takes it at once, the lane waits a moment before the next round.
 *
 * Messages are numbered without gaps, and who reads joins both streams by number. So a message may be in both, and none
 * that was kept can be missed. A seal goes to both streams without expectation: from then on every append of the lane is
 * refused, in whichever stream it tries.
 */
export interface JournalLaneOptions {
  readonly bus: Bus;
  readonly places: JournalPlaces;
  /** Calls back after a delay; returns how to call it off. */
  schedule(delayMs: number, callback: () => void): () => void;
  /** The lane is out: another hub has sealed it, or `error` says what is wrong with it. Nothing is kept any more. */
  ended(error: JournalEnded): void;
}

/** Where a lane is kept: in A, and in B. */
export type JournalPlaces = readonly [JournalPlace, JournalPlace];

export interface JournalPlace {
  readonly stream: string;
  readonly subject: string;
}

/** Why a lane keeps nothing any more. */
export class JournalEnded extends Error {
  override name = 'JournalEnded';
  /** Whether another hub has sealed it. */
  readonly isSealed: boolean;

  constructor(message: string, { isSealed, cause }: { readonly isSealed: boolean; readonly cause?: unknown }) {
    super(message, { cause });
    this.isSealed = isSealed;
  }
}

/** How long an append may take before the other stream is tried. */
export const APPEND_MS = 700;
/** Until an append is tried again that was not taken. */
const AGAIN_MS = 100;
/** A larger one could not be looked at: see Bus.last. */
const RECORD_BYTES_MAX = 4_000_000;
/** Bytes of a message, about; a record that is larger is one by itself. */
const MESSAGE_BYTES = 1 << 20;

interface Barrier {
  resolve(): void;
  reject(error: JournalEnded): void;
}

interface Waiter extends Barrier {
  /** How many records must be kept. */
  readonly until: number;
}

/** A message that is kept. */
interface KeptAt {
  readonly number: number;
  /** The place that it is in. */
  readonly in: 0 | 1;
  readonly sequence: number;
}

/** Appends the records of a lane. */
export class JournalLane {
  readonly #options: JournalLaneOptions;
  /** The place that is appended to. */
  #at: 0 | 1 = 0;
  /** The last sequence of the subject in each place, as far as it is known. */
  readonly #last: [number, number] = [0, 0];
  #number = 0;
  #waiting: Uint8Array[] = [];
  #bytes = 0;
  /** Records so far: handed in, and kept. */
  #put = 0;
  #kept = 0;
  #isSending = false;
  #isFull = false;
  #ended: JournalEnded | undefined;
  #waiters: Waiter[] = [];
  /** A barrier needs a message that begins after it, if need be without records. */
  #barriers: Barrier[] = [];
  /** Those that wait for the message in flight. */
  #inFlight: Barrier[] = [];
  #messages: KeptAt[] = [];

  constructor(options: JournalLaneOptions) {
    this.#options = options;
  }

  /** Bytes of records that are not kept yet. */
  get heldBytes(): number {
    return this.#bytes;
  }

  /** Whether the streams have no room left. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** The number of the earliest message that the next record may go into. */
  get nextNumber(): number {
    return this.#number + (this.#isSending ? 1 : 0);
  }

  /** Appends a record after all before, which must stay as it is. Resolves when it is kept; rejects with JournalEnded. */
  append(record: Uint8Array): Promise<void> {
    if (record.length > RECORD_BYTES_MAX) {
      this.#end(`A record of lane "${this.#name}" has ${record.length} bytes, more than ${RECORD_BYTES_MAX}`);
    }
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    this.#waiting.push(record);
    this.#bytes += record.length;
    const until = ++this.#put;
    return new Promise((resolve, reject) => {
      this.#waiters.push({ until, resolve, reject });
      this.#go();
    });
  }

  /**
   * Resolves when an append was kept that began after this call: by then nobody else can have taken the lane over before
   * it. Rejects with JournalEnded.
   */
  barrier(): Promise<void> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    return new Promise((resolve, reject) => {
      this.#barriers.push({ resolve, reject });
      this.#go();
    });
  }

  /**
   * Removes the messages before a number: what is in them is kept elsewhere. The last of each stream always stays. Does
   * nothing once the lane has ended, since others may be reading it.
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

  /** Keeps nothing any more, and rejects what waits. */
  close(): void {
    this.#end(`Lane "${this.#name}" is closed`);
  }

  #go(): void {
    if (this.#isSending || this.#ended !== undefined) return;
    if (this.#waiting.length === 0 && this.#barriers.length === 0) return;
    this.#isSending = true;
    const records = this.#takeRecords();
    this.#inFlight = this.#barriers;
    this.#barriers = [];
    this.#send(recordsMessage(this.#number, records)).then(
      () => this.#done(records),
      (error: unknown) => this.#end(`Lane "${this.#name}" cannot append: ${(error as Error).message}`, error),
    );
  }

  #takeRecords(): Uint8Array[] {
    let [count, bytes] = [0, 0];
    for (const record of this.#waiting) {
      if (count > 0 && bytes + recordBytes(record) > MESSAGE_BYTES) break;
      bytes += recordBytes(record);
      count++;
    }
    return this.#waiting.splice(0, count);
  }

  #done(records: readonly Uint8Array[]): void {
    if (this.#ended !== undefined) return;
    this.#isSending = false;
    this.#number++;
    this.#kept += records.length;
    for (const { length } of records) this.#bytes -= length;
    const still = this.#waiters.findIndex(({ until }) => until > this.#kept);
    for (const { resolve } of this.#waiters.splice(0, still < 0 ? this.#waiters.length : still)) resolve();
    for (const { resolve } of this.#inFlight.splice(0)) resolve();
    this.#go();
  }

  /** Resolves when the message is kept; rejects when it never will be. */
  async #send(message: Uint8Array): Promise<void> {
    const { bus, places } = this.#options;
    let misses = 0;
    while (this.#ended === undefined) {
      const index = this.#at;
      const expects = { lastOfSubject: this.#last[index] };
      const appended = await tried(bus, { ...places[index], bytes: message, expects, timeoutMs: APPEND_MS });
      this.#isFull = appended.at === 'full';
      if (appended.at === 'kept') {
        this.#noteKept(index, appended.sequence);
        return;
      }
      const found = appended.at === 'refused' ? await this.#look(index, message) : 'nothing';
      if (found === 'itself') return;
      if (found === 'earlier') continue;
      if (appended.at === 'full' || appended.at === 'busy') await pause(this.#options);
      else {
        this.#at = index === 0 ? 1 : 0;
        if (++misses % 2 === 0) await pause(this.#options);
      }
    }
    throw this.#ended;
  }

  /** Looks what is last in a place that has refused the message. Throws where that is none of the lane's. */
  async #look(index: 0 | 1, message: Uint8Array): Promise<'itself' | 'earlier' | 'nothing'> {
    const { bus, places } = this.#options;
    const { stream, subject } = places[index];
    let last: Awaited<ReturnType<Bus['last']>>;
    try {
      last = await bus.last(stream, subject);
    } catch (error) {
      if (error instanceof BusError) return 'nothing';
      throw error;
    }
    const { sequence = 0 } = last ?? {};
    if (last === undefined || sequence === this.#last[index]) {
      const isNew = sequence !== this.#last[index];
      this.#last[index] = sequence;
      return isNew ? 'earlier' : 'nothing';
    }
    if (Buffer.compare(last.bytes, message) === 0) {
      this.#noteKept(index, last.sequence);
      return 'itself';
    }
    const found = journalMessage(last.bytes);
    if (found.kind === 'seal') {
      throw new JournalEnded(`Lane "${this.#name}" was sealed by "${found.by}"`, { isSealed: true });
    }
    if (found.number >= this.#number) {
      throw new JournalFormatError(`Stream "${stream}" has message ${found.number}, which it was not sent`);
    }
    this.#last[index] = sequence;
    return 'earlier';
  }

  #noteKept(index: 0 | 1, sequence: number): void {
    this.#last[index] = sequence;
    this.#messages.push({ number: this.#number, in: index, sequence });
  }

  get #name(): string {
    return this.#options.places[0].subject;
  }

  #end(message: string, cause?: unknown): void {
    if (this.#ended !== undefined) return;
    const ended = cause instanceof JournalEnded ? cause : new JournalEnded(message, { isSealed: false, cause });
    this.#ended = ended;
    const waiters = [...this.#waiters.splice(0), ...this.#inFlight.splice(0), ...this.#barriers.splice(0)];
    this.#waiting = [];
    this.#bytes = 0;
    for (const { reject } of waiters) reject(ended);
    this.#options.ended(ended);
  }
}

/** Who seals a lane, and until when. */
export interface Sealing extends Pick<JournalLaneOptions, 'bus' | 'places' | 'schedule'> {
  readonly by: string;
  /** Whether it is not wanted any more. */
  isOff(): boolean;
}

/**
 * Seals a lane: when this resolves, nothing that its owner appends is kept any more. Tries until it is done or off; a
 * stream that is full takes no seal, so whoever finds that lets it have more bytes.
 */
export async function sealLane({ bus, places, schedule, by, isOff }: Sealing): Promise<void> {
  const bytes = sealMessage(by);
  for (const place of places) {
    while (!isOff()) {
      const { at } = await tried(bus, { ...place, bytes, timeoutMs: 5 * APPEND_MS });
      if (at === 'kept') break;
      await pause({ schedule });
    }
  }
}

async function tried(bus: Bus, append: Append): Promise<Appended | { readonly at: 'busy' }> {
  try {
    return await bus.append(append);
  } catch (error) {
    if (error instanceof BusBusyError) return { at: 'busy' };
    throw error;
  }
}

function pause({ schedule }: Pick<JournalLaneOptions, 'schedule'>): Promise<void> {
  return new Promise((resolve) => void schedule(AGAIN_MS, resolve));
}

/** What is left of a lane: the records of its messages, by their numbers, joined from both streams up to their seals. */
export interface LaneLeft {
  readonly messages: ReadonlyMap<number, readonly Uint8Array[]>;
  /** Whether both streams are sealed: there is nothing more, and never will be. */
  readonly isSealed: boolean;
}

/** Reads a lane. Rejects with a BusError where its streams cannot be read, with a JournalFormatError for what is in them. */
export async function readLane(bus: Bus, places: JournalPlaces): Promise<LaneLeft> {
  const messages = new Map<number, readonly Uint8Array[]>();
  let seals = 0;
  for (const { stream, subject } of places) {
    const reader = bus.read(stream, { subjects: [subject], fromSequence: 1 });
    let isSealed = false;
    try {
      for (let isMore = true; isMore && !isSealed; ) {
        isMore = await reader.next(({ bytes }) => {
          if (isSealed) return;
          const message = journalMessage(Uint8Array.from(look(bytes)));
          if (message.kind === 'seal') isSealed = true;
          else if (!messages.has(message.number)) messages.set(message.number, message.records);
        });
      }
    } finally {
      reader.end();
    }
    if (isSealed) seals++;
  }
  return { messages, isSealed: seals === places.length };
}
