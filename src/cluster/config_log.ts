import { HubError } from '../errors.ts';
import type { Appended, Bus, Message, StreamSettings, Subscription } from './bus.ts';
import { type ConfigBody, type ConfigRecord, packRecord, unpackRecord } from './config_record.ts';
import { loadSnapshot, type SnapshotPlace, writeSnapshot } from './config_snapshot.ts';

/**
 * The configuration log: all hubs append to one stream, and each applies all of its records, in its order.
 *
 * Every append names the last sequence that this hub has applied, n, so that at most one append of all hubs becomes record
 * n + 1. Which one it was is read in the log itself, where each record has an id: that decides, whatever has become of
 * answers. Until record n + 1 has come, the same append is repeated with the same expectation, of which at most one is
 * kept; when it has come, an append that is not record n + 1 can never be kept any more, and is overtaken, or tried again
 * behind it.
 *
 * An append without an expectation is one that is tried again. Sent without naming a sequence it could not be repeated
 * when its answer is lost, since both might be kept.
 */
export interface ConfigLogOptions extends Pick<StreamSettings, 'replicas' | 'storage'> {
  readonly bus: Bus;
  /** Of the cluster: what subjects and streams begin with. */
  readonly name: string;
  /** Takes a snapshot, before any record: the messages that `snapshot` has made, here or at another hub. */
  restore(parts: readonly Uint8Array[]): void;
  /** Takes each record once and in order, while the log is opened too. What it throws stops the log. */
  apply(record: AppliedRecord): void;
  /** The state as messages, of which none is empty or too large for the bus. They stay as they are until it is asked again. */
  snapshot(): readonly Uint8Array[];
  /** Whether this hub is the one that writes snapshots; asked when one is due. */
  shouldSnapshot(): boolean;
  /** The log has stopped over an error, and does nothing any more: this hub does not know the configuration. */
  stopped(error: Error): void;
  /** Told what the log of the hub should say. */
  notice(text: string): void;
  /** An id that nobody else has. */
  newId(): string;
  /** Time that has passed since some moment. */
  elapsed(): number;
  /** Calls back after a delay; returns how to call it off. */
  schedule(delayMs: number, callback: () => void): () => void;
  /** How long an append may take in all; 12,000 when left out, which is longer than an election. */
  readonly appendMs?: number;
  /** How long it may take to apply what the log has when it is opened; 60,000 when left out. */
  readonly catchUpMs?: number;
  /** Records from one snapshot to the next; 10,000 when left out. */
  readonly snapshotEvery?: number;
}

export interface AppliedRecord extends ConfigRecord {
  /** Whether it is of an append of this log that waits for it, and is told `kept` next. */
  readonly isOwn: boolean;
}

/**
 * What an append has come to. `kept`: as the record of that sequence, which this hub has applied. `overtaken`: never kept,
 * since another record, which this hub has applied, is behind the sequence that was expected.
 */
export type ConfigAppended = { readonly at: 'kept'; readonly sequence: number } | { readonly at: 'overtaken' };

const APPEND_MS = 12_000;
const CATCH_UP_MS = 60_000;
const SNAPSHOT_EVERY = 10_000;
/** One try of an append. */
const TRY_MS = 2000;
/** Until an append is repeated where nothing has come behind it. */
const RETRY_MS = 100;
/** Until a snapshot that has failed is tried again. */
const SNAPSHOT_AGAIN_MS = 10_000;
/** Appends that may wait, and their bytes. */
const WAITING_MAX = { appends: 1000, bytes: 64 << 20 };
/** Requests that may wait for a sequence. */
const MARKS_MAX = 100_000;

/**
 * Makes the log where there is none, and applies what it has: the newest snapshot, and the records behind it. Rejects when
 * that cannot be done in time, or when `restore` or `apply` throws.
 */
export async function openConfigLog(options: ConfigLogOptions): Promise<ConfigLog> {
  const { bus, name, replicas, storage, catchUpMs = CATCH_UP_MS } = options;
  const stream = `${name}_CONFIG`;
  const snapshots: SnapshotPlace = { bus, stream: `${name}_SNAP`, subject: `${name}.snap` };
  await bus.makeStream({ name: stream, subjects: [`${name}.cfg`], replicas, storage });
  await bus.makeStream({ name: snapshots.stream, subjects: [snapshots.subject], replicas, storage });
  const snapshot = await loadSnapshot(snapshots);
  const from = snapshot?.sequence ?? 0;
  const end = (await bus.streams(stream)).find((state) => state.name === stream)?.lastSequence ?? 0;
  if (end < from) {
    throw new Error(`Cannot open the configuration log: its snapshot stands for record ${from}, but it ends at ${end}`);
  }
  if (snapshot !== undefined) options.restore(snapshot.parts);
  let isOpen = false;
  const stopped = (error: Error): void => {
    if (isOpen) options.stopped(error);
  };
  const log = new ConfigLog({ ...options, stopped }, { snapshots, stream, from });
  const late = await log.reached(end, catchUpMs).catch((error: unknown) => error);
  // It may have stopped over a record behind the last one already.
  const failure = log.failure ?? late;
  if (failure !== undefined) {
    log.close();
    throw failure;
  }
  isOpen = true;
  return log;
}

