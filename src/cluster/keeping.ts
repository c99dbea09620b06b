import type { CollisionRow } from '../core/collision/row.ts';
import type { KeptRow, LastKnownRow } from '../core/item.ts';
import { HubError } from '../errors.ts';
import type { ObjectKind } from '../model/id.ts';
import type { Turns } from '../time/turns.ts';
import type { ShardReply } from '../wire/messages.ts';
import { type Applicant, checkStreams, isForGood } from './admission.ts';
import { BusError } from './bus.ts';
import { type Checkpoints, type CheckpointsOptions, makeStateStream, openCheckpoints } from './checkpoints.ts';
import { journalStreams } from './journal_places.ts';
import { StepJournal } from './step_journal.ts';

export interface KeptStreams extends Applicant {
  /** Of each journal stream. */
  readonly journalBytesMax: number;
  /** Time that has passed since some moment. */
  elapsed(): number;
  /** Calls back after a delay; returns how to call it off. */
  schedule(delayMs: number, callback: () => void): () => void;
}

export interface KeepingOptions extends KeptStreams {
  readonly shards: number;
  /** Whether what is read may be from the past while this hub is cut off. */
  readonly reads: 'latest' | 'any';
  readonly turns: Turns;
}

/** What is told of the objects, whenever something is to be kept. */
export interface Keeper extends Required<Pick<CheckpointsOptions, 'partitionOf' | 'isOwn' | 'isSettled'>> {
  /** Whether this hub is a member, and has not ended. */
  isServing(): boolean;
  /** Whether the shards have been handed some state: what they change is recorded from then on. */
  hasState(): boolean;
  /** Whether something is to come that is not there yet. */
  isAcquiring(): boolean;
  /** Tells the objects that the shards have, or had until others took them; undefined while there are no shards. */
  arrived(): ((kind: ObjectKind, id: string) => boolean) | undefined;
  /** Nothing is kept any more. */
  out(error: Error): void;
}

/** How long servers of NATS that have just started may take to agree on a leader. */
const READY_MS = 15_000;
/** Until streams that could not be made are tried again. */
const AGAIN_MS = 500;

/** Makes the streams. Servers that have just started have no leader for a while: what they cannot do then is tried again. */
export async function openStreams(options: KeptStreams): Promise<void> {
  const { incarnation, elapsed, schedule } = options;
  for (const untilMs = elapsed() + READY_MS; ; ) {
    try {
      await checkStreams(options);
      await makeJournal(options, incarnation);
      await makeStateStream(options);
      return;
    } catch (error) {
      if (!(error instanceof BusError) || isForGood(error) || elapsed() >= untilMs) throw error;
      await new Promise<void>((resolve) => void schedule(AGAIN_MS, resolve));
    }
  }
}

/** Makes the streams of an incarnation's journal. */
export async function makeJournal(options: KeptStreams, incarnation: string): Promise<void> {
  const { bus, name, replicas, storage, journalBytesMax: bytesMax } = options;
  for (const stream of journalStreams(name, incarnation)) {
    await bus.makeStream({ ...stream, replicas, storage, bytesMax });
  }
}

/**
 * What this hub keeps in NATS for whoever comes after it: the steps of its shards in its journal, and their rows in the
 * state, which take the place of the journal's beginning. Where either is not this hub's any more, it is out.
 */
export class Keeping {
  readonly journal: StepJournal;
  readonly checkpoints: Checkpoints;
  readonly #options: KeepingOptions;
  readonly #keeper: Keeper;

  constructor(options: KeepingOptions, keeper: Keeper) {
    const { bus, name, incarnation, shards, reads, schedule, elapsed } = options;
    const { partitionOf, isOwn, isSettled } = keeper;
    this.#options = options;
    this.#keeper = keeper;
    this.checkpoints = openCheckpoints({ ...options, partitionOf, isOwn, isSettled });
    this.journal = new StepJournal({
      ...{ bus, name, incarnation, shards, reads, schedule, elapsed },
      widen: (bytes) => this.#widenJournal(bytes),
      writeState: () => this.writeState(),
      isAcquiring: () => keeper.isAcquiring(),
      ended: (error) => keeper.out(error),
    });
  }

