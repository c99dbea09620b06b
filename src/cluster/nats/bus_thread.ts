import { randomBytes } from 'node:crypto';
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { look } from '../../model/borrowed.ts';
import { openClock } from '../../time/clock.ts';
import { PAYLOAD_BYTES_MAX } from './bus.ts';
import { ServerConnection, type Received } from './connection.ts';
import { Consumer } from './consumer.ts';
import { type FrameFields, FrameReader, FrameWriter } from './frame_ring.ts';
import { ANSWERS, APPEND, APPENDED, type AreaMessage, type BusThreadData, COMMAND, EVENT } from './frames.ts';
import { Replies, type BusReply } from './replies.ts';

/** Bytes of commands handled in one turn, so that data from the server gets its turns too. */
const TURN_BYTES = 1 << 20;
/** Time to wait for the front thread to make room before checking again. */
const ROOM_MS = 1000;
// Error codes of JetStream.
const WRONG_LAST_SEQUENCE = [10071, 10164];
/** The server could not store the message. Only its description says whether the stream has reached its bound. */
const STORE_FAILED = 10077;
const NO_ROOM = [10023, 10028, 10047];
/** The server missed part of a batch, and dropped the rest. */
const BATCH_INCOMPLETE = 10176;
/** HTTP-like codes of temporary failures. */
const FOR_THE_MOMENT = [429, 500, 503];

interface Batch {
  readonly fields: Readonly<Record<string, string>>;
  readonly messages: Uint8Array[];
}

/**
 * Connection side of the two rings: it executes the commands of the front thread, and reports events to it. It runs in a thread
 * of its own because of the connection's buffers: on the front thread, with its large heap, these would trigger one full
 * garbage collection after another.
 */
export class BusThread {
  readonly #commands: FrameReader;
  readonly #events: FrameWriter;
  readonly #areas = new Map<number, SharedArrayBuffer>();
  readonly #areaPort: MessagePort;
  readonly #wakeFront: () => void;
  readonly #connection: ServerConnection;
  readonly #inbox: string;
  readonly #replies: Replies;
  readonly #elapsed = openClock().elapsed;
  readonly #subscriptions = new Map<number, () => void>();
  readonly #consumers = new Map<number, Consumer>();
  readonly #batches = new Map<number, Batch>();
  /** Subscriptions whose `ready` is still to be reported, once there is a connection. */
  #unready: number[] = [];
  #isWaking = false;
  /** Last reason reported for being down; empty while up. */
  #said = '';

