import { rowSize } from '../../core/row_bytes.ts';
import type { RowLocation } from '../../store/newest_rows.ts';
import { type ClusterContext, pause } from '../context.ts';
import { lastOf, tried } from '../nats/attempts.ts';
import type { Appended, Expectation, StoredMessage } from '../nats/bus.ts';
import { packState, type StateHead, unpackState } from './state_message.ts';

/**
 * One subject of the state, which one hub writes at a time.
 *
 * Every message expects the last sequence of the subject that its writer knows, and names the writer and the epoch of its map.
 * A new writer *claims* the subject: it reads the last message, and appends a claim after it. From then on appends of the
 * former writer are refused, since they expect another sequence:
 *
 *   result    | meaning                                   | action
 *   ----------+-------------------------------------------+-----------------------------------------------------------
 *   committed | a majority has it                         | the next message
 *   unknown   | it may be stored already, or later        | repeat it: at most one of both is stored
 *   full      | no room                                   | repeat it a moment later
 *   busy      | the queue of the bus is full              | repeat it a moment later
 *   refused   | another message is last: read it          |
 *     itself  | an earlier attempt succeeded              | the next message
 *     another | another hub has claimed the subject       | CheckpointsLost
 *     nothing | it cannot be read, or is not agreed yet   | repeat it a moment later
 *
 * A claim has an expectation as well, although it accepts any last message. Without one, a copy of it, from a hub that was
 * stopped or whose answer was lost, could be stored after the claim of the next owner, and take the subject back. A claimer
 * that finds a message of its own epoch, or a later one, has been overtaken, and gives up.
 */
export class StateSubject implements ReadSubject {
  readonly name: string;
  readonly #options: StateSubjectOptions;
  #epoch = 0;
  /** Number of messages so far. */
  #number = 0;
  /** Sequence of the last message. */
  #last = 0;
  /** Bytes of rows: in total after the last compaction, and since then. */
  #wholeBytes = 0;
  #partialBytes = 0;

  constructor(name: string, options: StateSubjectOptions) {
    this.name = name;
    this.#options = options;
  }

  /** Whether the messages since the last compaction outweigh the contents at that time. */
  get isHeavy(): boolean {
    return this.#partialBytes > Math.max(this.#wholeBytes, this.#options.compactBytes);
  }

  /** Last known sequence. */
  get last(): number {
    return this.#last;
  }

  /** Claims the subject. Rejects with CheckpointsLost if a hub with a later map has done so already. */
  async claim(epoch: number): Promise<void> {
    const { bus, by } = this.#options;
    const head = { by, epoch, number: ++this.#number };
    const bytes = packState(head, []);
    for (;;) {
      const found = await lastOf(bus, this.#place);
      this.#options.check();
      if (found !== 'nothing') {
        if (found !== undefined && isSame(found.bytes, bytes)) return this.#claimed(epoch, found.sequence);
        if (found !== undefined) this.#checkEarlier(found, epoch);
        const expects = { lastOfSubject: found?.sequence ?? 0 };
        const appended = await tried(bus.append({ ...this.#place, bytes, expects, timeoutMs: TRY_MS }));
        if (appended.at === 'committed') return this.#claimed(epoch, appended.sequence);
        if (appended.at === 'full' || appended.at === 'busy') this.#options.refused(appended.at);
      }
      await this.#pause();
    }
  }

  /** Appends rows. Resolves when all are stored. */
  async append(rows: readonly RowLocation[]): Promise<void> {
    for (const part of partsOf(rows)) {
      const bytes = this.#message(part);
      await this.#keep(bytes, (expects) =>
        this.#options.bus.append({ ...this.#place, bytes, expects, timeoutMs: TRY_MS }),
      );
      this.#partialBytes += bytes.length;
    }
  }

  /** Replaces all of its contents. */
  async replace(rows: readonly RowLocation[]): Promise<void> {
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

  /** Sets its size after reading: bytes that count, and replaced ones. */
  weighed(wholeBytes: number, partialBytes: number): void {
    this.#wholeBytes = wholeBytes;
    this.#partialBytes = partialBytes;
  }

  /** Whether it was read to its end, if that was the last message. Throws CheckpointsLost if that is of another hub. */
  isWhole(last: Pick<StateHead, 'by' | 'epoch'> & Pick<StoredMessage, 'sequence'>): boolean {
    if (last.sequence > this.#last) this.#checkOwn(last);
    return last.sequence === this.#last;
  }

  async #keep(bytes: Uint8Array, attempt: (expects: Expectation) => Promise<Appended>): Promise<void> {
    for (;;) {
      const appended = await tried(attempt({ lastOfSubject: this.#last }));
      if (appended.at === 'committed') {
        this.#last = appended.sequence;
        return;
      }
      this.#options.check();
      if (appended.at === 'refused' && (await this.#isCommitted(bytes))) return;
      if (appended.at === 'full' || appended.at === 'busy') this.#options.refused(appended.at);
      await this.#pause();
    }
  }

  /** Whether the refused message is stored. Throws if the last message is another one. */
  async #isCommitted(bytes: Uint8Array): Promise<boolean> {
    const found = await lastOf(this.#options.bus, this.#place);
    this.#options.check();
    if (found === 'nothing' || found?.sequence === this.#last) return false;
    if (found === undefined) throw new Error(`${this.#what} is empty: message ${this.#last} was stored there`);
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

  #message(rows: readonly RowLocation[]): Uint8Array {
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
    await pause(this.#options, AGAIN_MS);
    this.#options.check();
  }
}

/** A subject to read. */
export interface ReadSubject {
  readonly name: string;
  /** Last known sequence; 0 for none. */
  readonly last: number;
  /** Whether it was read to its end, if that was the last message. */
  isWhole(last: Pick<StateHead, 'by' | 'epoch'> & Pick<StoredMessage, 'sequence'>): boolean;
}

/** A subject that another hub has claimed, or will claim: it is only read. */
export class RemoteSubject implements ReadSubject {
  readonly name: string;
  #last = 0;

  constructor(name: string) {
    this.name = name;
  }

  get last(): number {
    return this.#last;
  }

  /** Resolves when its last sequence is known. */
  async look(options: StateSubjectOptions): Promise<void> {
    const { bus, stream, check } = options;
    for (;;) {
      const found = await lastOf(bus, { stream, subject: this.name });
      check();
      if (found !== 'nothing') {
        this.#last = found?.sequence ?? 0;
        return;
      }
      await pause(options, AGAIN_MS);
      check();
    }
  }

  isWhole({ sequence }: Pick<StoredMessage, 'sequence'>): boolean {
    return sequence >= this.#last;
  }
}

export interface StateSubjectOptions extends Pick<ClusterContext, 'bus' | 'schedule'> {
  readonly stream: string;
  /** Member id of this hub. */
  readonly by: string;
  /** Least bytes written since the last compaction that trigger the next one. */
  readonly compactBytes: number;
  /** Throws if retries must stop. */
  check(): void;
  /** Called each time that a message is not accepted, and will be retried. */
  refused(why: 'full' | 'busy'): void;
}

/** Another hub has claimed a subject of this hub, which is out. */
export class CheckpointsLost extends Error {
  override name = 'CheckpointsLost';
}

/** Timeout of one attempt. */
const TRY_MS = 2000;
/** Pause before the next one. */
const AGAIN_MS = 100;
/** Approximate bytes of a message; a larger row has its own. */
const MESSAGE_BYTES = 1 << 20;

function* partsOf(rows: readonly RowLocation[]): Generator<readonly RowLocation[]> {
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

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0;
}
