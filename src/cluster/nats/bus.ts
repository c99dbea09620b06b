import type { Borrowed } from '../../model/borrowed.ts';

/**
 * Transport and storage of a cluster: plain messages between hubs, and streams of messages that a majority of the servers
 * stores.
 *
 * Every call ends within its `timeoutMs`, whatever happens to the servers, the connection or the thread. The bus copies bytes
 * before a call returns, so the caller may reuse them at once. The exception is an append of bytes in a SharedArrayBuffer:
 * these are sent in place, and must not change until the append has its result.
 */
export interface Bus {
  /** Whether the bus is connected to a server. */
  readonly isUp: boolean;

  /**
   * Calls the watcher on every change of the connection, and once at the end of this turn with the current status. Returns a
   * function that stops it. Messages published between `down` and `up` are lost. Followers of a stream still receive everything
   * that it stored in the meantime.
   */
  watch(watcher: (status: BusStatus) => void): () => void;

  /**
   * Sends a message to all current subscribers of its subject except this bus. It arrives at most once, in order with the other
   * messages of this bus. Returns false if it was not sent because there is no connection or the queue is full. Throws a
   * BusError for an invalid subject or a message that is too large.
   */
  publish(subject: string, bytes: Uint8Array): boolean;

  /**
   * Sends a request to the subscribers of a subject and takes the first answer. `read` gets the bytes as they arrive, and its
   * result is the value; if it throws, the request rejects. Without a connection, the request is sent as soon as there is one.
   */
  request<Value>(subject: string, bytes: Uint8Array, asking: RequestOptions<Value>): Promise<BusAnswer<Value>>;

  /**
   * Subscribes to a subject until the subscription is closed. The subject may contain the wildcards `*`, for one token, and
   * `>`, for the rest. Messages larger than PAYLOAD_BYTES_MAX, which no bus sends, are skipped.
   */
  subscribe(subject: string, take: (message: Message) => void): Subscription;

  /** Creates a stream. Does nothing if it exists with the same settings; rejects if it exists with others. */
  makeStream(settings: StreamSettings): Promise<void>;

  /** Changes the settings of a stream, except its name and storage. Rejects if there is no such stream. */
  alterStream(settings: StreamSettings): Promise<void>;

  /** Deletes a stream and everything in it. Returns false if there was none. */
  deleteStream(name: string): Promise<boolean>;

  /**
   * Lists the streams whose names begin with the prefix, and that take the subject if there is one. Streams without a leader are
   * missing, and may delay the answer by seconds: a subject leaves out those of others.
   */
  streams(prefix: string, subject?: string): Promise<readonly StreamState[]>;

  /**
   * Adds a message to a stream, provided the last sequence is the expected one. Rejects with a BusError if the call itself is
   * wrong, such as a message that is too large or a subject that the stream does not take, and with a BusBusyError if the queue
   * is full.
   *
   * An `unknown` append may be stored already, or later. Repeating it unchanged, with the same expectation, is safe: at most
   * one of the two is stored, and if it was the first, the second is `refused`.
   */
  append(append: Append): Promise<Appended>;

  /**
   * Atomically replaces all messages of one subject in a stream by 1 to BATCH_MESSAGES_MAX others. `sequence` of the result is
   * that of the last message. Otherwise as `append`.
   */
  replace(replacement: Replacement): Promise<Appended>;

  /**
   * Last message of a subject, according to the stream's leader, or undefined. The bytes are a copy. Works for
   * messages below 5,000,000 bytes: larger ones can only be read. Rejects with a BusError.
   */
  last(stream: string, subject: string): Promise<StoredMessage | undefined>;

  /** Message of a stream by its sequence, or undefined; otherwise as `last`. */
  message(stream: string, sequence: number): Promise<StoredMessage | undefined>;

  /**
   * Reads the messages of some subjects in order, from a sequence up to the end of the stream at the time of the first batch.
   * Messages that are purged in the meantime may be missing.
   */
  read(stream: string, selection: Selection): StreamReader;

  /**
   * Delivers the messages of some subjects from a sequence on, stored and future ones, until the subscription is closed: in
   * order, each exactly once, whatever happens to the connection. Messages purged before delivery are missing.
   */
  follow(stream: string, selection: Selection, take: (message: Message) => void): Subscription;

  /** Removes the messages of a subject before a sequence, or all of them without one. */
  purge(stream: string, subject: string, beforeSequence?: number): Promise<void>;

  /** Closes everything at once. Appends end as `unknown`, requests as `unanswered`; all else is rejected. */
  close(): Promise<void>;
}

/** Largest message, in bytes, without its subject. */
export const PAYLOAD_BYTES_MAX = 8_000_000;

