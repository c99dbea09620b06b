import type { Borrowed } from '../model/borrowed.ts';

/**
 * What the hubs of a cluster talk through, and keep their logs in: messages that are for whoever listens, and streams of
 * messages that a majority of servers keeps.
 *
 * Nothing here waits without a bound: a call ends after its `timeoutMs` at the latest, whatever has become of servers,
 * connection and thread. Bytes that are handed in are sent as they are when the call returns, and are the caller's again
 * then. Only those that lie in a SharedArrayBuffer are not copied: an append sends them from where they lie, and they must
 * stay as they are until it has its result.
 */
export interface Bus {
  /** Whether there is a connection to a server. */
  readonly isUp: boolean;

  /**
   * Hears of every change of the connection, and once at the end of this turn how it is now. Returns how to stop that.
   * Messages of the time between `down` and `up` are lost; whoever follows a stream gets what it has kept meanwhile.
   */
  watch(watcher: (status: BusStatus) => void): () => void;

  /**
   * Sends a message to all who listen to its subject now, this bus excepted. It arrives once or not at all, and in order
   * with what this bus sends otherwise. False where it is not sent: there is no connection, or too much waits to be sent.
   */
  publish(subject: string, bytes: Uint8Array): boolean;

  /**
   * Asks whoever listens to a subject, and takes the first answer. `read` sees the bytes in the moment in which they
   * arrive; what it makes of them is the value. A request that waits for a connection is sent when there is one.
   */
  request<Value>(subject: string, bytes: Uint8Array, asking: Asking<Value>): Promise<Answer<Value>>;

  /**
   * Listens to a subject, which may have the wildcards `*` for one token and `>` for the rest, until it is ended. What is
   * larger than PAYLOAD_BYTES_MAX, which no bus sends, is left out.
   */
  subscribe(subject: string, take: (message: Message) => void): Subscription;

  /** Makes a stream. One with the same settings may be there; rejects where it has others. */
  makeStream(settings: StreamSettings): Promise<void>;

  /** Gives a stream other settings. Name and storage stay. Rejects where there is none. */
  alterStream(settings: StreamSettings): Promise<void>;

  /** Deletes a stream with all that it keeps. False where there was none. */
  deleteStream(name: string): Promise<boolean>;

  /** The streams whose names begin so. */
  streams(prefix: string): Promise<readonly StreamState[]>;

  /**
   * Adds a message to a stream, if the last sequence is what it expects. Rejects for what is wrong with the call, a
   * message that is too large or a stream that does not take the subject, and with a BusBusyError where too much waits.
   *
   * An `unknown` append may have been kept, and it may still be kept later. Repeating it as it is, with the same
   * expectation, is safe: of both at most one is kept, and when the first was, the second is `refused`.
   */
  append(append: Append): Promise<Appended>;

  /**
   * Adds messages of one subject to a stream, in the place of all that it had there: all of them, or nothing happens. The
   * first one states the expectation. As for `append`, and at most BATCH_MESSAGES_MAX.
   */
  replace(replacement: Replacement): Promise<Appended>;

  /**
   * The last message of a subject, as the stream's leader knows it; undefined where there is none. The bytes are a copy.
   * It must have less than 5,000,000 bytes: larger ones can only be read.
   */
  last(stream: string, subject: string): Promise<StoredMessage | undefined>;

  /**
   * Reads what a stream has of some subjects, from a sequence to its end as that is when the first batch is asked for:
   * everything that was kept before then is read, and in order. What is purged meanwhile may be missing.
   */
  read(stream: string, selection: Selection): StreamReader;

  /**
   * Hands out what a stream has, and gets, of some subjects, from a sequence on and until it is ended: in order, each
   * message once, whatever happens to the connection. What was purged before it came is missing.
   */
  follow(stream: string, selection: Selection, take: (message: Message) => void): Subscription;

  /** Removes the messages of a subject before a sequence; without one, all of them. */
  purge(stream: string, subject: string, beforeSequence?: number): Promise<void>;

