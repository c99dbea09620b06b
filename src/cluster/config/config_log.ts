import { hubError, type HubError } from '../../errors.ts';
import type { ClusterContext } from '../context.ts';
import { type Appended, BusBusyError, type Message, type Subscription } from '../nats/bus.ts';
import { type ConfigBody, type ConfigRecord, packRecord, unpackRecord } from './config_record.ts';
import { loadSnapshot, type SnapshotStream, writeSnapshot } from './config_snapshot.ts';
import { type ConfigStreamOptions, endOfLog, logStream, makeConfigStreams, snapshotStream } from './config_streams.ts';

/**
 * Configuration log: all hubs append to one stream, and every hub applies all of its records in the same order.
 *
 * Every append names n, the last sequence that this hub has applied, so at most one append of all hubs becomes record n + 1.
 * Each record has an id, and the log itself shows which append won; answers may be lost. Until record n + 1 arrives, the append
 * is repeated with the same expectation, so that at most one copy is stored. Once it has arrived, an append that is not record
 * n + 1 can never be stored as such: it is overtaken, or retried after that record.
 *
 * Appends without an expected sequence are retried. They name n as well when they are sent: otherwise they could not be
 * repeated after a lost answer, since both copies might be stored.
 */
export interface ConfigLogOptions extends ConfigStreamOptions, Pick<ClusterContext, 'notice'> {
  /**
   * Loads a snapshot before any record is applied: the messages that `snapshot` returned, on this hub or another, after the
   * record of that sequence.
   */
  restore(parts: readonly Uint8Array[], sequence: number): void;
  /** Applies a record. Called once for each, in order, starting while the log is being opened. A throw stops the log. */
  apply(record: AppliedRecord): void;
  /**
   * The state as messages, none of which may be empty or larger than PAYLOAD_BYTES_MAX. They must not change before the next
   * call.
   */
  snapshot(): readonly Uint8Array[];
  /** Whether this hub writes snapshots; called when one is due. */
  shouldSnapshot(): boolean;
  /** Called when an error has stopped the log, so that this hub no longer follows the configuration. */
  stopped(error: Error): void;
  /** Versions of the protocol that this hub supports; PROTOCOLS if left out. */
  readonly protocols?: readonly number[];
  /** A new id, unique across all hubs. */
  newId(): string;
  /** Total time for an append; 12,000 if left out, which is longer than an election. */
  readonly appendMs?: number;
  /** Time for applying the existing records when the log opens; 60,000 if left out. */
  readonly catchUpMs?: number;
  /** Number of records between two snapshots; 10,000 if left out. */
  readonly snapshotEvery?: number;
}

export interface AppliedRecord extends ConfigRecord {
  /** Whether it is a pending append of this log, which is about to resolve as `committed`. */
  readonly isOwn: boolean;
}

/**
 * Outcome of an append. `committed`: it is the record of that sequence, and this hub has applied it. `overtaken`: it was not stored
 * and never will be, because another record, which this hub has applied, follows the expected sequence.
 */
export type ConfigAppended = { readonly at: 'committed'; readonly sequence: number } | { readonly at: 'overtaken' };

const APPEND_MS = 12_000;
const CATCH_UP_MS = 60_000;
const SNAPSHOT_EVERY = 10_000;
/** Time for one attempt to append. */
const TRY_MS = 2000;
/** Pause before an append is repeated while the next record has not arrived. */
const RETRY_MS = 100;
/** Pause before a failed snapshot is retried. */
const SNAPSHOT_AGAIN_MS = 10_000;
/** Most appends that may be pending, and their total size. */
const WAITING_MAX = { appends: 1000, bytes: 64 << 20 };
/** Most callers that may wait for a sequence. */
const MARKS_MAX = 100_000;

/**
 * Opens the log, creating its streams if need be, and applies the newest snapshot and the records after it. Rejects if that
 * takes longer than `catchUpMs`, if `restore` or `apply` throws, or with the error of the bus.
 */
