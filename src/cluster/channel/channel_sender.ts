import { AGAIN, SENT_AGAIN } from '../messages/messages.ts';
import type { ProtocolErrors } from '../messages/protocol_errors.ts';
import { type Bus, type Message, PAYLOAD_BYTES_MAX, type Subscription } from '../nats/bus.ts';
import { type Behind, type Kind, KINDS, MessageWriter, type SentSoFar } from './channel_message.ts';
import { SentBudget, SentMessages } from './sent_messages.ts';

/** Approximate bytes of a message; a larger part has its own. */
export const MESSAGE_BYTES = 1 << 20;
/** Time during which messages name those of other senders that precede them: afterwards these have arrived or are given up. */
const BEHIND_MS = 5000;
const BEHIND_NONE: Behind = [];

export interface ChannelOptions {
  readonly bus: Pick<Bus, 'publish' | 'subscribe' | 'request' | 'watch'>;
  /** Name of the cluster, with which all subjects begin. */
  readonly name: string;
  /** Member id of this hub. */
  readonly self: string;
  readonly malformed: ProtocolErrors;
  /** Calls `callback` after `delayMs`. Returns a function that cancels it. */
  schedule(delayMs: number, callback: () => void): () => void;
}

interface Receiver {
  readonly subject: string;
  readonly writer: MessageWriter;
  readonly sent: SentMessages;
  /** Number of the last message. */
  number: number;
  readonly lastOf: number[];
  /** Messages of other senders that precede those of this hub, by sender. */
  readonly behind: Map<string, { readonly number: number; readonly cancel: () => void }>;
}

/**
 * Sending side of the channel. Parts of one turn leave together, in messages of about a megabyte. Each message takes a number
 * even if it cannot be sent: then the receiver sees a gap. So that it also notices a missing last message, `beat` repeats the
 * numbers.
 *
 * Messages of the last seconds are retained as far as there is room. A receiver requests missing ones, which are sent again
 * unchanged; then the answer says which are unavailable.
 */
export class ChannelSender {
  readonly #options: ChannelOptions;
  readonly #listening: Subscription;
  readonly #budget = new SentBudget();
  readonly #receivers = new Map<string, Receiver>();
  /** Receivers with unsent parts. */
  readonly #pending = new Set<Receiver>();
  #after = 0;
  #isLast = false;
  #isToFlush = false;

  constructor(options: ChannelOptions) {
    this.#options = options;
    const { bus, name, self } = options;
    this.#listening = bus.subscribe(`${name}.again.${self}`, (message) => this.#resend(message));
  }

  get ready(): Promise<void> {
    return this.#listening.ready;
  }

  joined(member: string): void {
    const { name, self } = this.#options;
    this.#receivers.set(member, {
      ...{ subject: `${name}.e.${member}`, writer: new MessageWriter(self), sent: new SentMessages(this.#budget) },
      ...{ number: 0, lastOf: KINDS.map(() => 0), behind: new Map() },
    });
  }

