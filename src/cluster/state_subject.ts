import { rowSize } from '../core/row_bytes.ts';
import type { Place } from '../store/newest_rows.ts';
import { type Appended, type Bus, BusBusyError, BusError, type Expectation, type StoredMessage } from './bus.ts';
import { packState, type StateHead, unpackState } from './state_message.ts';

/**
 * One subject of the state, which one hub writes at a time.
 *
 * Every message expects the last sequence that its writer knows of the subject, and says who writes it, by which epoch of
 * the map. Whoever takes the subject over *claims* it: looks what is last, and appends a claim behind that. From then on
 * what the former owner writes is refused, as it expects something else:
 *
 *   result    | what it means                             | what is done
 *   ----------+-------------------------------------------+-----------------------------------------------------------
 *   kept      | a majority has it                         | the next message
 *   unknown   | it may be there, or come to be there      | the same again: at most one of both is kept
 *   full      | no room                                   | the same again, a moment later
 *   busy      | too much waits to be sent                 | the same again, a moment later
 *   refused   | something else is last: look what it is   |
 *     itself  | an earlier try has got through            | the next message
 *     another | of another hub, which has claimed since   | CheckpointsLost
 *     nothing | nobody can say, or it is agreed on still  | the same again, a moment later
 *
 * A claim has an expectation as well, although it takes whatever is there. Without one, a copy of it could be kept later
 * than the claim of the next owner, from a hub that has stood still or whose answer was lost, and take the subject back. And
 * who finds a message of its own epoch, or a later one, has been overtaken, and claims nothing.
 */
export class StateSubject implements ReadSubject {
  readonly name: string;
  readonly #options: StateSubjectOptions;
  #epoch = 0;
  /** Messages so far. */
  #number = 0;
  /** The sequence of the last message. */
  #last = 0;
  /** Bytes of rows: as a whole when it was compacted, and since. */
  #wholeBytes = 0;
  #partialBytes = 0;

  constructor(name: string, options: StateSubjectOptions) {
    this.name = name;
    this.#options = options;
  }

  /** Whether messages since it was last compacted outweigh what it held then. */
  get isHeavy(): boolean {
    return this.#partialBytes > Math.max(this.#wholeBytes, this.#options.compactBytes);
  }

  /** The sequence of the last message, as far as it is known. */
  get last(): number {
    return this.#last;
  }