export async function openConfigLog(options: ConfigLogOptions): Promise<ConfigLog> {
  const { bus, name, catchUpMs = CATCH_UP_MS } = options;
  const stream = logStream(name);
  const snapshots: SnapshotStream = { bus, stream: snapshotStream(name), subject: `${name}.snap` };
  await makeConfigStreams(options);
  const snapshot = await loadSnapshot(snapshots);
  const from = snapshot?.sequence ?? 0;
  const end = await endOfLog(options, catchUpMs);
  if (end < from) {
    throw new Error(
      `Cannot open the configuration log: its snapshot includes record ${from}, but the log ends at ${end}`,
    );
  }
  if (snapshot !== undefined) options.restore(snapshot.parts, snapshot.sequence);
  let isOpen = false;
  const stopped = (error: Error): void => {
    if (isOpen) options.stopped(error);
  };
  const log = new ConfigLog({ ...options, stopped }, { snapshots, stream, from });
  const late = await log.reached(end, catchUpMs).catch((error: unknown) => error);
  // The log may have stopped already at a record after `end`.
  const failure = log.failure ?? late;
  if (failure !== undefined) {
    log.close();
    throw failure;
  }
  isOpen = true;
  return log;
}

/** The configuration log as one hub follows it, until it is closed. */
export class ConfigLog {
  readonly #options: ConfigLogOptions;
  readonly #stream: string;
  readonly #snapshots: SnapshotStream;
  readonly #following: Subscription;
  /** Only the first is in flight: a server rejects an append while the stream is still agreeing on the one before. */
  readonly #waiting: Waiting[] = [];
  #waitingBytes = 0;
  readonly #marks = new Set<Mark>();
  #applied: number;
  #failure: Error | undefined;
  #isAppending = false;
  #isWritingSnapshot = false;
  /** Time at which a failed snapshot is due again. */
  #snapshotAgainMs = Infinity;

  /** Called by openConfigLog only. `from`: the last record that the state includes. */
  constructor(options: ConfigLogOptions, at: { snapshots: SnapshotStream; stream: string; from: number }) {
    this.#options = options;
    this.#stream = at.stream;
    this.#snapshots = at.snapshots;
    this.#applied = at.from;
    const selection = { subjects: [`${options.name}.cfg`], fromSequence: at.from + 1 };
    this.#following = options.bus.follow(at.stream, selection, (message) => this.#take(message));
  }

  /** Sequence of the last applied record. */
  get applied(): number {
    return this.#applied;
  }

