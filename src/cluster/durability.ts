import type { CollisionRow } from '../core/collision/row.ts';
import type { StoredRow, LastKnownRow } from '../core/item.ts';
import { hubError } from '../errors.ts';
import type { ObjectKind } from '../model/id.ts';
import type { TaskScheduler } from '../time/task_scheduler.ts';
import type { ShardReply } from '../wire/messages.ts';
import { makeConfigStreams } from './config/config_streams.ts';
import { contextOf, pause } from './context.ts';
import { type Applicant, checkStreams, isForGood } from './membership/admission.ts';
import { BusError } from './nats/bus.ts';
import { Checkpoints, type CheckpointsOptions, makeStateStream } from './state/checkpoints.ts';
import { auditName, type EventLogBounds, eventStreamSettings } from './events/log_stream.ts';
import { journalStreams } from './journal/journal_streams.ts';
import { StepJournal } from './journal/step_journal.ts';

export interface DurableStreams extends Applicant {
  /** Size of each journal stream. */
  readonly journalBytesMax: number;
  /** Bounds of the event log; undefined without one. */
  readonly eventLog?: EventLogBounds | undefined;
  /** The same for the audit log. */
  readonly auditLog?: EventLogBounds | undefined;
}

export interface DurabilityOptions extends DurableStreams {
  readonly shards: number;
  /** Whether reads may be stale while this hub is cut off. */
  readonly reads: 'latest' | 'any';
  readonly turns: TaskScheduler;
}

/** Facts about objects and this hub that the storage needs. */
export interface DurabilityHost extends Required<Pick<CheckpointsOptions, 'partitionOf' | 'isOwn' | 'isSettled'>> {
  /** Whether this hub is a member, and is not closed. */
  isServing(): boolean;
  /** Whether the shards have adopted state: their changes are journaled from then on. */
  hasState(): boolean;
  /** Whether state is still being acquired. */
  isAcquiring(): boolean;
  /** Tests whether the shards have an object, or had it until others acquired it; undefined while there are no shards. */
  arrived(): ((kind: ObjectKind, id: string) => boolean) | undefined;
  /** See EventAppender.pendingFrom. */
  eventsPendingFrom(): number;
  /** Nothing can be stored any more. */
  out(error: Error): void;
}

/** Time that NATS servers may take after their start to elect leaders. */
const READY_MS = 15_000;
/** Pause before streams that could not be created are tried again. */
const AGAIN_MS = 500;

/**
 * Creates the streams. Servers that have just started elect a leader for each stream first, so failures are retried. The streams
 * are listed only to explain a failure: that takes until each of them has a leader, those of removed members included.
 */
export async function openStreams(options: DurableStreams): Promise<void> {
  const { incarnation, elapsed } = options;
  for (const untilMs = elapsed() + READY_MS; ; ) {
    try {
      await Promise.all([
        makeConfigStreams(options),
        makeStateStream(options),
        makeJournal(options, incarnation),
        makeEventStream(options, options.eventLog),
        makeEventStream({ ...options, name: auditName(options.name) }, options.auditLog),
      ]);
      return;
    } catch (error) {
      if (error instanceof BusError && isForGood(error)) await checkStreams(options);
      if (!(error instanceof BusError) || isForGood(error) || elapsed() >= untilMs) throw error;
      await pause(options, AGAIN_MS);
    }
  }
}

/** Creates the stream of the event log or the audit log, or gives it the bounds of this hub. */
async function makeEventStream(options: DurableStreams, bounds: EventLogBounds | undefined): Promise<void> {
  const { bus } = options;
  if (bounds === undefined) return;
  const settings = eventStreamSettings(options, bounds);
  await bus.makeStream(settings).catch((error: unknown) => {
    if (!(error instanceof BusError) || !error.message.includes('already in use')) throw error;
    return bus.alterStream(settings);
  });
}

/** Creates the streams of a member's journal. */
export async function makeJournal(options: DurableStreams, incarnation: string): Promise<void> {
  const { bus, name, replicas, storage, journalBytesMax: bytesMax } = options;
  const streams = journalStreams(name, incarnation);
  await Promise.all(streams.map((stream) => bus.makeStream({ ...stream, replicas, storage, bytesMax })));
}

/**
 * Durable data of this hub in NATS, for its successors: the steps of its shards in its journal, and their rows in the state,
 * which replace the beginning of the journal. If another hub has taken over either, this hub is out.
 */
export class Durability {
  readonly journal: StepJournal;
  readonly checkpoints: Checkpoints;
  readonly #options: DurabilityOptions;
  readonly #host: DurabilityHost;