  /** Takes it over. Rejects with CheckpointsLost where that has been done by a later map already. */
  async claim(epoch: number): Promise<void> {
    const { bus, stream, by } = this.#options;
    const head = { by, epoch, number: ++this.#number };
    const bytes = packState(head, []);
    for (;;) {
      const found = await lastOf(bus, stream, this.name);
      this.#options.check();
      if (found !== 'nothing') {
        if (found !== undefined && isSame(found.bytes, bytes)) return this.#claimed(epoch, found.sequence);
        if (found !== undefined) this.#checkEarlier(found, epoch);
        const expects = { lastOfSubject: found?.sequence ?? 0 };
        const appended = await tried(bus.append({ ...this.#place, bytes, expects, timeoutMs: TRY_MS }));
        if (appended.at === 'kept') return this.#claimed(epoch, appended.sequence);
        if (appended.at === 'full' || appended.at === 'busy') this.#options.refused(appended.at);
      }
      await this.#pause();
    }
  }

  /** Appends rows. Resolves when all are kept. */
  async append(rows: readonly Place[]): Promise<void> {
    for (const part of partsOf(rows)) {
      const bytes = this.#message(part);
      await this.#keep(bytes, (expects) =>
        this.#options.bus.append({ ...this.#place, bytes, expects, timeoutMs: TRY_MS }),
      );
      this.#partialBytes += bytes.length;
    }
  }

  /** Puts rows in the place of all that it holds. */
  async replace(rows: readonly Place[]): Promise<void> {
    const parts = [...partsOf(rows)];
    const messages = (parts.length === 0 ? [[]] : parts).map((part) => this.#message(part));
    const last = messages.at(-1) as Uint8Array;
    await this.#keep(last, (expects) =>
      this.#options.bus.replace({ ...this.#place, messages, expects, timeoutMs: TRY_MS }),
    );
    this.weighed(
      messages.reduce((sum, { length }) => sum + length, 0),
      0,
    );
  }

  /** What was read of it weighs so much: what counts, and what has been replaced. */
  weighed(wholeBytes: number, partialBytes: number): void {
    this.#wholeBytes = wholeBytes;
    this.#partialBytes = partialBytes;
  }

  /**
   * Whether it was read to its end, when that was the last message. Throws CheckpointsLost where that is of another hub.
   */
  isWhole(last: Pick<StateHead, 'by' | 'epoch'> & Pick<StoredMessage, 'sequence'>): boolean {
    if (last.sequence > this.#last) this.#checkOwn(last);
    return last.sequence === this.#last;
  }

  async #keep(bytes: Uint8Array, attempt: (expects: Expectation) => Promise<Appended>): Promise<void> {
    for (;;) {
      const appended = await tried(attempt({ lastOfSubject: this.#last }));
      if (appended.at === 'kept') {
        this.#last = appended.sequence;
        return;
      }
      this.#options.check();
      if (appended.at === 'refused' && (await this.#isKept(bytes))) return;
      if (appended.at === 'full' || appended.at === 'busy') this.#options.refused(appended.at);
      await this.#pause();
    }
  }

  /** Looks whether the message is there that was refused. Throws where another one is. */
  async #isKept(bytes: Uint8Array): Promise<boolean> {
    const { bus, stream } = this.#options;
    const found = await lastOf(bus, stream, this.name);
    this.#options.check();
    if (found === 'nothing' || found?.sequence === this.#last) return false;
    if (found === undefined) throw new Error(`${this.#what} is empty: message ${this.#last} was kept there`);
    if (!isSame(found.bytes, bytes)) {
      const { by, epoch, number } = unpackState(found.bytes);
      this.#checkOwn({ by, epoch });
      throw new Error(`${this.#what} ends with message ${number} of this hub, which has sent ${this.#number} since`);
    }
    this.#last = found.sequence;
    return true;
  }

  #claimed(epoch: number, sequence: number): void {
    this.#epoch = epoch;
    this.#last = sequence;
  }

  #checkOwn({ by, epoch }: Pick<StateHead, 'by' | 'epoch'>): void {
    if (by !== this.#options.by) throw new CheckpointsLost(`${this.#what} was claimed by "${by}" in epoch ${epoch}`);
  }

  /** Checks that the last message does not forbid a claim. */
  #checkEarlier({ bytes }: StoredMessage, epoch: number): void {
    const found = unpackState(bytes);
    if (found.epoch < epoch || (found.epoch === epoch && found.by === this.#options.by)) return;
    throw new CheckpointsLost(
      `${this.#what} was claimed by "${found.by}" in epoch ${found.epoch}, this hub owns it by ${epoch}`,
    );
  }

  #message(rows: readonly Place[]): Uint8Array {
    return packState({ by: this.#options.by, epoch: this.#epoch, number: ++this.#number }, rows);
  }

  get #place(): { readonly stream: string; readonly subject: string } {
    return { stream: this.#options.stream, subject: this.name };
  }

  get #what(): string {
    return `The state in "${this.name}"`;
  }

  async #pause(): Promise<void> {
    this.#options.check();
    await new Promise<void>((resolve) => void this.#options.schedule(AGAIN_MS, resolve));
    this.#options.check();
  }
}

/** What is to be known of a subject that is read. */
export interface ReadSubject {
  readonly name: string;
  /** The sequence of the last message, as far as it is known; 0 for none. */
  readonly last: number;
  /** Whether it was read to its end, when that was the last message. */
  isWhole(last: Pick<StateHead, 'by' | 'epoch'> & Pick<StoredMessage, 'sequence'>): boolean;
}

/** A subject that another hub has claimed, or will: it is only read. */
export class ForeignSubject implements ReadSubject {
  readonly name: string;
  #last = 0;

  constructor(name: string) {
    this.name = name;
  }

  get last(): number {
    return this.#last;
  }

  /** Learns what is last by now. Resolves when that is known. */
  async look({ bus, stream, schedule, check }: StateSubjectOptions): Promise<void> {
    for (;;) {
      const found = await lastOf(bus, stream, this.name);
      check();
      if (found !== 'nothing') {
        this.#last = found?.sequence ?? 0;
        return;
      }
      await new Promise<void>((resolve) => void schedule(AGAIN_MS, resolve));
      check();
    }
  }

  isWhole({ sequence }: Pick<StoredMessage, 'sequence'>): boolean {
    return sequence >= this.#last;
  }
}

export interface StateSubjectOptions {
  readonly bus: Bus;
  readonly stream: string;
  /** The incarnation of this hub. */
  readonly by: string;
  /** A subject is not compacted before so many bytes have come to it. */
  readonly compactBytes: number;
  /** Calls back after a delay; returns how to call it off. */
  schedule(delayMs: number, callback: () => void): () => void;
  /** Throws when nothing is to be tried any more. */
  check(): void;
  /** Told each time that something is not taken, and will be tried again. */
  refused(why: 'full' | 'busy'): void;
}

/** Another hub has claimed what this one writes: it is out. */
export class CheckpointsLost extends Error {
  override name = 'CheckpointsLost';
}

/** One try. */
const TRY_MS = 2000;
/** Until the next one. */
const AGAIN_MS = 100;
/** Bytes of a message, about; a row that is larger is one by itself. */
const MESSAGE_BYTES = 1 << 20;

function* partsOf(rows: readonly Place[]): Generator<readonly Place[]> {
  let [from, bytes] = [0, 0];
  for (const [index, { buffer, at }] of rows.entries()) {
    const size = rowSize(buffer, at);
    if (bytes > 0 && bytes + size > MESSAGE_BYTES) {
      yield rows.slice(from, index);
      [from, bytes] = [index, 0];
    }
    bytes += size;
  }
  if (from < rows.length) yield rows.slice(from);
}

/** The last message of a subject; undefined where it has none, `nothing` where nobody can say. */
async function lastOf(bus: Bus, stream: string, subject: string): Promise<StoredMessage | undefined | 'nothing'> {
  try {
    return await bus.last(stream, subject);
  } catch (error) {
    if (error instanceof BusError) return 'nothing';
    throw error;
  }
}

async function tried(appending: Promise<Appended>): Promise<Appended | { readonly at: 'busy' }> {
  try {
    return await appending;
  } catch (error) {
    if (error instanceof BusBusyError) return { at: 'busy' };
    throw error;
  }
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0;
}