  constructor({ settings, commands, events, areas }: BusThreadData, wakeFront: () => void) {
    this.#commands = new FrameReader(commands);
    this.#events = new FrameWriter(events);
    this.#areaPort = areas;
    this.#wakeFront = wakeFront;
    this.#connection = new ServerConnection(settings, {
      up: () => this.#up(),
      down: (why) => this.#down(why),
      notice: (text) => this.#tell({ kind: EVENT.notice, body: utf8(text) }),
    });
    this.#inbox = `${settings.name}._INBOX.${newName()}`;
    this.#replies = new Replies(this.#connection, { inbox: this.#inbox, elapsed: this.#elapsed });
  }

  /** Executes the commands that have arrived since it last went to sleep. */
  readonly wake = (): void => {
    let bytes = 0;
    while (bytes < TURN_BYTES && this.#commands.next()) {
      bytes += this.#commands.size;
      this.#serve();
    }
    // After the client's own microtask, which copies the bytes to publish.
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
        this.#readOn(id);
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
    const { subject, first: timeoutMs, second: repeatMs } = this.#commands;
    const isRepeated = repeatMs > 0;
    const bytes = this.#keptBody({ isRepeated });
    this.#replies.ask({
      timeoutMs,
      ...(isRepeated && { repeatMs }),
      send: (reply) => this.#connection.publish(subject, bytes, reply),
      done: (answer) => this.#tellAnswer(id, answer),
    });
  }

  #tellAnswer(id: number, answer: BusReply): void {
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

  /** All messages are sent together, once the last is there. The server answers the first and the last of them. */
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

  #tellAppended(id: number, answer: BusReply): void {
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

  /** Bytes of an append: a piece of a shared area, which does not change, or a copy of the ring's bytes. */
  #payload(): Uint8Array {
    const { area, third: offset, length } = this.#commands;
    if (area === 0) return this.#keptBody({ isRepeated: true });
    return new Uint8Array(this.#area(area), offset, length);
  }

  #area(number: number): SharedArrayBuffer {
    for (;;) {
      const known = this.#areas.get(number);
      if (known !== undefined) return known;
      // It was posted before the command was written.
      const received = receiveMessageOnPort(this.#areaPort) as { readonly message: AreaMessage } | undefined;
      if (received === undefined) throw new Error(`Cannot append: area ${number} was not handed over`);
      const { area, memory } = received.message;
      if (memory === undefined) this.#areas.delete(area);
      else this.#areas.set(area, memory);
    }
  }

  /** Body of the command: a view of the ring if it is sent once and now, and a copy if it may be sent later as well. */
  #keptBody({ isRepeated }: { isRepeated: boolean }): Uint8Array {
    const bytes = look(this.#commands.body);
    return isRepeated || !this.#connection.isUp ? new Uint8Array(bytes) : bytes;
  }

  #subscribe(id: number): void {
    const { subject } = this.#commands;
    const take = (message: Received): void => this.#tellMessage(id, message, 0);
    this.#subscriptions.set(id, this.#connection.subscribe(subject, take));
    if (this.#connection.isUp) this.#tellReady(id);
    else this.#unready.push(id);
  }

  /** Reports `ready` once the server has the subscription. */
  #tellReady(id: number): void {
    this.#connection.flush().then(
      () => this.#tell({ kind: EVENT.ready, id }),
      () => this.#unready.push(id),
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

  #readOn(id: number): void {
    const consumer = this.#consumers.get(id);
    if (consumer === undefined) this.#tell({ kind: EVENT.failed, id, body: utf8('the reader has ended') });
    else consumer.readOn(this.#commands.first);
  }

  #end(id: number): void {
    this.#subscriptions.get(id)?.();
    this.#subscriptions.delete(id);
    this.#consumers.get(id)?.end();
    this.#consumers.delete(id);
    this.#unready = this.#unready.filter((other) => other !== id);
  }

  // hot
  #tellMessage(id: number, message: Received, sequence: number): void {
    if (!this.#isBounded(message)) return;
    const { subject, reply, bytes } = message;
    this.#tell({ kind: EVENT.message, id, subject, reply: sequence > 0 ? '' : reply, body: bytes, first: sequence });
  }

  /** Whether a message is not larger than any that a bus sends. The ring has no room for larger ones. */
  #isBounded({ subject, bytes }: Received): boolean {
    if (bytes.length <= PAYLOAD_BYTES_MAX) return true;
    this.#tell({
      kind: EVENT.notice,
      body: utf8(
        `Cannot take a message of ${bytes.length} bytes on "${subject}": at most ${PAYLOAD_BYTES_MAX} are allowed`,
      ),
    });
    return false;
  }

  #up(): void {
    this.#said = '';
    this.#tell({ kind: EVENT.status, flags: 1 });
    this.#replies.up();
    for (const consumer of this.#consumers.values()) consumer.up();
    const unready = this.#unready;
    this.#unready = [];
    for (const id of unready) this.#tellReady(id);
  }

  #down(why: string): void {
    if (why === this.#said) return;
    this.#said = why;
    this.#tell({ kind: EVENT.status, body: utf8(why) });
    this.#replies.down();
  }

  /**
   * Reports an event to the front thread. If the ring is full, this thread blocks until there is room. Meanwhile it reads
   * nothing from the connection, so the server holds its data back, for a while.
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

/** Outcome of an append by the server's answer to it, or to the first or last message of a batch. */
function appendedOf(answer: BusReply): { at: (typeof APPENDED)[number]; sequence?: number; why?: string } {
  if (answer instanceof Error) return { at: 'wrong', why: answer.message };
  if (typeof answer !== 'object') return { at: 'unknown' };
  const { seq: sequence, error } = JSON.parse(Buffer.from(answer.bytes).toString()) as {
    readonly seq: number;
    readonly error?: { readonly code: number; readonly err_code: number; readonly description: string };
  };
  if (error === undefined) return { at: 'committed', sequence };
  const { code, err_code: number, description: why } = error;
  if (WRONG_LAST_SEQUENCE.includes(number)) return { at: 'refused' };
  if (NO_ROOM.includes(number) || (number === STORE_FAILED && why.includes('maximum'))) return { at: 'full' };
  // A majority may have stored it nevertheless.
  if (FOR_THE_MOMENT.includes(code) || number === BATCH_INCOMPLETE) return { at: 'unknown' };
  return { at: 'wrong', why };
}

function newName(): string {
  return randomBytes(12).toString('base64url').replaceAll('-', 'A').replaceAll('_', 'B');
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
