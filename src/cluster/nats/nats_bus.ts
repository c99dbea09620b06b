import { look } from '../../model/borrowed.ts';
import { schedule } from '../../time/clock.ts';
import {
  type BusAnswer,
  type Append,
  type Appended,
  type RequestOptions,
  type Bus,
  BusBusyError,
  BusError,
  type BusStatus,
  BusWatchers,
  type Expectation,
  type Message,
  type Replacement,
  type Selection,
  type StoredMessage,
  type StreamReader,
  type StreamSettings,
  type StreamState,
  type Subscription,
} from './bus.ts';
import { checkBatch, checkMessage, checkSubject, checkSubjects } from './message_checks.ts';
import type { FrameFields, FrameReader } from './frame_ring.ts';
import { ANSWERS, APPEND, APPENDED, type BusSettings, COMMAND, EVENT } from './frames.ts';
import { StreamApi } from './stream_api.ts';
import { ThreadLink } from './thread_link.ts';

/** Most calls in progress, and most bytes that they may hold outside of shared memory. More are rejected. */
const CALLS_MAX = 8192;
const CALL_BYTES_MAX = 64 << 20;
/** Timeout of one batch of a reader. */
const READ_MS = 10_000;
/** Pauses before the thread is restarted, which grow while it keeps failing. */
const RESTART_MS = { first: 100, longest: 5000 };

/** A call in progress in the thread, which ends with its own event. */
interface Call {
  /** Called with the event that ends it. */
  end(event: FrameReader): void;
  /** Called instead when no such event will come. */
  lose(why: string): void;
  readonly bytes: readonly Uint8Array[];
}

/** A subscription or follower, which starts again in every new thread. */
interface Listener {
  /** Has the thread subscribe; false if its queue is full. */
  start(): boolean;
  take(message: Message): void;
  ready(): void;
}

/** Opens a bus over NATS, with the connection in a thread of its own. `notice` takes lines for the log. */
export function openNatsBus(settings: BusSettings, notice: (text: string) => void = () => undefined): NatsBus {
  return new NatsBus(settings, notice);
}

export class NatsBus implements Bus {
  readonly #settings: BusSettings;
  readonly #notice: (text: string) => void;
  readonly #watchers = new BusWatchers();
  readonly #calls = new Map<number, Call>();
  readonly #listeners = new Map<number, Listener>();
  readonly #api: StreamApi;
  #link: ThreadLink;
  #delivered: Delivered | undefined;
  #callBytes = 0;
  #ids = 0;
  #restartMs = RESTART_MS.first;
  #isClosed = false;

  constructor(settings: BusSettings, notice: (text: string) => void) {
    this.#settings = settings;
    this.#notice = notice;
    this.#api = new StreamApi(this);
    this.#link = this.#newLink();
    this.#link.start();
  }

  get isUp(): boolean {
    return this.#watchers.isUp;
  }

  watch(watcher: (status: BusStatus) => void): () => void {
    return this.#watchers.add(watcher);
  }

  publish(subject: string, bytes: Uint8Array): boolean {
    checkMessage(subject, bytes);
    return this.isUp && this.#link.send({ kind: COMMAND.publish, subject, body: bytes });
  }

  async request<Value>(
    subject: string,
    bytes: Uint8Array,
    { timeoutMs, repeatMs: second = 0, read }: RequestOptions<Value>,
  ): Promise<BusAnswer<Value>> {
    const { promise, resolve, reject } = Promise.withResolvers<BusAnswer<Value>>();
    checkMessage(subject, bytes);
    const call: Call = {
      bytes: [bytes],
      end(event) {
        const at = ANSWERS[event.flags] ?? 'unanswered';
        if (at !== 'answered') {
          resolve({ at });
          return;
        }
        try {
          resolve({ at, value: read(event.body) });
        } catch (error) {
          reject(error);
        }
      },
      lose: () => resolve({ at: 'unanswered' }),
    };
    this.#begin(`ask "${subject}"`, call, { kind: COMMAND.request, subject, first: timeoutMs, second, body: bytes });
    return promise;
  }