  /** Ends everything at once. What waits is `unknown`, unanswered or rejected. */
  close(): Promise<void>;
}

/** A message may have so many bytes, its subject not counted. */
export const PAYLOAD_BYTES_MAX = 8_000_000;

export const BATCH_MESSAGES_MAX = 1000;

/** `why`: what the connection was lost over, or cannot be made for. */
export type BusStatus = { readonly at: 'up' } | { readonly at: 'down'; readonly why: string };

export interface Asking<Value> {
  readonly timeoutMs: number;
  readonly read: (bytes: Borrowed) => Value;
}

/** What a request has come to. Without responders nobody has got it; where it is unanswered somebody may have. */
export type Answer<Value> =
  | { readonly at: 'answered'; readonly value: Value }
  | { readonly at: 'noResponders' }
  | { readonly at: 'unanswered' };

/** A message that has come: lent, with all its fields, until the call returns that takes it. */
export interface Message {
  readonly subject: string;
  readonly bytes: Borrowed;
  /** Where to publish an answer; empty where none is wanted. */
  readonly reply: string;
  /** Of a message of a stream; 0 for others. */
  readonly sequence: number;
}

export interface Subscription {
  /** Resolves when it holds at the server: what is published after that comes. It waits for a connection, if need be. */
  readonly ready: Promise<void>;
  /** Ends it. Nothing comes any more from this moment. */
  end(): void;
}

export interface StreamSettings {
  readonly name: string;
  /** What it takes; wildcards are allowed. */
  readonly subjects: readonly string[];
  readonly replicas: number;
  readonly storage: 'file' | 'memory';
  /** Beyond so many bytes appends are answered `full`; left out for no bound. */
  readonly bytesMax?: number;
  /** After so long messages are removed; left out for never. */
  readonly ageMaxMs?: number;
}

export interface StreamState extends StreamSettings {
  readonly firstSequence: number;
  readonly lastSequence: number;
  readonly messages: number;
  readonly bytes: number;
}

/** The sequence of the last message of the subject, or of the stream; 0 for none yet, left out for whatever it is. */
export type Expectation = { readonly lastOfSubject: number } | { readonly lastOfStream: number };

export interface Append {
  readonly stream: string;
  readonly subject: string;
  readonly bytes: Uint8Array;
  readonly expects?: Expectation;
  readonly timeoutMs: number;
}

export interface Replacement extends Omit<Append, 'bytes'> {
  readonly messages: readonly Uint8Array[];
}

/**
 * What an append has come to. `kept`: by a majority of the stream's servers, with the sequence of its last message.
 * `refused`: not kept, since the last sequence was another. `full`: not kept, since the stream is. `unknown`: nothing was
 * heard in time.
 */
export type Appended =
  | { readonly at: 'kept'; readonly sequence: number }
  | { readonly at: 'refused' }
  | { readonly at: 'full' }
  | { readonly at: 'unknown' };

export interface StoredMessage {
  readonly subject: string;
  readonly sequence: number;
  readonly bytes: Uint8Array;
}

export interface Selection {
  /** Those of which one fits the message's subject. */
  readonly subjects: readonly string[];
  readonly fromSequence: number;
}

/** Reads batch by batch, so that whoever reads sets the pace. */
export interface StreamReader {
  /** Hands out some messages. False when these were the last. Rejects with a BusError when they cannot be had in time. */
  next(take: (message: Message) => void): Promise<boolean>;
  /** Reads no further. Who does not read to the end calls it. */
  end(): void;
}

/** The bus, or a server, cannot do what it was asked for. */
export class BusError extends Error {
  override name = 'BusError';
}

/** Too much waits to be sent: what was asked for was not sent, and may be in a moment. */
export class BusBusyError extends BusError {}

/** How the connection of a bus is, and who watches it: for whoever implements a Bus. */
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

  /** Takes the new status, and tells it to all watchers. */
  tell(status: BusStatus): void {
    this.#status = status;
    for (const watcher of this.#watchers) watcher(status);
  }
}
