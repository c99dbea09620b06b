import { randomBytes } from 'node:crypto';
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { look } from '../../model/borrowed.ts';
import { openClock } from '../../time/clock.ts';
import { PAYLOAD_BYTES_MAX } from '../bus.ts';
import { Connection, type Received } from './connection.ts';
import { Consumer } from './consumer.ts';
import { type FrameFields, FrameReader, FrameWriter } from './frame_ring.ts';
import { ANSWERS, APPEND, APPENDED, type AreaMessage, type BusThreadData, COMMAND, EVENT } from './frames.ts';
import { Replies, type Reply } from './replies.ts';

/** Commands of one turn, in bytes, so that what the server sends has its turn too. */
const TURN_BYTES = 1 << 20;
/** How long the front thread may take to make room before it is looked for again. */
const ROOM_MS = 1000;
const WRONG_LAST_SEQUENCE = [10071, 10164];
/** The stream's own bound, which the server says in words, or the servers' room. */
const STORE_FAILED = 10077;
const NO_ROOM = [10023, 10028, 10047];
/** The server lost a part of a batch, and has given up the rest. */
const BATCH_INCOMPLETE = 10176;
/** Codes of what may go well the next time. */
const FOR_THE_MOMENT = [429, 500, 503];

interface Batch {
  readonly fields: Readonly<Record<string, string>>;
  readonly messages: Uint8Array[];
}

/**
 * The connection's side of the two rings: does what the front thread says, and tells it what comes. It runs in a thread of
 * its own, for the buffers of the connection: on the front thread, which has a large heap, they would have it searched
 * again and again.
 */
export class BusThread {
  readonly #commands: FrameReader;
  readonly #events: FrameWriter;
  readonly #areas = new Map<number, SharedArrayBuffer>();
  readonly #areaPort: MessagePort;
  readonly #wakeFront: () => void;
  readonly #connection: Connection;
  readonly #inbox: string;
  readonly #replies: Replies;
  readonly #elapsed = openClock().elapsed;
  readonly #subscriptions = new Map<number, () => void>();
  readonly #consumers = new Map<number, Consumer>();
  readonly #batches = new Map<number, Batch>();
  /** Asked for while there was no connection. */
  #unheard: number[] = [];
  #isWaking = false;
  #said = '';