  subscribe(subject: string, take: (message: Message) => void): Subscription {
    checkSubject(subject);
    return this.#listen({
      take,
      start: (id) => this.#link.send({ kind: COMMAND.subscribe, id, subject }),
    });
  }

  makeStream(settings: StreamSettings): Promise<void> {
    return this.#api.make(settings);
  }

  alterStream(settings: StreamSettings): Promise<void> {
    return this.#api.alter(settings);
  }

  deleteStream(name: string): Promise<boolean> {
    return this.#api.delete(name);
  }

  streams(prefix: string, subject?: string): Promise<readonly StreamState[]> {
    return this.#api.list(prefix, subject);
  }

  async append(append: Append): Promise<Appended> {
    const { subject, bytes } = append;
    checkMessage(subject, bytes);
    const { promise, call } = appending(subject, [bytes]);
    const command = { kind: COMMAND.append, ...fieldsOf(append), ...this.#link.place(bytes) };
    this.#begin(`append to "${subject}"`, call, command);
    return promise;
  }

  async replace(replacement: Replacement): Promise<Appended> {
    const { subject, messages } = replacement;
    checkBatch(subject, messages);
    const what = `replace "${subject}"`;
    if (!this.#link.hasRoomFor(messages)) throw new BusBusyError(`Cannot ${what}: too much waits to be sent`);
    const { promise, call } = appending(subject, messages);
    const fields = fieldsOf(replacement);
    const commands = messages.map((bytes, index) => {
      const flags = fields.flags | (index === messages.length - 1 ? APPEND.isLast : 0);
      return { kind: COMMAND.batched, ...fields, flags, ...this.#link.place(bytes) };
    });
    this.#begin(what, call, ...commands);
    return promise;
  }

  last(stream: string, subject: string): Promise<StoredMessage | undefined> {
    return this.#api.last(stream, subject);
  }

  message(stream: string, sequence: number): Promise<StoredMessage | undefined> {
    return this.#api.message(stream, sequence);
  }

  read(stream: string, { subjects, fromSequence }: Selection): StreamReader {
    const id = ++this.#ids;
    const subject = joined(subjects);
    const link = this.#link;
    let isOpen = !this.#isClosed && link.send({ kind: COMMAND.read, id, subject, reply: stream, first: fromSequence });
    return {
      next: (take) => {
        const what = `read on in stream "${stream}"`;
        if (!isOpen || link !== this.#link) return Promise.reject(new BusError(`Cannot ${what}: the reader has ended`));
        const { promise, resolve, reject } = Promise.withResolvers<boolean>();
        const lose = (why: string): void => reject(new BusError(`Cannot ${what}: ${why}`));
        const end = (event: FrameReader): void => {
          this.#listeners.delete(id);
          if (event.kind === EVENT.failed) lose(textOf(event));
          else resolve(event.flags === 0);
        };
        if (!link.send({ kind: COMMAND.readOn, id, first: READ_MS })) {
          lose('too much waits to be sent');
          return promise;
        }
        this.#listeners.set(id, { take, start: () => true, ready: () => undefined });
        this.#calls.set(id, { bytes: [], end, lose });
        return promise;
      },
      end: () => {
        isOpen = false;
        this.#listeners.delete(id);
        this.#lose(id, 'the reader was ended');
        link.send({ kind: COMMAND.end, id });
      },
    };
  }

  follow(stream: string, { subjects, fromSequence }: Selection, take: (message: Message) => void): Subscription {
    const subject = joined(subjects);
    let next = fromSequence;
    return this.#listen({
      take: (message) => {
        next = message.sequence + 1;
        take(message);
      },
      start: (id) => this.#link.send({ kind: COMMAND.follow, id, subject, reply: stream, first: next }),
    });
  }

  purge(stream: string, subject: string, beforeSequence?: number): Promise<void> {
    return this.#api.purge(stream, subject, beforeSequence);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#link.kill();
  }

  /** Terminates the thread as a crash would; another one replaces it. */
  async killThread(): Promise<void> {
    await this.#link.kill();
  }

  #listen({ take, start }: { take(message: Message): void; start(id: number): boolean }): Subscription {
    if (this.#isClosed) throw new BusError('Cannot listen: the bus is closed');
    const id = ++this.#ids;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#listeners.set(id, { take, ready: resolve, start: () => start(id) });
    if (!start(id)) {
      this.#listeners.delete(id);
      throw new BusError('Cannot listen: too much waits to be sent');
    }
    const end = (): void => {
      if (!this.#listeners.delete(id)) return;
      resolve();
      this.#link.send({ kind: COMMAND.end, id });
    };
    return { ready: promise, end };
  }

  /** Starts a call by sending its commands, the last of which is answered. Throws a BusError. */
  #begin(what: string, call: Call, ...commands: readonly FrameFields[]): void {
    const bytes = inlineBytes(call.bytes);
    if (this.#isClosed) throw new BusError(`Cannot ${what}: the bus is closed`);
    if (this.#calls.size >= CALLS_MAX || this.#callBytes + bytes > CALL_BYTES_MAX) {
      throw new BusBusyError(
        `Cannot ${what}: ${this.#calls.size} calls of ${this.#callBytes} bytes are in flight already`,
      );
    }
    const id = ++this.#ids;
    for (const command of commands) {
      if (!this.#link.send({ ...command, id })) throw new BusBusyError(`Cannot ${what}: too much waits to be sent`);
    }
    this.#callBytes += bytes;
    this.#calls.set(id, call);
    for (const piece of call.bytes) this.#link.use(piece);
  }

  #take(id: number): Call | undefined {
    const call = this.#calls.get(id);
    if (call === undefined) return undefined;
    this.#calls.delete(id);
    this.#callBytes -= inlineBytes(call.bytes);
    for (const piece of call.bytes) this.#link.free(piece);
    return call;
  }

  #lose(id: number, why: string): void {
    this.#take(id)?.lose(why);
  }

  #newLink(): ThreadLink {
    this.#delivered = undefined;
    return new ThreadLink(this.#settings, {
      event: (event) => this.#hear(event),
      ended: (why) => this.#ended(why),
    });
  }

  // hot
  #hear(event: FrameReader): void {
    const { kind, id } = event;
    switch (kind) {
      case EVENT.message:
        this.#delivered ??= new Delivered(event);
        this.#listeners.get(id)?.take(this.#delivered);
        return;
      case EVENT.status:
        this.#tell(event.flags === 1 ? { at: 'up' } : { at: 'down', why: textOf(event) });
        return;
      case EVENT.notice:
        this.#notice(textOf(event));
        return;
      case EVENT.ready:
        this.#listeners.get(id)?.ready();
        return;
      default:
        this.#take(id)?.end(event);
    }
  }

  #tell(status: BusStatus): void {
    if (status.at === 'up') this.#restartMs = RESTART_MS.first;
    this.#watchers.tell(status);
  }

  #ended(why: string): void {
    this.#tell({ at: 'down', why: this.#isClosed ? 'the bus is closed' : why });
    for (const id of [...this.#calls.keys()]) this.#lose(id, why);
    if (this.#isClosed) {
      for (const { ready } of this.#listeners.values()) ready();
      return;
    }
    // Calls made in the meantime wait in the rings of the next thread.
    const link = this.#newLink();
    this.#link = link;
    for (const { start } of this.#listeners.values()) start();
    schedule(this.#restartMs, () => !this.#isClosed && link.start());
    this.#restartMs = Math.min(2 * this.#restartMs, RESTART_MS.longest);
  }
}

/** The message being delivered: a single object for all of them, which reads from the ring. */
class Delivered implements Message {
  readonly #event: FrameReader;

  constructor(event: FrameReader) {
    this.#event = event;
  }

  get subject(): string {
    return this.#event.subject;
  }

  get reply(): string {
    return this.#event.reply;
  }

  get bytes(): Message['bytes'] {
    return this.#event.body;
  }

  get sequence(): number {
    return this.#event.first;
  }
}

function appending(subject: string, bytes: readonly Uint8Array[]): { promise: Promise<Appended>; call: Call } {
  const { promise, resolve, reject } = Promise.withResolvers<Appended>();
  const call: Call = {
    bytes,
    end(event) {
      const at = APPENDED[event.flags] ?? 'unknown';
      if (at === 'wrong') reject(new BusError(`Cannot append to "${subject}": ${textOf(event)}`));
      else if (at === 'committed') resolve({ at, sequence: event.first });
      else resolve({ at });
    },
    lose: () => resolve({ at: 'unknown' }),
  };
  return { promise, call };
}

function fieldsOf({ stream, subject, expects, timeoutMs }: Append | Replacement) {
  return { subject, reply: stream, first: timeoutMs, ...expectationOf(expects) };
}

function expectationOf(expects: Expectation | undefined): { flags: number; second: number } {
  if (expects === undefined) return { flags: 0, second: 0 };
  if ('lastOfSubject' in expects) return { flags: APPEND.expectsOfSubject, second: expects.lastOfSubject };
  return { flags: APPEND.expectsOfStream, second: expects.lastOfStream };
}

function inlineBytes(bytes: readonly Uint8Array[]): number {
  let sum = 0;
  for (const piece of bytes) if (!(piece.buffer instanceof SharedArrayBuffer)) sum += piece.length;
  return sum;
}

function textOf(event: FrameReader): string {
  return Buffer.from(look(event.body)).toString();
}

function joined(subjects: readonly string[]): string {
  checkSubjects(subjects);
  return subjects.join(' ');
}