  gone(member: string): void {
    const receiver = this.#receivers.get(member);
    if (receiver === undefined) return;
    this.#pending.delete(receiver);
    receiver.sent.clear();
    for (const from of receiver.behind.keys()) noMore(receiver, from);
    this.#receivers.delete(member);
    for (const other of this.#receivers.values()) noMore(other, member);
  }

  close(): void {
    this.#listening.end();
    for (const receiver of this.#receivers.values()) for (const from of receiver.behind.keys()) noMore(receiver, from);
  }

  /** See Channel.send. Hot path. */
  send(member: string, kind: Kind, about: number, bytes: Uint8Array): void {
    const receiver = this.#receivers.get(member);
    if (receiver !== undefined) this.#add(receiver, kind, about, bytes);
  }

  sendToAll(kind: Kind, about: number, bytes: Uint8Array): void {
    for (const receiver of this.#receivers.values()) this.#add(receiver, kind, about, bytes);
  }

  tookAfter(sequence: number): void {
    this.flush();
    this.#after = Math.max(this.#after, sequence);
  }

  /** Messages of this hub follow those that another one has sent to each receiver. */
  tookBehind(from: string, sent: Readonly<Record<string, number>>): void {
    this.flush();
    for (const [member, number] of Object.entries(sent)) {
      const receiver = this.#receivers.get(member);
      if (receiver === undefined || number === 0 || (receiver.behind.get(from)?.number ?? 0) > number) continue;
      noMore(receiver, from);
      const cancel = this.#options.schedule(BEHIND_MS, () => receiver.behind.delete(from));
      receiver.behind.set(from, { number, cancel });
    }
  }

  /** Number of the last message to each member, after sending everything so far. */
  sentToEach(): Record<string, number> {
    this.flush();
    return Object.fromEntries([...this.#receivers].map(([member, { number }]) => [member, number]));
  }

  /** By other senders, the numbers of their messages to each member that precede those of this hub. */
  behindOfEach(): Record<string, Record<string, number>> {
    const all: Record<string, Record<string, number>> = {};
    for (const [member, { behind }] of this.#receivers) {
      for (const [from, { number }] of behind) all[from] = { ...all[from], [member]: number };
    }
    return all;
  }

  sentTo(member: string): SentSoFar {
    const { number = 0, lastOf = KINDS.map(() => 0) } = this.#receivers.get(member) ?? {};
    return { number, lastOf };
  }

  /** Repeats the current numbers to every hub that was sent anything. `isLast`: this hub sends nothing more. */
  beat({ isLast = false } = {}): void {
    this.flush();
    this.#isLast = isLast;
    for (const receiver of this.#receivers.values()) if (isLast || receiver.number > 0) this.#send(receiver);
  }

  /** Drops old messages. Call it once a second. */
  age(): void {
    for (const { sent } of this.#receivers.values()) sent.beat();
  }

  flush(): void {
    this.#isToFlush = false;
    for (const receiver of this.#pending) this.#send(receiver);
    this.#pending.clear();
  }

  #add(receiver: Receiver, kind: Kind, about: number, bytes: Uint8Array): void {
    const { writer } = receiver;
    if (writer.parts > 0 && writer.lengthWith(bytes.length) > MESSAGE_BYTES) this.#send(receiver);
    writer.add(kind, about, bytes);
    // It is in the message with the next number.
    receiver.lastOf[KINDS.indexOf(kind)] = receiver.number + 1;
    this.#pending.add(receiver);
    if (this.#isToFlush) return;
    this.#isToFlush = true;
    queueMicrotask(() => this.flush());
  }

  /** A message that cannot be sent uses up its number. */
  #send(receiver: Receiver): void {
    const { writer, subject, sent, behind, lastOf } = receiver;
    const isNumbered = writer.parts > 0;
    if (isNumbered) receiver.number++;
    const { number } = receiver;
    const message = writer.take({
      ...{ number, lastOf, after: this.#after, isLast: this.#isLast },
      behind: isNumbered && behind.size > 0 ? numbersOf(behind) : BEHIND_NONE,
    });
    if (message.length > PAYLOAD_BYTES_MAX) return;
    if (isNumbered) sent.add(number, message);
    this.#options.bus.publish(subject, message);
  }

  #resend({ bytes, reply }: Message): void {
    const { bus, malformed } = this.#options;
    const request = malformed.reading(() => AGAIN.read(bytes));
    const receiver = request && this.#receivers.get(request.from);
    if (request === undefined || receiver === undefined || reply === '') return;
    const { lost, messages } = receiver.sent.again(request.first, Math.min(request.last, receiver.number));
    for (const message of messages) bus.publish(receiver.subject, message);
    bus.publish(reply, SENT_AGAIN.pack({ lost }));
  }
}

function numbersOf(behind: Receiver['behind']): Behind {
  return [...behind].map(([from, { number }]) => [from, number] as const);
}

function noMore({ behind }: Receiver, from: string): void {
  behind.get(from)?.cancel();
  behind.delete(from);
}
