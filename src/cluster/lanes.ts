import { zstdCompressSync } from 'node:zlib';
import { look } from '../model/borrowed.ts';
import { packDone } from '../wire/lane_record.ts';
import type { ShardReply } from '../wire/messages.ts';
import type { Bus } from './bus.ts';
import { type JournalEnded, JournalLane } from './journal_lane.ts';
import { lanePlaces } from './lane_places.ts';
import { piecesOf } from './record_pieces.ts';

export interface LanesOptions {
  readonly bus: Bus;
  /** Of the cluster. */
  readonly name: string;
  readonly incarnation: string;
  readonly shards: number;
  /** Sets the size of each journal stream to so many bytes more than it has by the settings. */
  widen(bytes: number): Promise<void>;
  /** Writes all rows that were handed out so far to the state. */
  writeState(): Promise<void>;
  /** Calls back after a delay; returns how to call it off. */
  schedule(delayMs: number, callback: () => void): () => void;
  /** Time that has passed since some moment. */
  elapsed(): number;
  /** A lane keeps nothing any more: this hub is out. */
  ended(error: JournalEnded): void;
}

/** Bytes that wait to be kept, in all lanes: what is more is not taken. */
const HELD_MAX = 64 << 20;
/** Room in a full stream for what is appended besides, such as the record that a round is over. */
const SPARE_BYTES = 1 << 20;
/** Messages of a lane that need not be kept any longer are removed when there are so many of them. */
const IDLE_MESSAGES = 60;

/**
 * The journal of this hub, a lane for each shard: what its steps have changed is kept here before anybody hears of what
 * they have decided, until it is in the state as well.
 *
 * A round of a shard (shards/flush_scheduler.ts) hands out the rows of all that had changed when it began. When these are
 * in the state, a record says so: the lane is done with all of its messages from before that time, and they are removed.
 *
 * A round cannot end before the steps in front of it are kept. So a stream that is full is given room for what this hub has
 * taken already, and nothing more is taken until a round has been trimmed and the stream has its size again.
 */
export class Lanes {
  readonly #options: LanesOptions;
  readonly #lanes: readonly Lane[];
  /** Bytes that the streams have more than they should. */
  #widenedBy = 0;
  #isWidening = false;
  #appends = 0;
  #appendMs = 0;

  constructor(options: LanesOptions) {
    this.#options = options;
    const { bus, name, incarnation, shards, schedule, ended } = options;
    const full = (): void => void this.#makeRoom();
    this.#lanes = Array.from({ length: shards }, (_, shard) => {
      const places = lanePlaces(name, incarnation, shard);
      const journal = new JournalLane({ bus, places, schedule, full, ended });
      return { journal, doneFrom: 0, stepsBefore: 0, stepsWaiting: 0, isTrimming: false };
    });
  }

  /** How many appends were kept so far, and how long those who asked for them have waited in all. */
  get appends(): { readonly count: number; readonly ms: number } {
    return { count: this.#appends, ms: this.#appendMs };
  }

  /** Bytes that wait to be kept. */
  get heldBytes(): number {
    return this.#lanes.reduce((sum, { journal }) => sum + journal.heldBytes, 0);
  }

  /** Whether more steps can be kept. */
  get hasRoom(): boolean {
    return this.heldBytes < HELD_MAX && !this.isFull;
  }

  /** Whether a stream has no room left, or has more than it should. */
  get isFull(): boolean {
    return this.#widenedBy > 0 || this.#lanes.some(({ journal }) => journal.isFull);
  }

  /**
   * Keeps what a step has changed. Where it has changed nothing, but says or answers something, nobody else may have taken
   * over by then. Undefined where it has done neither.
   */
  keep(shard: number, { record, events, outcome }: ShardReply): Promise<void> | undefined {
    if (record !== undefined) return this.#appendStep(this.#of(shard), look(record));
    const isHeard = events.length > 0 || outcome.answers.length > 0 || outcome.zoneMoves.length > 0;
    return isHeard ? this.#timed(this.#of(shard).journal.barrier()) : undefined;
  }

  /** Resolves when an append was kept that began after this call: nobody else has taken over before. */
  barrier(): Promise<void> {
    return this.#timed(this.#of(0).journal.barrier());
  }

  /** Ends all lanes: what waits to be kept is rejected. */
  close(): void {
    for (const { journal } of this.#lanes) journal.close();
  }

  /** A round of a shard begins. Returns the number of the first message that may hold what is changed from here on. */
  roundBegun(shard: number): number {
    return this.#of(shard).journal.nextNumber;
  }

  /**
   * The rows of a round are all handed out that began at that message; another one may have begun since. Resolves when the
   * lane was trimmed up to there, or something else is trimming it.
   */
  async roundOver(shard: number, begunAt: number): Promise<void> {
    const lane = this.#of(shard);
    if (lane.isTrimming || begunAt <= lane.doneFrom) return;
    lane.isTrimming = true;
    try {
      await this.#options.writeState();
      await this.#done(lane, begunAt);
      await this.#giveBackRoom();
    } finally {
      lane.isTrimming = false;
    }
  }

  /** Trims lanes that have nothing but barriers behind what is in the state: without steps there is no round to do it. */
  async trimIdle(): Promise<void> {
    for (const lane of this.#lanes) {
      const { journal, doneFrom, stepsBefore, stepsWaiting, isTrimming } = lane;
      const isIdle = stepsWaiting === 0 && stepsBefore <= doneFrom;
      if (isTrimming || !isIdle || journal.nextNumber < doneFrom + IDLE_MESSAGES) continue;
      lane.isTrimming = true;
      try {
        await this.#done(lane, journal.nextNumber);
      } finally {
        lane.isTrimming = false;
      }
    }
  }

  /** Again and again until there is enough: the streams are those of all lanes. */
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

  /** Says that a lane is done with the messages before a number, and removes them. */
  async #done(lane: Lane, before: number): Promise<void> {
    await this.#append(lane, zstdCompressSync(packDone(before - 1)));
    lane.doneFrom = before;
    await lane.journal.trim(before);
  }

  async #appendStep(lane: Lane, record: Uint8Array): Promise<void> {
    lane.stepsWaiting++;
    await this.#append(lane, record);
    lane.stepsWaiting--;
    lane.stepsBefore = lane.journal.nextNumber;
  }

  #append({ journal }: Lane, record: Uint8Array): Promise<void> {
    const kept = piecesOf(record).map((piece) => journal.append(piece));
    return this.#timed(kept.length === 1 ? (kept[0] as Promise<void>) : Promise.all(kept).then(() => undefined));
  }

  async #timed(kept: Promise<void>): Promise<void> {
    const begunMs = this.#options.elapsed();
    await kept;
    this.#appends++;
    this.#appendMs += this.#options.elapsed() - begunMs;
  }

  #of(shard: number): Lane {
    return this.#lanes[shard] as Lane;
  }
}

interface Lane {
  readonly journal: JournalLane;
  /** All messages before that number are done with. */
  doneFrom: number;
  /** All steps that are kept are in messages before that number. */
  stepsBefore: number;
  /** Steps that are not kept yet. */
  stepsWaiting: number;
  isTrimming: boolean;
}
