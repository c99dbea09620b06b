import { zstdCompressSync } from 'node:zlib';
import { look } from '../model/borrowed.ts';
import { packDone, packReleasedAgain } from '../wire/journal_record.ts';
import type { ShardReply } from '../wire/messages.ts';
import type { Bus } from './bus.ts';
import { HubJournal, type JournalEnded } from './hub_journal.ts';
import { journalPlaces } from './journal_places.ts';
import { type PiecesOptions, piecesOf } from './record_pieces.ts';

export interface StepJournalOptions {
  readonly bus: Bus;
  /** Of the cluster. */
  readonly name: string;
  readonly incarnation: string;
  readonly shards: number;
  /** Whether answers may be from the past while this hub is cut off. */
  readonly reads: 'latest' | 'any';
  /** Sets the size of each journal stream to so many bytes more than it has by the settings. */
  widen(bytes: number): Promise<void>;
  /** Writes all rows that were handed out so far to the state, but for those of partitions that are still to come. */
  writeState(): Promise<void>;
  /** Whether partitions are to come that are not there yet: until then what is written to the state is not all. */
  isAcquiring(): boolean;
  /** Calls back after a delay; returns how to call it off. */
  schedule(delayMs: number, callback: () => void): () => void;
  /** Time that has passed since some moment. */
  elapsed(): number;
  /** Nothing is kept any more: this hub is out. */
  ended(error: JournalEnded): void;
}

/** Bytes that wait to be kept: what is more is not taken. */
const HELD_MAX = 64 << 20;
/** Room in a full stream for what is appended besides, such as the record that a round is over. */
const SPARE_BYTES = 1 << 20;
/** For how long messages are there that are done with. */
const STAYS_MS = 3000;
/** Messages that need not be kept any longer are removed when there are so many of them. */
const IDLE_MESSAGES = 60;

/**
 * The steps of this hub in its journal: what they have changed is kept here before anybody hears of what they have
 * decided, until it is in the state as well.
 *
 * All shards share one journal. So what goes from shard to shard is in it in the order in which it went, and one number
 * says from where on it is needed.
 *
 * A round of a shard (shards/flush_scheduler.ts) hands out the rows of all that had changed when it began. When these are
 * in the state, the shard is done with all messages from before that time. A record says what every shard is done with, and
 * it is removed a few seconds later.
 *
 * A round cannot end before the steps in front of it are kept. So a stream that is full is given room for what this hub has
 * taken already, and nothing more is taken until the journal has been trimmed and the stream has its size again.
 */
export class StepJournal {
  readonly #options: StepJournalOptions;
  readonly #journal: HubJournal;
  readonly #shards: readonly ShardSteps[];
  /** All messages before that number are done with. */
  #doneFrom = 0;
  /** Up to where the messages were done with, and since when, that are not trimmed yet. */
  readonly #dones: { readonly before: number; readonly atMs: number }[] = [];
  #isTrimming = false;
  /** By the record that has made this hub release objects: the first message that may hold their state. */
  readonly #held = new Map<number, number>();
  /** Those of these records of which all has arrived. */
  readonly #arrived = new Set<number>();
  /** Bytes that the streams have more than they should. */
  #widenedBy = 0;
  #isWidening = false;
  #appends = 0;
  #appendMs = 0;

  constructor(options: StepJournalOptions) {
    this.#options = options;
    const { bus, name, incarnation, shards, schedule, ended } = options;
    const full = (): void => void this.#makeRoom();
    this.#journal = new HubJournal({ bus, places: journalPlaces(name, incarnation), schedule, full, ended });
    this.#shards = Array.from({ length: shards }, () => ({ doneFrom: 0, before: 0, waiting: 0, config: 0 }));
  }