  constructor({ settings, commands, events, areas }: BusThreadData, wakeFront: () => void) {
    this.#commands = new FrameReader(commands);
    this.#events = new FrameWriter(events);
    this.#areaPort = areas;
    this.#wakeFront = wakeFront;
    this.#connection = new Connection(settings, {
      up: () => this.#up(),
      down: (why) => this.#down(why),
      notice: (text) => this.#tell({ kind: EVENT.notice, body: utf8(text) }),
    });
    this.#inbox = `${settings.name}._INBOX.${newName()}`;
    this.#replies = new Replies(this.#connection, { inbox: this.#inbox, elapsed: this.#elapsed });
  }

  /** Does what the front thread has said since it was last awake. */
  readonly wake = (): void => {
    let bytes = 0;
    while (bytes < TURN_BYTES && this.#commands.next()) {
      bytes += this.#commands.size;
      this.#serve();
    }
    // Behind the client's own microtask, which copies what it was given to publish.
    queueMicrotask(() => {
      this.#commands.release();
      if (bytes > 0 || !this.#commands.sleeps()) setImmediate(this.wake);
    });
  };

  #serve(): void {
    const { kind, id } = this.#commands;
    switch (kind) {
      case COMMAND.publish:
        this.#publish();
        return;
      case COMMAND.request:
        this.#request(id);
        return;
      case COMMAND.append:
        this.#append(id);
        return;
      case COMMAND.batched:
        this.#addToBatch(id);
        return;
      case COMMAND.subscribe:
        this.#subscribe(id);
        return;
      case COMMAND.follow:
      case COMMAND.read:
        this.#consume(id, kind === COMMAND.read);
        return;
      case COMMAND.readOn:
        this.#consumers.get(id)?.readOn(this.#commands.first);
        return;
      case COMMAND.end:
        this.#end(id);
        return;
    }
  }

  #publish(): void {
    const { subject, reply, body } = this.#commands;
    try {
      this.#connection.publish(subject, look(body), reply);
    } catch (error) {
      this.#tell({ kind: EVENT.notice, body: utf8(`Cannot publish to "${subject}": ${(error as Error).message}`) });
    }
  }

  #request(id: number): void {
    const { subject, first: timeoutMs } = this.#commands;
    const bytes = this.#keptBody({ isRepeated: false });
    this.#replies.ask({
      timeoutMs,
      send: (reply) => this.#connection.publish(subject, bytes, reply),
      done: (answer) => this.#tellAnswer(id, answer),
    });
  }

  #tellAnswer(id: number, answer: Reply): void {
    const isMessage = typeof answer === 'object' && 'bytes' in answer && this.#isBounded(answer);
    const at = isMessage ? 'answered' : answer === 'noResponders' ? answer : 'unanswered';
    const body = isMessage ? answer.bytes : undefined;
    this.#tell({ kind: EVENT.answered, id, flags: ANSWERS.indexOf(at), ...(body !== undefined && { body }) });
  }

  #append(id: number): void {
    const { subject, first: timeoutMs } = this.#commands;
    const fields = this.#expectation();
    const bytes = this.#payload();
    this.#replies.ask({
      timeoutMs,
      retries: true,
      send: (reply) => this.#connection.publish(subject, bytes, reply, fields),
      done: (answer) => this.#tellAppended(id, answer),
    });
  }

  /** All messages are sent together, as soon as the last is there. The server answers the first one, and the last. */
  #addToBatch(id: number): void {
    const { subject, first: timeoutMs, flags } = this.#commands;
    let batch = this.#batches.get(id);
    if (batch === undefined) {
      batch = { fields: { ...this.#expectation(), 'Nats-Rollup': 'sub' }, messages: [] };
      this.#batches.set(id, batch);
    }
    batch.messages.push(this.#payload());
    if ((flags & APPEND.isLast) === 0) return;
    this.#batches.delete(id);
    const { fields, messages } = batch;
    this.#replies.ask({
      timeoutMs,
      retries: true,
      send: (reply) => this.#sendBatch(subject, { fields, messages }, reply),
      isAnswer: ({ bytes }) => bytes.length > 0,
      done: (answer) => this.#tellAppended(id, answer),
    });
  }

  #sendBatch(subject: string, { fields, messages }: Batch, reply: string): void {
    const batch = newName();
    messages.forEach((bytes, index) => {
      const isFirst = index === 0;
      const isLast = index === messages.length - 1;
      const place = { 'Nats-Batch-Id': batch, 'Nats-Batch-Sequence': String(index + 1) };
      const named = { ...(isFirst && fields), ...place, ...(isLast && { 'Nats-Batch-Commit': '1' }) };
      this.#connection.publish(subject, bytes, isFirst || isLast ? reply : '', named);
    });
  }

  #tellAppended(id: number, answer: Reply): void {
    const { at, sequence = 0, why = '' } = appendedOf(answer);
    this.#tell({ kind: EVENT.appended, id, flags: APPENDED.indexOf(at), first: sequence, body: utf8(why) });
  }

  #expectation(): Readonly<Record<string, string>> {
    const { flags, reply: stream, second: sequence } = this.#commands;
    return {
      'Nats-Expected-Stream': stream,
      ...((flags & APPEND.expectsOfSubject) !== 0 && { 'Nats-Expected-Last-Subject-Sequence': String(sequence) }),
      ...((flags & APPEND.expectsOfStream) !== 0 && { 'Nats-Expected-Last-Sequence': String(sequence) }),
    };
  }

  /** The bytes of an append: a piece of an area, which stays as it is, or a copy of what is in the ring. */
  #payload(): Uint8Array {
    const { area, third: offset, length } = this.#commands;
    if (area === 0) return this.#keptBody({ isRepeated: true });
    return new Uint8Array(this.#area(area), offset, length);
  }

  #area(number: number): SharedArrayBuffer {
    for (;;) {
      const known = this.#areas.get(number);
      if (known !== undefined) return known;
      // It was handed over before the command was written.
      const received = receiveMessageOnPort(this.#areaPort) as { readonly message: AreaMessage } | undefined;
      if (received === undefined) throw new Error(`Cannot append: area ${number} was not handed over`);
      const { area, memory } = received.message;
      if (memory === undefined) this.#areas.delete(area);
      else this.#areas.set(area, memory);
    }
  }

  /** The body of the command: as it lies in the ring where it is sent at once, and a copy where it may be sent later. */
  #keptBody({ isRepeated }: { isRepeated: boolean }): Uint8Array {
    const bytes = look(this.#commands.body);
    return isRepeated || !this.#connection.isUp ? new Uint8Array(bytes) : bytes;
  }

  #subscribe(id: number): void {
    const { subject } = this.#commands;
    const take = (message: Received): void => this.#tellMessage(id, message, 0);
    this.#subscriptions.set(id, this.#connection.subscribe(subject, take));
    if (this.#connection.isUp) this.#tellReady(id);
    else this.#unheard.push(id);
  }

  /** Tells when the server has the subscription. */
  #tellReady(id: number): void {
    this.#connection.flush().then(
      () => this.#tell({ kind: EVENT.ready, id }),
      () => this.#unheard.push(id),
    );
  }

  #consume(id: number, isRead: boolean): void {
    const { subject, reply: stream, first: fromSequence } = this.#commands;
    const subjects = subject.split(' ');
    const options = { stream, subjects, fromSequence, isRead, inbox: this.#inbox, newName, elapsed: this.#elapsed };
    const deps = { connection: this.#connection, replies: this.#replies };
    const consumer = new Consumer(deps, options, {
      message: (message, sequence) => this.#tellMessage(id, message, sequence),
      ready: () => this.#tell({ kind: EVENT.ready, id }),
      batchEnd: (isLast) => {
        if (isLast) this.#consumers.delete(id);
        this.#tell({ kind: EVENT.batchEnd, id, flags: Number(isLast) });
      },
      failed: (why) => this.#tell({ kind: EVENT.failed, id, body: utf8(why) }),
    });
    this.#consumers.set(id, consumer);
  }

  #end(id: number): void {
    this.#subscriptions.get(id)?.();
    this.#subscriptions.delete(id);
    this.#consumers.get(id)?.end();
    this.#consumers.delete(id);
    this.#unheard = this.#unheard.filter((other) => other !== id);
  }

  // hot
  #tellMessage(id: number, message: Received, sequence: number): void {
    if (!this.#isBounded(message)) return;
    const { subject, reply, bytes } = message;
    this.#tell({ kind: EVENT.message, id, subject, reply: sequence > 0 ? '' : reply, body: bytes, first: sequence });
  }

  /** No bus sends what is larger than that, and the ring has no room for it. */
  #isBounded({ subject, bytes }: Received): boolean {
    if (bytes.length <= PAYLOAD_BYTES_MAX) return true;
    this.#tell({ kind: EVENT.notice, body: utf8(`Cannot take ${bytes.length} bytes on "${subject}"`) });
    return false;
  }

  #up(): void {
    this.#said = '';
    this.#tell({ kind: EVENT.status, flags: 1 });
    this.#replies.up();
    for (const consumer of this.#consumers.values()) consumer.up();
    const unheard = this.#unheard;
    this.#unheard = [];
    for (const id of unheard) this.#tellReady(id);
  }

  #down(why: string): void {
    if (why === this.#said) return;
    this.#said = why;
    this.#tell({ kind: EVENT.status, body: utf8(why) });
    this.#replies.down();
  }

  /**
   * Tells the front thread. Where that has not made room it is waited for: nothing is read from the server meanwhile, which
   * holds back what it sends, for a while.
   */
  #tell(event: FrameFields): void {
    while (!this.#events.write(event)) {
      if (this.#events.wakes()) this.#wakeFront();
      this.#events.waitForRoom(ROOM_MS);
    }
    if (this.#isWaking) return;
    this.#isWaking = true;
    queueMicrotask(() => {
      this.#isWaking = false;
      if (this.#events.wakes()) this.#wakeFront();
    });
  }
}

/** What the server says of an append, or of the first or last message of a batch. */
function appendedOf(answer: Reply): { at: (typeof APPENDED)[number]; sequence?: number; why?: string } {
  if (answer instanceof Error) return { at: 'wrong', why: answer.message };
  if (typeof answer !== 'object') return { at: 'unknown' };
  const { seq: sequence, error } = JSON.parse(Buffer.from(answer.bytes).toString()) as {
    readonly seq: number;
    readonly error?: { readonly code: number; readonly err_code: number; readonly description: string };
  };
  if (error === undefined) return { at: 'kept', sequence };
  const { code, err_code: number, description: why } = error;
  if (WRONG_LAST_SEQUENCE.includes(number)) return { at: 'refused' };
  if (NO_ROOM.includes(number) || (number === STORE_FAILED && why.includes('maximum'))) return { at: 'full' };
  // Whether a majority has it all the same nobody knows.
  if (FOR_THE_MOMENT.includes(code) || number === BATCH_INCOMPLETE) return { at: 'unknown' };
  return { at: 'wrong', why };
}

function newName(): string {
  return randomBytes(12).toString('base64url').replaceAll('-', 'A').replaceAll('_', 'B');
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
