import { type ClusterContext, pause } from '../context.ts';
import { MessageError } from '../messages/codec.ts';
import { AGAIN, DELIVERED, DELIVERED_ANSWER, SENT_AGAIN } from '../messages/messages.ts';
import type { ProtocolErrors } from '../messages/protocol_errors.ts';
import { type Bus, type Message, PAYLOAD_BYTES_MAX, type Subscription } from '../nats/bus.ts';
import { type Kind, KINDS, MessageWriter, type SentSoFar } from './channel_message.ts';
import { SentBudget, SentMessages } from './sent_messages.ts';

/** Approximate bytes of a message; a larger part has its own. */
export const MESSAGE_BYTES = 1 << 20;
const ANSWER_MS = 200;
/** Pause before a member is asked again. */
const AGAIN_MS = 50;

export interface ChannelOptions extends Pick<ClusterContext, 'name' | 'incarnation' | 'schedule'> {
  readonly bus: Pick<Bus, 'publish' | 'subscribe' | 'request' | 'watch'>;
  readonly malformed: ProtocolErrors;
}

interface Receiver {
  readonly subject: string;
  readonly writer: MessageWriter;
  readonly sent: SentMessages;
  /** Number of the last message. */
  number: number;
  readonly lastOf: number[];
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
    const { bus, name, incarnation } = options;
    this.#listening = bus.subscribe(`${name}.again.${incarnation}`, (message) => this.#resend(message));
  }

  get ready(): Promise<void> {
    return this.#listening.ready;
  }

  joined(member: string): void {
    const { name, incarnation } = this.#options;
    this.#receivers.set(member, {
      ...{
        subject: `${name}.e.${member}`,
        writer: new MessageWriter(incarnation),
        sent: new SentMessages(this.#budget),
      },
      ...{ number: 0, lastOf: KINDS.map(() => 0) },
    });
  }

  gone(member: string): void {
    const receiver = this.#receivers.get(member);
    if (receiver === undefined) return;
    this.#pending.delete(receiver);
    receiver.sent.clear();
    this.#receivers.delete(member);
  }

  close(): void {
    this.#listening.end();
    this.#receivers.clear();
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

  /** See Channel.delivered. Never rejects. */
  async delivered(): Promise<void> {
    this.flush();
    await Promise.all([...this.#receivers].map(([member, { number }]) => this.#deliveredAt(member, number)));
  }

  sentTo(member: string): SentSoFar {
    this.flush();
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
    const { writer, subject, sent, lastOf } = receiver;
    const isNumbered = writer.parts > 0;
    if (isNumbered) receiver.number++;
    const { number } = receiver;
    const message = writer.take({ number, lastOf, after: this.#after, isLast: this.#isLast });
    if (message.length > PAYLOAD_BYTES_MAX) return;
    if (isNumbered) sent.add(number, message);
    this.#options.bus.publish(subject, message);
  }

  /** Resolves when a member has delivered the messages up to a number, or is removed. */
  async #deliveredAt(member: string, number: number): Promise<void> {
    const { bus, name, incarnation, malformed } = this.#options;
    const receiver = this.#receivers.get(member);
    const isDone = async (): Promise<boolean> => {
      try {
        const answer = await bus.request(`${name}.delivered.${member}`, DELIVERED.pack({ from: incarnation, number }), {
          timeoutMs: ANSWER_MS,
          read: (bytes) => DELIVERED_ANSWER.read(bytes).number >= number,
        });
        return answer.at === 'answered' && answer.value;
      } catch (error) {
        // Any other error is a temporary failure of the bus.
        if (error instanceof MessageError) malformed.add(error);
        return false;
      }
    };
    const isMember = (): boolean => this.#receivers.get(member) === receiver;
    while (number > 0 && isMember() && !(await isDone())) await pause(this.#options, AGAIN_MS);
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