/** The configuration log of one hub, which follows it until it is closed. */
export class ConfigLog {
  readonly #options: ConfigLogOptions;
  readonly #stream: string;
  readonly #snapshots: SnapshotPlace;
  readonly #following: Subscription;
  /** One is under way, the first: the server refuses a second expectation while it agrees on the first. */
  readonly #waiting: Waiting[] = [];
  #waitingBytes = 0;
  readonly #marks = new Set<Mark>();
  #applied: number;
  #failure: Error | undefined;
  #isAppending = false;
  #isWritingSnapshot = false;
  /** When a snapshot that has failed is due again. */
  #snapshotAgainMs = Infinity;

  /** Only for openConfigLog. `from`: the record that the state stands for. */
  constructor(options: ConfigLogOptions, at: { snapshots: SnapshotPlace; stream: string; from: number }) {
    this.#options = options;
    this.#stream = at.stream;
    this.#snapshots = at.snapshots;
    this.#applied = at.from;
    const selection = { subjects: [`${options.name}.cfg`], fromSequence: at.from + 1 };
    this.#following = options.bus.follow(at.stream, selection, (message) => this.#take(message));
  }

  /** The sequence of the last record that was applied. */
  get applied(): number {
    return this.#applied;
  }

  /** Why the log has stopped; undefined while it goes on. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** Resolves when that record is applied; rejects with HUB_UNAVAILABLE when it is not in time. */
  async reached(sequence: number, timeoutMs: number): Promise<void> {
    if (this.#failure !== undefined) throw stoppedError(this.#failure);
    if (this.#applied >= sequence) return;
    if (this.#marks.size >= MARKS_MAX) {
      throw unavailable(`Cannot wait for configuration record ${sequence}: ${MARKS_MAX} requests wait already`);
    }
    if (await this.#mark(sequence, timeoutMs).passes) return;
    if (this.#failure !== undefined) throw stoppedError(this.#failure);
    throw unavailable(
      `Cannot wait for configuration record ${sequence} any longer: after ${timeoutMs} ms ${this.#applied} is the last`,
    );
  }

  /**
   * Appends a record: behind the sequence that is expected, or behind whatever there is. Rejects with HUB_UNAVAILABLE when
   * that cannot be done, or not in time. The message says whether the record may have been kept all the same: it is then
   * applied like that of another hub. Where the log has stopped over an error, or was closed, nothing is known.
   */
  async append(body: ConfigBody, expectedSequence?: number): Promise<ConfigAppended> {
    if (this.#failure !== undefined) throw stoppedError(this.#failure);
    const { appendMs = APPEND_MS, newId, elapsed } = this.#options;
    const id = newId();
    const bytes = packRecord(id, body);
    const { length } = this.#waiting;
    if (length >= WAITING_MAX.appends || this.#waitingBytes + bytes.length > WAITING_MAX.bytes) {
      throw unavailable(
        `Cannot change the configuration: ${length} changes of ${this.#waitingBytes} bytes wait already`,
      );
    }
    const { promise, resolve, reject } = Promise.withResolvers<ConfigAppended>();
    this.#waiting.push({ id, bytes, expectedSequence, untilMs: elapsed() + appendMs, resolve, reject, isOpen: true });
    this.#waitingBytes += bytes.length;
    if (!this.#isAppending) {
      this.#isAppending = true;
      // A microtask later, so that whoever appends while a record is applied appends behind it.
      queueMicrotask(() => void this.#appendAll());
    }
    return promise;
  }

  /** Ends it: nothing is applied any more, and what waits is rejected. */
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
      const record = unpackRecord(message.bytes, sequence);
      own = first?.isOpen && first.id === record.id ? first : undefined;
      this.#options.apply({ ...record, isOwn: own !== undefined });
    } catch (error) {
      this.#end(error as Error);
      this.#options.stopped(error as Error);
      return;
    }
    this.#applied = sequence;
    if (own !== undefined) settle(own, { at: 'kept', sequence });
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

  /** Waits for a record. */
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

  /** One after the other. Each ends when its own time is up: those before it are up earlier. */
  async #appendAll(): Promise<void> {
    for (let [first] = this.#waiting; first !== undefined; [first] = this.#waiting) {
      while (first.isOpen) await this.#appendBehind(first, this.#applied);
      this.#waiting.shift();
      this.#waitingBytes -= first.bytes.length;
    }
    this.#isAppending = false;
  }

  /** Appends a record behind the last that is applied, until it is known which one is the next. */
  async #appendBehind(waiting: Waiting, applied: number): Promise<void> {
    const { expectedSequence = applied, untilMs } = waiting;
    if (expectedSequence < applied) return settle(waiting, { at: 'overtaken' });
    if (expectedSequence > applied) {
      return fail(waiting, new RangeError(`Cannot append behind record ${expectedSequence}: ${applied} is the last`));
    }
    const leftMs = untilMs - this.#options.elapsed();
    if (leftMs <= 0) return fail(waiting, notKept('the changes before it have taken all of its time'));
    const mark = this.#mark(applied + 1, leftMs);
    await this.#repeatBehind(waiting, applied, mark.passes);
    mark.end(false);
  }

  async #repeatBehind(waiting: Waiting, applied: number, passes: Promise<boolean>): Promise<void> {
    let isInDoubt = false;
    for (;;) {
      const appended = await this.#tryBehind(waiting, applied, passes);
      // Known from the log, or it has stopped.
      if (appended === true || this.#applied > applied || !waiting.isOpen) return;
      // This try has no answer yet.
      if (appended === false) return fail(waiting, lateError(true));
      if (appended instanceof Error) return fail(waiting, isInDoubt ? lateError(true, appended) : appended);
      if (appended.at === 'full' && !isInDoubt) return fail(waiting, notKept('its stream is full'));
      isInDoubt ||= appended.at === 'unknown' || appended.at === 'kept';
      const isNear = appended.at === 'kept' ? passes : this.#within(passes, RETRY_MS);
      if ((await isNear) === false) return waiting.isOpen ? fail(waiting, lateError(isInDoubt)) : undefined;
    }
  }

  /** One try: its answer, or, where that comes earlier, whether the next record has come in time. */
  #tryBehind(
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

  /** What the promise says, or undefined when it says nothing for so long. */
  #within(passes: Promise<boolean>, ms: number): Promise<boolean | undefined> {
    return new Promise((resolve) => {
      const cancel = this.#options.schedule(ms, () => resolve(undefined));
      void passes.then((isReached) => {
        cancel();
        resolve(isReached);
      });
    });
  }

  /** All hubs count the same records: at each multiple one of them writes a snapshot. */
  #snapshotIfDue(): void {
    const { snapshotEvery = SNAPSHOT_EVERY, elapsed, shouldSnapshot } = this.#options;
    const isDue = this.#applied % snapshotEvery === 0 || elapsed() >= this.#snapshotAgainMs;
    if (!isDue || this.#isWritingSnapshot || !shouldSnapshot()) return;
    this.#isWritingSnapshot = true;
    void this.#writeSnapshot(this.#applied);
  }

  /** Writes the state as it is now, and trims the log back to the snapshot before, which others may be reading. */
  async #writeSnapshot(sequence: number): Promise<void> {
    const { bus, name, snapshot, notice, elapsed } = this.#options;
    this.#snapshotAgainMs = Infinity;
    try {
      const before = await writeSnapshot(this.#snapshots, { sequence, parts: snapshot() });
      if (before !== undefined && before > 0) await bus.purge(this.#stream, `${name}.cfg`, before + 1);
    } catch (error) {
      this.#snapshotAgainMs = elapsed() + SNAPSHOT_AGAIN_MS;
      notice(`No snapshot of configuration record ${sequence}: ${(error as Error).message}`);
    }
    this.#isWritingSnapshot = false;
  }
}

/** An append that has not come to anything yet. */
interface Waiting {
  readonly id: string;
  readonly bytes: Uint8Array;
  readonly expectedSequence: number | undefined;
  readonly untilMs: number;
  readonly resolve: (appended: ConfigAppended) => void;
  readonly reject: (error: unknown) => void;
  isOpen: boolean;
}

/** Somebody who waits for a record. */
interface Mark {
  readonly sequence: number;
  /** Whether it is applied in time. */
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

function unavailable(message: string, cause?: unknown): HubError {
  return new HubError('HUB_UNAVAILABLE', message, { cause });
}

function notKept(why: string): HubError {
  return unavailable(`Cannot change the configuration: ${why}`);
}

function lateError(isInDoubt: boolean, cause?: unknown): HubError {
  if (!isInDoubt) return notKept('others were first, and their changes have not come in time');
  return unavailable('Cannot say whether the configuration was changed: the log was not heard in time', cause);
}

function stoppedError(failure: Error): HubError {
  return unavailable(`Cannot use the configuration log: ${failure.message}`, failure);
}

function gapError(applied: number, found: number): Error {
  return new Error(
    `Cannot follow the configuration log: record ${applied + 1} must be next, but ${found} is: this hub was away for longer than records are kept`,
  );
}