  /** How many appends were kept so far, and how long those who asked for them have waited in all. */
  get appends(): { readonly count: number; readonly ms: number } {
    return { count: this.#appends, ms: this.#appendMs };
  }

  /** Whether nothing waits to be kept. */
  get isIdle(): boolean {
    return this.#journal.isIdle;
  }

  /** Bytes that wait to be kept. */
  get heldBytes(): number {
    return this.#journal.heldBytes;
  }

  /** Whether more steps can be kept. */
  get hasRoom(): boolean {
    return this.heldBytes < HELD_MAX && !this.isFull;
  }

  /** Whether a stream has no room left, or has more than it should. */
  get isFull(): boolean {
    return this.#widenedBy > 0 || this.#journal.isFull;
  }

  /**
   * Keeps what a step has changed. Where it has changed nothing, but says or answers something, nobody else may have taken
   * over by then. Undefined where it has done neither.
   */
  keep(shard: number, { record, released = [], events, outcome, config }: ShardReply): Promise<void> | undefined {
    if (config !== undefined) this.#of(shard).config = config;
    // What has left is as this step has made it: where the step is not kept, neither has it left.
    const isWithNext = record !== undefined;
    const left = released.flatMap((each) => {
      return each.record === undefined ? [] : [this.#append(look(each.record), { isWithNext })];
    });
    if (left.length > 0) {
      // Of what has left without having had a place the step says nothing.
      const step = record && this.#appendStep(this.#of(shard), look(record));
      return Promise.all([...left, step]).then(() => undefined);
    }
    if (record !== undefined) return this.#appendStep(this.#of(shard), look(record));
    const isAnswer = outcome.answers.length > 0 && this.#options.reads === 'latest';
    const isHeard = isAnswer || events.length > 0 || outcome.zoneMoves.length > 0;
    return isHeard ? this.barrier() : undefined;
  }

  /** Resolves when an append was kept that began after this call: nobody else has taken over before. */
  barrier(): Promise<void> {
    return this.#timed(this.#journal.barrier());
  }

  /** Keeps what an owner before has released. `endMs`: time of day. */
  keepReleased(released: Parameters<typeof packReleasedAgain>[0]): Promise<void> {
    return this.#append(zstdCompressSync(packReleasedAgain(released)));
  }

  /** Objects are about to be released because of a record: their state stays in the journal until they have arrived. */
  hold(sequence: number): void {
    this.#arrived.delete(sequence);
    // What was released before because of the same record stays, too.
    if (!this.#held.has(sequence)) this.#held.set(sequence, this.#journal.nextNumber);
  }

  /**
   * What was released because of that record has arrived. That it has left stays in the journal until the state says the
   * same: what is noted in this turn is to be written first.
   */
  letGo(sequence: number): void {
    if (this.#held.has(sequence)) this.#arrived.add(sequence);
  }

  /** Says of which configuration the shards have been told by now: nothing of what they took over does. */
  noteConfig(): Promise<void> {
    return this.#appendDone(this.#doneFrom);
  }

  /** Ends the journal: what waits to be kept is rejected. */
  close(): void {
    this.#journal.close();
  }

  /** A round of a shard begins. Returns the number of the first message that may hold what is changed from here on. */
  roundBegun(): number {
    return this.#journal.nextNumber;
  }

  /**
   * The rows of a round are all handed out that began at that message; another one may have begun since. Resolves when the
   * journal was trimmed as far as all shards are done with it, or something else is trimming it, or it is needed for now:
   * until the state is whole the journals of others are needed from their beginnings, and this one as well.
   */
  async roundOver(shard: number, begunAt: number): Promise<void> {
    const steps = this.#of(shard);
    if (this.#isTrimming || this.#options.isAcquiring() || begunAt <= steps.doneFrom) return;
    this.#isTrimming = true;
    try {
      await this.#writeState();
      // It may have begun meanwhile.
      if (this.#options.isAcquiring()) return;
      steps.doneFrom = begunAt;
      const before = Math.min(...this.#shards.map((each) => this.#neededFrom(each)), ...this.#held.values());
      if (before > this.#doneFrom) await this.#done(before);
      await this.#giveBackRoom();
    } finally {
      this.#isTrimming = false;
    }
  }

  /** Trims a journal with nothing but barriers behind what is in the state: without steps there is no round to do it. */
  async trimIdle(): Promise<void> {
    const next = this.#journal.nextNumber;
    const isHeld = [...this.#held.keys()].some((sequence) => !this.#arrived.has(sequence));
    const isIdle = !isHeld && this.#shards.every((each) => this.#neededFrom(each) === next);
    if (this.#isTrimming || this.#options.isAcquiring() || !isIdle || next < this.#doneFrom + IDLE_MESSAGES) return;
    this.#isTrimming = true;
    try {
      // It is trimmed with the next call then.
      if (this.#arrived.size > 0) await this.#writeState();
      else await this.#done(next);
    } finally {
      this.#isTrimming = false;
    }
  }

  async #writeState(): Promise<void> {
    const arrived = [...this.#arrived];
    await this.#options.writeState();
    for (const sequence of arrived) if (this.#arrived.delete(sequence)) this.#held.delete(sequence);
  }

  /** The first message that may hold what a shard has changed and has not handed out. */
  #neededFrom({ doneFrom, before, waiting }: ShardSteps): number {
    return waiting === 0 && before <= doneFrom ? this.#journal.nextNumber : doneFrom;
  }

  /** Again and again until there is enough. */
  async #makeRoom(): Promise<void> {
    if (this.#isWidening) return;
    this.#isWidening = true;
    try {
      const bytes = this.#widenedBy + this.heldBytes + SPARE_BYTES;
      await this.#options.widen(bytes);
      this.#widenedBy = bytes;
    } catch {
      // The next append that finds it full tries again.
    }
    this.#isWidening = false;
  }

  async #giveBackRoom(): Promise<void> {
    if (this.#widenedBy === 0 || this.#isWidening) return;
    this.#isWidening = true;
    try {
      await this.#options.widen(0);
      this.#widenedBy = 0;
    } finally {
      this.#isWidening = false;
    }
  }

  /** Says that the messages before a number are done with, and removes them. */
  async #done(before: number): Promise<void> {
    await this.#appendDone(before);
    this.#doneFrom = before;
    await this.#journal.trim(this.#trimmedTo(before));
  }

  /** What is done with stays for a while: see RecordedLocations. A full stream has no room for that. */
  #trimmedTo(before: number): number {
    const nowMs = this.#options.elapsed();
    this.#dones.push({ before, atMs: nowMs });
    const stays = this.isFull ? -1 : this.#dones.findIndex(({ atMs }) => atMs > nowMs - STAYS_MS);
    const trimmed = this.#dones.splice(0, stays < 0 ? this.#dones.length : stays);
    return trimmed.at(-1)?.before ?? 0;
  }

  #appendDone(before: number): Promise<void> {
    const config = Math.max(...this.#shards.map((each) => each.config));
    return this.#append(zstdCompressSync(packDone(before - 1, config)));
  }

  async #appendStep(steps: ShardSteps, record: Uint8Array): Promise<void> {
    steps.waiting++;
    await this.#append(record);
    steps.waiting--;
    steps.before = this.#journal.nextNumber;
  }

  #append(record: Uint8Array, options?: PiecesOptions): Promise<void> {
    const kept = piecesOf(record, options).map((piece) => this.#journal.append(...piece));
    return this.#timed(kept.length === 1 ? (kept[0] as Promise<void>) : Promise.all(kept).then(() => undefined));
  }

  async #timed(kept: Promise<void>): Promise<void> {
    const begunMs = this.#options.elapsed();
    await kept;
    this.#appends++;
    this.#appendMs += this.#options.elapsed() - begunMs;
  }

  #of(shard: number): ShardSteps {
    return this.#shards[shard] as ShardSteps;
  }
}

/** The steps of a shard. */
interface ShardSteps {
  /** What they have changed in messages before that number is in the state. */
  doneFrom: number;
  /** All that are kept are in messages before that number. */
  before: number;
  /** How many are not kept yet. */
  waiting: number;
  /** The last record of the configuration log of which the shard was told. */
  config: number;
}