  /** Keeps what a step has changed, see StepJournal. What changes before this hub has the state is none of the state. */
  step(shard: number, reply: ShardReply): Promise<void> | undefined {
    // Of what is not recorded it is kept that nobody else has taken over before.
    const { record: _, config: _config, ...heard } = reply;
    return this.journal.keep(shard, this.#keeper.hasState() ? reply : heard)?.catch((cause: unknown) => {
      throw new HubError('HUB_UNAVAILABLE', 'Cannot keep locations: this hub is out of its cluster', { cause });
    });
  }

  /**
   * Takes rows that the shards have handed out, in times of day. Bytes are copied. Before this hub has the state they say
   * nothing of it: an object that moves between shards then has no place in either.
   */
  noteRows(rows: Iterable<KeptRow>): void {
    if (this.#keeper.hasState()) this.checkpoints.note(rows as Iterable<LastKnownRow>);
  }

  /** Keeps pairs that collide. Resolves when they are kept. */
  async pairs(rows: Iterable<KeptRow>): Promise<void> {
    await this.#written(this.checkpoints.noteCollisions(rows as Iterable<CollisionRow>));
  }

  /**
   * The last row of each object that the shards have, in times of day: none before they are handed any state. `hasAdopted`
   * tells objects that they have although the log does not say so yet.
   */
  async rows(hasAdopted: (kind: ObjectKind, id: string) => boolean): Promise<readonly LastKnownRow[]> {
    if (!this.#keeper.hasState()) return [];
    const rows: LastKnownRow[] = [];
    for await (const part of this.checkpoints.rows()) {
      for (const row of part) if (row.kind !== 'collision') rows.push(row);
    }
    const isHere = this.#keeper.arrived();
    return rows.filter(({ kind, id }) => isHere?.(kind, id) === true || hasAdopted(kind, id));
  }

  /** A round of a shard begins, see StepJournal. */
  roundBegun(): number {
    return this.journal.roundBegun();
  }

  /** The rows that a round has handed out were all noted. Never rejects. */
  async roundOver(shard: number, begunAt: number): Promise<void> {
    const { isServing } = this.#keeper;
    if (!isServing()) return;
    try {
      await this.journal.roundOver(shard, begunAt);
    } catch (error) {
      // The next round says the same again, and more.
      if (isServing()) this.#options.notice(`Cannot trim the journal: ${(error as Error).message}`);
    }
  }

  /** Barriers of a hub that has nothing to do do not pile up. */
  trimIdle(): void {
    if (!this.#keeper.isServing()) return;
    // It is tried again with the next.
    this.journal.trimIdle().catch(() => undefined);
  }

  /** Writes all rows that were handed out to the state. */
  writeState(): Promise<void> {
    return this.#written(this.checkpoints.write());
  }

  /** See Checkpoints. Never rejects. */
  async tidy(): Promise<void> {
    await this.checkpoints.tidy().catch((error: unknown) => {
      if (this.checkpoints.failure !== undefined) this.#keeper.out(this.checkpoints.failure);
      else this.#options.notice(`Cannot tidy the state: ${(error as Error).message}`);
    });
  }

  async #written(written: Promise<void>): Promise<void> {
    try {
      await written;
    } catch (error) {
      if (this.checkpoints.failure !== undefined) this.#keeper.out(this.checkpoints.failure);
      throw error;
    }
  }

  async #widenJournal(bytes: number): Promise<void> {
    const { bus, name, incarnation, replicas, storage, journalBytesMax, notice } = this.#options;
    const size = journalBytesMax + bytes;
    for (const stream of journalStreams(name, incarnation)) {
      await bus.alterStream({ ...stream, replicas, storage, bytesMax: size });
    }
    if (bytes === 0) notice('The journal has room again', 'info');
    else
      notice(`The journal is full, and no locations are taken until it is trimmed: it gets ${size} bytes for the rest`);
  }
}