  /** Error that stopped the log; undefined while it is running. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** Resolves once that record is applied; rejects with HUB_UNAVAILABLE if that takes longer. */
  async reached(sequence: number, timeoutMs: number): Promise<void> {
    if (this.#failure !== undefined) throw stoppedError(this.#failure);
    if (this.#applied >= sequence) return;
    if (this.#marks.size >= MARKS_MAX) {
      throw hubError('too_many_waiting', { operation: 'wait_for_configuration', count: MARKS_MAX });
    }
    if (await this.#mark(sequence, timeoutMs).passes) return;
    if (this.#failure !== undefined) throw stoppedError(this.#failure);
    throw hubError('config_record_late', { sequence, limit: timeoutMs, last: this.#applied });
  }

  /**
   * Appends a record: right after the expected sequence, or after the last one. Rejects with HUB_UNAVAILABLE if that is not
   * possible, or not in time. The message says whether the record may be stored nevertheless, in which case it is applied like
   * one from another hub; once the log has stopped or was closed, it may or may not be stored. Rejects with a RangeError for a
   * sequence that this hub has not applied yet, and with a MessageError for an invalid body.
   */
  async append(body: ConfigBody, expectedSequence?: number): Promise<ConfigAppended> {
    if (this.#failure !== undefined) throw stoppedError(this.#failure);
    const { appendMs = APPEND_MS, newId, elapsed } = this.#options;
    const id = newId();
    const bytes = packRecord(id, body);
    const { length } = this.#waiting;
    if (length >= WAITING_MAX.appends || this.#waitingBytes + bytes.length > WAITING_MAX.bytes) {
      throw hubError('config_changes_waiting', { count: length, bytes: this.#waitingBytes });
    }
    const { promise, resolve, reject } = Promise.withResolvers<ConfigAppended>();
    this.#waiting.push({ id, bytes, expectedSequence, untilMs: elapsed() + appendMs, resolve, reject, isOpen: true });
    this.#waitingBytes += bytes.length;
    if (!this.#isAppending) {
      this.#isAppending = true;
      // A microtask later, so that an append made while a record is being applied comes after that record.
      queueMicrotask(() => void this.#appendAll());
    }
    return promise;
  }

  /** Stops applying records, and rejects everything that is pending. */
  close(): void {
    this.#end(new Error('the configuration log is closed'));
  }

  #take(message: Message): void {
    if (this.#failure !== undefined) return;
    const { sequence } = message;
    const [first] = this.#waiting;
    let own: Waiting | undefined;
    try {
      if (sequence !== this.#applied + 1) throw gapError(this.#applied, sequence);
      const record = unpackRecord(message.bytes, sequence, this.#options.protocols);
      own = first?.isOpen && first.id === record.id ? first : undefined;
      this.#options.apply({ ...record, isOwn: own !== undefined });
    } catch (error) {
      this.#end(error as Error);
      this.#options.stopped(error as Error);
      return;
    }
    this.#applied = sequence;
    if (own !== undefined) settle(own, { at: 'committed', sequence });
    for (const mark of this.#marks) if (mark.sequence <= sequence) mark.end(true);
    this.#snapshotIfDue();
  }

  #end(error: Error): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    this.#following.end();
    for (const waiting of this.#waiting) fail(waiting, stoppedError(error));
    for (const mark of this.#marks) mark.end(false);
  }

  /** Starts to wait for a record. */
  #mark(sequence: number, timeoutMs: number): Mark {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const end = (isReached: boolean): void => {
      this.#marks.delete(mark);
      cancel();
      resolve(isReached);
    };
    const cancel = this.#options.schedule(timeoutMs, () => end(false));
    const mark: Mark = { sequence, passes: promise, end };
    this.#marks.add(mark);
    return mark;
  }

  /** Appends one after another. None exceeds its time, since those before it time out first. */
  async #appendAll(): Promise<void> {
    for (let [first] = this.#waiting; first !== undefined; [first] = this.#waiting) {
      while (first.isOpen) await this.#appendAfter(first, this.#applied);
      this.#waiting.shift();
      this.#waitingBytes -= first.bytes.length;
    }
    this.#isAppending = false;
  }

  /** Appends a record after the last applied one, until the next record is known. */
  async #appendAfter(waiting: Waiting, applied: number): Promise<void> {
    const { expectedSequence = applied, untilMs } = waiting;
    if (expectedSequence < applied) return settle(waiting, { at: 'overtaken' });
    if (expectedSequence > applied) {
      return fail(
        waiting,
        new RangeError(`Cannot append after record ${expectedSequence}: the last one is ${applied}`),
      );
    }
    const leftMs = untilMs - this.#options.elapsed();
    if (leftMs <= 0) return fail(waiting, hubError('config_queue_slow'));
    const mark = this.#mark(applied + 1, leftMs);
    await this.#repeatAfter(waiting, applied, mark.passes);
    mark.end(false);
  }

  async #repeatAfter(waiting: Waiting, applied: number, passes: Promise<boolean>): Promise<void> {
    let isInDoubt = false;
    for (;;) {
      const appended = await this.#tryAfter(waiting, applied, passes);
      // The log has decided, or has stopped.
      if (appended === true || this.#applied > applied || !waiting.isOpen) return;
      // Time is up, and this attempt is still unanswered.
      if (appended === false) return fail(waiting, lateError(true));
      if (appended instanceof BusBusyError) {
        if ((await this.#within(passes, RETRY_MS)) !== false) continue;
        return waiting.isOpen
          ? fail(
              waiting,
              isInDoubt ? lateError(true) : hubError('config_unavailable', {}, { detail: appended.message }),
            )
          : undefined;
      }
      if (appended instanceof Error) return fail(waiting, isInDoubt ? lateError(true, appended) : appended);
      if (appended.at === 'full' && !isInDoubt) return fail(waiting, hubError('config_full'));
      isInDoubt ||= appended.at === 'unknown' || appended.at === 'committed';
      const isNear = appended.at === 'committed' ? passes : this.#within(passes, RETRY_MS);
      if ((await isNear) === false) return waiting.isOpen ? fail(waiting, lateError(isInDoubt)) : undefined;
    }
  }

  /** Makes one attempt. Resolves with its answer or, if that comes first, with whether the next record arrived in time. */
  #tryAfter(
    { bytes, untilMs }: Waiting,
    applied: number,
    passes: Promise<boolean>,
  ): Promise<Appended | Error | boolean> {
    const { bus, name, elapsed } = this.#options;
    const append = bus.append({
      ...{ stream: this.#stream, subject: `${name}.cfg`, bytes, expects: { lastOfStream: applied } },
      timeoutMs: Math.max(1, Math.min(TRY_MS, untilMs - elapsed())),
    });
    return Promise.race([passes, append.catch((error: Error) => error)]);
  }

  /** Result of the promise, or undefined if it is not settled within `ms`. */
  #within(passes: Promise<boolean>, ms: number): Promise<boolean | undefined> {
    return new Promise((resolve) => {
      const cancel = this.#options.schedule(ms, () => resolve(undefined));
      void passes.then((isReached) => {
        cancel();
        resolve(isReached);
      });
    });
  }

  /** All hubs count the same records; at each multiple of `snapshotEvery` one of them writes a snapshot. */
  #snapshotIfDue(): void {
    const { snapshotEvery = SNAPSHOT_EVERY, elapsed, shouldSnapshot } = this.#options;
    const isDue = this.#applied % snapshotEvery === 0 || elapsed() >= this.#snapshotAgainMs;
    if (!isDue || this.#isWritingSnapshot || !shouldSnapshot()) return;
    this.#isWritingSnapshot = true;
    void this.#writeSnapshot(this.#applied);
  }

  /** Writes the current state, and trims the log up to the previous snapshot, which others may still be reading. */
  async #writeSnapshot(sequence: number): Promise<void> {
    const { bus, name, snapshot, notice, elapsed } = this.#options;
    this.#snapshotAgainMs = Infinity;
    try {
      const before = await writeSnapshot(this.#snapshots, { sequence, parts: snapshot() });
      if (before !== undefined && before > 0) await bus.purge(this.#stream, `${name}.cfg`, before + 1);
    } catch (error) {
      this.#snapshotAgainMs = elapsed() + SNAPSHOT_AGAIN_MS;
      notice(`Cannot write a snapshot of configuration record ${sequence}: ${(error as Error).message}`);
    }
    this.#isWritingSnapshot = false;
  }
}

/** A pending append. */
interface Waiting {
  readonly id: string;
  readonly bytes: Uint8Array;
  readonly expectedSequence: number | undefined;
  readonly untilMs: number;
  readonly resolve: (appended: ConfigAppended) => void;
  readonly reject: (error: unknown) => void;
  isOpen: boolean;
}

/** A caller that waits for a record. */
interface Mark {
  readonly sequence: number;
  /** Resolves with whether it was applied in time. */
  readonly passes: Promise<boolean>;
  end(isReached: boolean): void;
}

function settle(waiting: Waiting, appended: ConfigAppended): void {
  waiting.isOpen = false;
  waiting.resolve(appended);
}

function fail(waiting: Waiting, error: Error): void {
  waiting.isOpen = false;
  waiting.reject(error);
}

function lateError(isInDoubt: boolean, cause?: unknown): HubError {
  return isInDoubt ? hubError('config_unknown', {}, { cause }) : hubError('config_outrun');
}

function stoppedError(failure: Error): HubError {
  return hubError('config_stopped', {}, { cause: failure, detail: failure.message });
}

function gapError(applied: number, found: number): Error {
  return new Error(
    `Cannot follow the configuration log: record ${applied + 1} must be next, found ${found}, because this hub was away for longer than records are retained`,
  );
}