export const BATCH_MESSAGES_MAX = 1000;

/** `why`: the reason why the connection was lost, or cannot be made. */
export type BusStatus = { readonly at: 'up' } | { readonly at: 'down'; readonly why: string };

export interface RequestOptions<Value> {
  readonly timeoutMs: number;
  /** Interval at which an idempotent request is sent again until it is answered; sent once when left out. */
  readonly repeatMs?: number;
  readonly read: (bytes: Borrowed) => Value;
}

/** Outcome of a request. With `noResponders` no member received it; with `unanswered` one may have. */
export type BusAnswer<Value> =
  | { readonly at: 'answered'; readonly value: Value }
  | { readonly at: 'noResponders' }
  | { readonly at: 'unanswered' };

/** A received message. It is lent, with all its fields, until the function that takes it returns. */
export interface Message {
  readonly subject: string;
  readonly bytes: Borrowed;
  /** Subject for the answer; empty if none is wanted. */
  readonly reply: string;
  /** Its sequence if it is from a stream; otherwise 0. */
  readonly sequence: number;
}

export interface Subscription {
  /**
   * Resolves once the server has the subscription, so that everything published from then on arrives. Without a connection, it
   * waits for one.
   */
  readonly ready: Promise<void>;
  /** Closes the subscription: nothing arrives after this call. */
  end(): void;
}

export interface StreamSettings {
  readonly name: string;
  /** Subjects that the stream takes; wildcards are allowed. */
  readonly subjects: readonly string[];
  readonly replicas: number;
  readonly storage: 'file' | 'memory';
  /** Size in bytes beyond which appends are answered `full`; unbounded if left out. */
  readonly bytesMax?: number;
  /** Whether a message that exceeds this size removes the oldest ones instead; false if left out. */
  readonly dropsOldest?: boolean;
  /** Age at which messages are removed; never if left out. */
  readonly ageMaxMs?: number;
}

export interface StreamState extends StreamSettings {
  readonly firstSequence: number;
  readonly lastSequence: number;
  readonly messages: number;
  readonly bytes: number;
}

/** Sequence that the last message of the subject, or of the stream, must have; 0 if there must be none yet. */
export type Expectation = { readonly lastOfSubject: number } | { readonly lastOfStream: number };

export interface Append {
  readonly stream: string;
  readonly subject: string;
  readonly bytes: Uint8Array;
  /** If left out, the append is stored whatever is last. */
  readonly expects?: Expectation;
  readonly timeoutMs: number;
}

export interface Replacement extends Omit<Append, 'bytes'> {
  readonly messages: readonly Uint8Array[];
}

/**
 * Outcome of an append. `committed`: stored by a majority of the stream's servers, under `sequence`. `refused`: not stored, because
 * the last sequence was not the expected one. `full`: not stored, because the stream is full. `unknown`: no answer came in
 * time, so it may be stored already, or later.
 */
export type Appended =
  | { readonly at: 'committed'; readonly sequence: number }
  | { readonly at: 'refused' }
  | { readonly at: 'full' }
  | { readonly at: 'unknown' };

export interface StoredMessage {
  readonly subject: string;
  readonly sequence: number;
  readonly bytes: Uint8Array;
}

export interface Selection {
  /** Selects messages whose subject matches one of these; wildcards are allowed. */
  readonly subjects: readonly string[];
  readonly fromSequence: number;
}

/** Reads batch by batch, at the pace of the caller. */
export interface StreamReader {
  /** Passes the next batch to `take`. False if it was the last. Rejects with a BusError if it does not arrive in time. */
  next(take: (message: Message) => void): Promise<boolean>;
  /** Stops reading. A caller that does not read to the end must call it. */
  end(): void;
}

/** The bus, or a server, cannot execute a call. */
export class BusError extends Error {
  override name = 'BusError';
}

/** The queue is full: nothing was sent, and a retry may succeed. */
export class BusBusyError extends BusError {}

/** Status of a bus and its watchers, for implementations of Bus. */
export class BusWatchers {
  readonly #watchers = new Set<(status: BusStatus) => void>();
  #status: BusStatus = { at: 'down', why: 'not connected yet' };

  get isUp(): boolean {
    return this.#status.at === 'up';
  }

  /** See Bus.watch. */
  add(watcher: (status: BusStatus) => void): () => void {
    this.#watchers.add(watcher);
    queueMicrotask(() => this.#watchers.has(watcher) && watcher(this.#status));
    return () => void this.#watchers.delete(watcher);
  }

  /** Sets the status and notifies all watchers. */
  tell(status: BusStatus): void {
    this.#status = status;
    for (const watcher of this.#watchers) watcher(status);
  }
}
