import { zstdCompressSync } from 'node:zlib';
import { lend, look } from '../../model/borrowed.ts';
import { type FailedFenceEvent, withFailedFenceEvents } from '../../wire/fence_events.ts';
import { packDelivered, packDone, packStep, storedRecord } from '../../wire/journal_record.ts';
import type { ShardReply } from '../../wire/messages.ts';
import type { ClusterContext } from '../context.ts';
import { HubJournal, type JournalClosed } from './hub_journal.ts';
import type { JournalRange } from './journal_reader.ts';
import { journalSubjects } from './journal_streams.ts';
import { TakenRequests } from './taken_requests.ts';
import { type PiecesOptions, piecesOf } from './record_pieces.ts';

export interface StepJournalOptions
  extends Pick<ClusterContext, 'bus' | 'name' | 'incarnation' | 'elapsed' | 'schedule'> {
  readonly shards: number;
  /** Whether answers may be stale while this hub is cut off. */
  readonly reads: 'latest' | 'any';
  /** Enlarges each journal stream by that many bytes over its configured size. */
  widen(bytes: number): Promise<void>;
  /** Writes all flushed rows to the state, except those of partitions that are still being acquired. */
  writeState(): Promise<void>;
  /** Whether partitions are still being acquired: until then the state is incomplete. */
  isAcquiring(): boolean;
  /** Number of the first message with events that are not in the event log yet; Infinity without any. */
  eventsPendingFrom(): number;
  /** Nothing can be journaled any more: this hub is out. */
  ended(error: JournalClosed): void;
}

/** Most bytes that may be pending. */
const HELD_MAX = 64 << 20;
/** Room in a full stream for other appends, such as the record of a completed flush. */
const SPARE_BYTES = 1 << 20;
/** Time that messages remain after they are no longer needed. */
const STAYS_MS = 3000;
/** Number of unneeded messages that triggers a trim. */
const IDLE_MESSAGES = 60;

/**
 * Journal of this hub's steps: their changes are stored here before their outcomes become visible, until they are in the state
 * as well.
 *
 * All shards share one journal. So transfers between shards are in it in the order in which they happened, and one number says
 * from which message on it is needed.
 *
 * A flush of a shard (shards/flush_scheduler.ts) emits the rows of everything that had changed when it began. When these are in
 * the state, the shard no longer needs the messages from before that time. A record states which messages no shard needs, and
 * they are removed a few seconds later.
 *
 * A flush cannot finish before the steps ahead of it are stored. So a full stream is enlarged for the steps that this hub has
 * taken already, and no more are taken until the journal has been trimmed and the stream has its size again.
 */