  constructor(options: DurabilityOptions, keeper: DurabilityHost) {
    const { shards, reads } = options;
    const { partitionOf, isOwn, isSettled } = keeper;
    this.#options = options;
    this.#host = keeper;
    this.checkpoints = new Checkpoints({ ...options, partitionOf, isOwn, isSettled });
    this.journal = new StepJournal({
      ...{ ...contextOf(options), shards, reads },
      widen: (bytes) => this.#widenJournal(bytes),
      writeState: () => this.writeState(),
      isAcquiring: () => keeper.isAcquiring(),
      eventsPendingFrom: () => keeper.eventsPendingFrom(),
      ended: (error) => keeper.out(error),
    });
  }

  /** Journals the changes of a step, see StepJournal. Changes made before this hub has the state are not part of the state. */
  step(shard: number, reply: ShardReply): Promise<void> | undefined {
    // Without the record, only that no other hub had taken over before is ensured.
    const { record: _, config: _config, ...withoutRecord } = reply;
    return this.journal.keep(shard, this.#host.hasState() ? reply : withoutRecord)?.catch((cause: unknown) => {
      throw hubError('out_of_cluster', { operation: 'keep_locations' }, { cause });
    });
  }

  /**
   * Takes rows that the shards have flushed, in wall-clock time. Bytes are copied. Before this hub has the state the rows are
   * incomplete: an object that moves between shards then has a location in neither.
   */
  noteRows(rows: Iterable<StoredRow>): void {
    if (this.#host.hasState()) this.checkpoints.note(rows as Iterable<LastKnownRow>);
  }

  /** Writes colliding pairs. Resolves when they are stored. */
  async pairs(rows: Iterable<StoredRow>): Promise<void> {
    await this.#written(this.checkpoints.noteCollisions(rows as Iterable<CollisionRow>));
  }

  /**
   * Last row of each object that the shards have, in wall-clock time: none before they have adopted state. `hasAdopted` tests
   * objects that they have although the log does not say so yet.
   */
  async rows(hasAdopted: (kind: ObjectKind, id: string) => boolean): Promise<readonly LastKnownRow[]> {
    if (!this.#host.hasState()) return [];
    const rows: LastKnownRow[] = [];
    for await (const part of this.checkpoints.rows()) {
      for (const row of part) if (row.kind !== 'collision') rows.push(row);
    }
    const isHere = this.#host.arrived();
    return rows.filter(({ kind, id }) => isHere?.(kind, id) === true || hasAdopted(kind, id));
  }

  /** A flush of a shard begins, see StepJournal. */
  roundBegun(): number {
    return this.journal.roundBegun();
  }

  /** All rows of a flush were passed to `noteRows`. Never rejects. */
  async roundOver(shard: number, begunAt: number): Promise<void> {
    const { isServing } = this.#host;
    if (!isServing()) return;
    try {
      await this.journal.roundOver(shard, begunAt);
    } catch (error) {
      // The next flush covers the same steps, and more.
      if (isServing()) this.#options.notice(`Cannot trim the journal: ${(error as Error).message}`);
    }
  }

  /** Trims the barriers of an idle hub. */
  trimIdle(): void {
    if (!this.#host.isServing()) return;
    // The next call retries.
    this.journal.trimIdle().catch(() => undefined);
  }

  /**
   * Resolves when this hub is proven not to have been sealed before the call, so that it had applied every change acknowledged
   * until then. Rejects with HUB_UNAVAILABLE if it was sealed.
   */
  async upToDate(): Promise<void> {
    await this.journal.barrier().catch((cause: unknown) => {
      throw hubError('out_of_cluster', { operation: 'read' }, { cause });
    });
  }

  /** Writes all flushed rows to the state. */
  writeState(): Promise<void> {
    return this.#written(this.checkpoints.write());
  }

  /** See Checkpoints. Never rejects. */
  async tidy(): Promise<void> {
    await this.checkpoints.tidy().catch((error: unknown) => {
      if (this.checkpoints.failure !== undefined) this.#host.out(this.checkpoints.failure);
      else this.#options.notice(`Cannot tidy the state: ${(error as Error).message}`);
    });
  }

  async #written(written: Promise<void>): Promise<void> {
    try {
      await written;
    } catch (error) {
      if (this.checkpoints.failure !== undefined) this.#host.out(this.checkpoints.failure);
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
      notice(
        `The journal is full, and no locations are accepted until it is trimmed; it is enlarged to ${size} bytes for pending steps`,
      );
  }
}
