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
  /** Writes all rows that were handed out so far to the state. */
  writeState(): Promise<void>;
  /** Calls back after a delay; returns how to call it off. */
  schedule(delayMs: number, callback: () => void): () => void;
  /** A lane keeps nothing any more: this hub is out. */
  ended(error: JournalEnded): void;
}

/** Bytes that wait to be kept, in all lanes: what is more is not taken. */
const HELD_MAX = 64 << 20;

/**
 * The journal of this hub, a lane for each shard: what its steps have changed is kept here before anybody hears of what
 * they have decided, until it is in the state as well.
 *
 * A round of a shard (shards/flush_scheduler.ts) hands out the rows of all that had changed when it began. When these are
 * in the state, a record says so: the lane is done with all of its messages from before that time, and they are removed.
 */
export class Lanes {
  readonly #options: LanesOptions;
  readonly #lanes: readonly Lane[];

  constructor(options: LanesOptions) {
    this.#options = options;
    const { bus, name, incarnation, shards, schedule, ended } = options;
    this.#lanes = Array.from({ length: shards }, (_, shard) => {
      const places = lanePlaces(name, incarnation, shard);
      return { journal: new JournalLane({ bus, places, schedule, ended }), roundFrom: 0, isTrimming: false };
    });
  }

  /** Bytes that wait to be kept. */
  get heldBytes(): number {
    return this.#lanes.reduce((sum, { journal }) => sum + journal.heldBytes, 0);
  }

  /** Whether more steps can be kept. */
  get hasRoom(): boolean {
    return this.heldBytes < HELD_MAX && !this.isFull;
  }

  /** Whether a stream has no room left. */
  get isFull(): boolean {
    return this.#lanes.some(({ journal }) => journal.isFull);
  }

  /**
   * Keeps what a step has changed. Where it has changed nothing, but says or answers something, nobody else may have taken
   * over by then. Undefined where it has done neither.
   */
  keep(shard: number, { record, events, outcome }: ShardReply): Promise<void> | undefined {
    if (record !== undefined) return this.#append(this.#of(shard), look(record));
    const isHeard = events.length > 0 || outcome.answers.length > 0 || outcome.zoneMoves.length > 0;
    return isHeard ? this.#of(shard).journal.barrier() : undefined;
  }

  /** Resolves when an append was kept that began after this call: nobody else has taken over before. */
  barrier(): Promise<void> {
    return this.#of(0).journal.barrier();
  }

  /** A round of a shard begins. */
  roundBegun(shard: number): void {
    const lane = this.#of(shard);
    lane.roundFrom = lane.journal.nextNumber;
  }

  /** The rows of a round are all handed out. Resolves when the lane was trimmed, or something else is trimming it. */
  async roundOver(shard: number): Promise<void> {
    const lane = this.#of(shard);
    const { roundFrom, journal, isTrimming } = lane;
    if (isTrimming || roundFrom === 0) return;
    lane.isTrimming = true;
    try {
      await this.#options.writeState();
      await this.#append(lane, zstdCompressSync(packDone(roundFrom - 1)));
      await journal.trim(roundFrom);
    } finally {
      lane.isTrimming = false;
    }
  }

  /** Keeps nothing any more: whoever waits is refused. */
  close(): void {
    for (const { journal } of this.#lanes) journal.close();
  }

  #append({ journal }: Lane, record: Uint8Array): Promise<void> {
    const kept = piecesOf(record).map((piece) => journal.append(piece));
    return kept.length === 1 ? (kept[0] as Promise<void>) : Promise.all(kept).then(() => undefined);
  }

  #of(shard: number): Lane {
    return this.#lanes[shard] as Lane;
  }
}

interface Lane {
  readonly journal: JournalLane;
  /** The number of the first message that may hold what was changed since the round began. */
  roundFrom: number;
  isTrimming: boolean;
}