export class StepJournal {
  readonly #options: StepJournalOptions;
  readonly #journal: HubJournal;
  readonly #shards: readonly ShardSteps[];
  /** Requests of which the journal has locations. */
  readonly requests = new TakenRequests(() => this.#journal.nextNumber);
  /** Number of the first needed message. */
  #doneFrom = 0;
  /** Ends of ranges that are no longer needed, and since when, as far as they are not trimmed yet. */
  readonly #dones: { readonly before: number; readonly atMs: number }[] = [];
  #isTrimming = false;
  /** By the record that has made this hub release objects: the first message that may contain their state. */
  readonly #held = new Map<number, number>();
  /** Those of these records whose objects have all arrived. */
  readonly #arrived = new Set<number>();
  /** Bytes by which the streams are larger than configured. */
  #widenedBy = 0;
  #isWidening = false;
  #appends = 0;
  #appendMs = 0;

  constructor(options: StepJournalOptions) {
    this.#options = options;
    const { bus, name, incarnation, shards, schedule, ended } = options;
    const full = (): void => void this.#makeRoom();
    this.#journal = new HubJournal({ bus, places: journalSubjects(name, incarnation), schedule, full, ended });
    this.#shards = Array.from({ length: shards }, () => ({ doneFrom: 0, before: 0, waiting: 0, config: 0 }));
  }

  /** Number of stored appends, and the total time that their callers have waited. */
  get appends(): { readonly count: number; readonly ms: number } {
    return { count: this.#appends, ms: this.#appendMs };
  }

  /** Number of the first message that may have a step whose outcome is yet to be released. */
  get neededFrom(): number {
    return this.#doneFrom;
  }

  /** Bytes that are pending. */
  get heldBytes(): number {
    return this.#journal.heldBytes;
  }

  /** Whether more steps can be journaled. */
  get hasRoom(): boolean {
    return this.heldBytes < HELD_MAX && !this.isFull;
  }

  /** Whether a stream is full, or larger than configured. */
  get isFull(): boolean {
    return this.#widenedBy > 0 || this.#journal.isFull;
  }

  /**
   * Journals the changes of a step. If it has changed nothing, but has events or answers, a barrier proves that no other hub
   * had taken over. Undefined if it has neither.
   */
  keep(shard: number, { record, released = [], events, outcome, config }: ShardReply): Promise<void> | undefined {
    if (config !== undefined) this.#of(shard).config = config;
    // Released state is as this step has made it: it counts only together with the step.
    const isWithNext = record !== undefined;
    const left = released.flatMap((each) => {
      return each.record === undefined ? [] : [this.#append(look(each.record), { isWithNext })];
    });
    if (left.length > 0) {
      // The step says nothing of objects that had no location when they were released.
      const step = record && this.#appendStep(this.#of(shard), look(record));
      return Promise.all([...left, step]).then(() => undefined);
    }
    if (record !== undefined) return this.#appendStep(this.#of(shard), look(record));
    const isAnswer = outcome.answers.length > 0 && this.#options.reads === 'latest';
    const isObservable = isAnswer || events.length > 0 || outcome.zoneMoves.length > 0;
    return isObservable ? this.barrier() : undefined;
  }

  /** Resolves when an append was stored that began after this call, so no other hub had taken over before. */
  barrier(): Promise<void> {
    return this.#timed(this.#journal.barrier());
  }

  /**
   * Records fence events that failed owners had recorded: if this hub fails before every hub has received them, its
   * successor announces them again. `endMs`: wall-clock time.
   */
  keepFenceEvents(events: readonly FailedFenceEvent[], endMs: number): Promise<void> {
    const nothing = lend(new Uint8Array());
    const step = packStep({ config: 0, nowMs: endMs, clockSteps: [], batch: nothing, effects: nothing });
    return this.#append(storedRecord(withFailedFenceEvents(step, events), zstdCompressSync));
  }

  /** Retains the state of objects that are about to be released because of a record, until they have arrived. */
  hold(sequence: number): void {
    this.#arrived.delete(sequence);
    // Earlier releases of the same record stay, too.
    if (!this.#held.has(sequence)) this.#held.set(sequence, this.#journal.nextNumber);
  }

  /** Position of the messages held for a record that are stored so far. */
  heldRange(sequence: number): JournalRange {
    return this.#journal.rangeFrom(this.#held.get(sequence) as number);
  }

  /** Records that each hub has delivered the events that precede the release of objects because of a record. */
  noteDelivered(sequence: number): Promise<void> {
    return this.#append(packDelivered(sequence));
  }

  /**
   * The objects released because of that record have arrived. Their release stays in the journal until the state says the same:
   * rows buffered in this turn must be written first.
   */
  markArrived(sequence: number): void {
    if (this.#held.has(sequence)) this.#arrived.add(sequence);
  }

  /** Appends the last configuration record that the shards were notified of; adopted steps do not contain it. */
  noteConfig(): Promise<void> {
    return this.#appendDone(this.#doneFrom);
  }

  /** See HubJournal.finish. */
  finish(): Promise<void> {
    return this.#journal.finish();
  }

  /** Closes the journal, and rejects everything that is pending. */
  close(): void {
    this.#journal.close();
  }

  /** Marks the start of a flush. Returns the number of the first message that may contain later changes. */
  roundBegun(): number {
    return this.#journal.nextNumber;
  }

  /**
   * Marks the end of the flush that began at that message; another one may have begun since. Resolves when the journal was
   * trimmed as far as possible, or when it is being trimmed or needed: until the state is complete the journals of others are
   * needed from their beginnings, and this one as well.
   */
  async roundOver(shard: number, begunAt: number): Promise<void> {
    const steps = this.#of(shard);
    if (this.#isTrimming || this.#options.isAcquiring() || begunAt <= steps.doneFrom) return;
    this.#isTrimming = true;
    try {
      await this.#writeState();
      // An acquisition may have begun meanwhile.
      if (this.#options.isAcquiring()) return;
      steps.doneFrom = begunAt;
      const needed = [...this.#shards.map((each) => this.#neededFrom(each)), ...this.#held.values()];
      const before = Math.min(...needed, this.requests.neededFrom);
      if (before > this.#doneFrom) await this.#done(before);
      await this.#giveBackRoom();
    } finally {
      this.#isTrimming = false;
    }
  }

  /** Trims a journal that has nothing but barriers after the contents of the state: without steps no flush does it. */
  async trimIdle(): Promise<void> {
    const next = this.#journal.nextNumber;
    const isHeld = [...this.#held.keys()].some((sequence) => !this.#arrived.has(sequence));
    const isIdle =
      !isHeld && this.requests.neededFrom >= next && this.#shards.every((each) => this.#neededFrom(each) === next);
    if (this.#isTrimming || this.#options.isAcquiring() || !isIdle || next < this.#doneFrom + IDLE_MESSAGES) return;
    this.#isTrimming = true;
    try {
      // The next call trims it.
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

  /** First message that may contain unflushed changes of a shard. */
  #neededFrom({ doneFrom, before, waiting }: ShardSteps): number {
    return waiting === 0 && before <= doneFrom ? this.#journal.nextNumber : doneFrom;
  }

  /** Repeated until there is enough. */
  async #makeRoom(): Promise<void> {
    if (this.#isWidening) return;
    this.#isWidening = true;
    try {
      const bytes = this.#widenedBy + this.heldBytes + SPARE_BYTES;
      await this.#options.widen(bytes);
      this.#widenedBy = bytes;
    } catch {
      // The next append that finds it full retries.
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

  /** Records that the messages before a number are not needed, and removes them. */
  async #done(before: number): Promise<void> {
    await this.#appendDone(before);
    this.#doneFrom = before;
    await this.#journal.trim(this.#trimmedTo(before));
  }

  /**
   * Unneeded messages remain for a while, see RecordedLocations, and until their events are in the event log, unless the
   * stream is full.
   */
  #trimmedTo(before: number): number {
    const nowMs = this.#options.elapsed();
    this.#dones.push({ before, atMs: nowMs });
    const stays = this.isFull ? -1 : this.#dones.findIndex(({ atMs }) => atMs > nowMs - STAYS_MS);
    const trimmed = this.#dones.splice(0, stays < 0 ? this.#dones.length : stays);
    const { before: upTo = 0 } = trimmed.at(-1) ?? {};
    return this.isFull ? upTo : Math.min(upTo, this.#options.eventsPendingFrom());
  }

  #appendDone(before: number): Promise<void> {
    const config = Math.max(...this.#shards.map((each) => each.config));
    const { numbers: requests } = this.requests;
    return this.#append(storedRecord(packDone({ upTo: before - 1, config, requests }), zstdCompressSync));
  }

  async #appendStep(steps: ShardSteps, record: Uint8Array): Promise<void> {
    steps.waiting++;
    await this.#append(record);
    steps.waiting--;
    steps.before = this.#journal.nextNumber;
  }

  #append(record: Uint8Array, options?: PiecesOptions): Promise<void> {
    const appends = piecesOf(record, options).map((piece) => this.#journal.append(...piece));
    return this.#timed(
      appends.length === 1 ? (appends[0] as Promise<void>) : Promise.all(appends).then(() => undefined),
    );
  }

  async #timed(committed: Promise<void>): Promise<void> {
    const begunMs = this.#options.elapsed();
    await committed;
    this.#appends++;
    this.#appendMs += this.#options.elapsed() - begunMs;
  }

  #of(shard: number): ShardSteps {
    return this.#shards[shard] as ShardSteps;
  }
}

/** Steps of a shard. */
interface ShardSteps {
  /** Changes in messages before that number are in the state. */
  doneFrom: number;
  /** All stored steps are in messages before that number. */
  before: number;
  /** Number of pending steps. */
  waiting: number;
  /** Last record of the configuration log that the shard was notified of. */
  config: number;
}
