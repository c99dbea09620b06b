import { pause } from '../context.ts';
import { MessageError } from '../messages/codec.ts';
import { AGAIN, DELIVERED, DELIVERED_ANSWER, SENT_AGAIN } from '../messages/messages.ts';
import type { ProtocolErrors } from '../messages/protocol_errors.ts';
import { type Message, PAYLOAD_BYTES_MAX, type Subscription } from '../nats/bus.ts';
import { type Kind, KINDS, MessageWriter, type SentSoFar } from './channel_message.ts';
import { type ChannelOptions, ChannelReceiver, type PartHandler } from './channel_receiver.ts';
import { SentBudget, SentMessages } from './sent_messages.ts';

/** Approximate bytes of a message; a larger part has its own. */
export const MESSAGE_BYTES = 1 << 20;
const BEAT_MS = 1000;
const ANSWER_MS = 200;
/** Pause before a member is asked again. */
const AGAIN_MS = 50;

interface Receiver {
  readonly subject: string;
  readonly writer: MessageWriter;
  readonly sent: SentMessages;
  /** Number of the last message. */
  number: number;
  readonly lastOf: number[];
}

/**
 * The channel from each hub to each other one: parts of several kinds, which arrive in order and exactly once, or are reported
 * as lost.
 *
 *   events      events that shards have rendered, in the order in which they are published    fanout/
 *   announced   events that come from no shard                                                fanout/
 *   motions     of trackables, for the owner of the collision stage                           collisions/
 *
 * Messages are numbered per sender and receiver. Duplicates are dropped; after a gap, later messages wait until the missing ones
 * are sent again. The receiver gives up messages that do not arrive within a second, and all that wait for them, and reports
 * the loss to the handlers of these kinds. A lost connection needs no other care: its messages are missing.
 *
 * The receiver knows what was sent when a message arrives, when the sender acknowledges the interest of this hub, and with each
 * of its heartbeats.
 *
 * NATS orders the messages of each sender only. So a message of the successor of a removed member, and with it later ones of
 * the same sender, waits for the record of the configuration that removes that member: from then on its messages are dropped.
 * And an owner hands objects over after each member has delivered its messages about them: see `delivered`.
 *
 * Parts of one turn leave together, in messages of about a megabyte. Each message takes a number even if it cannot be sent: then
 * the receiver sees a gap. So that it also notices a missing last message, heartbeats repeat the numbers.
 *
 * Messages of the last seconds are retained as far as there is room. A receiver requests missing ones, which are sent again
 * unchanged; then the answer says which are unavailable.
 *
 * Members and sequences are those of the configuration log. For each record the calls come in this order: `joined` or `gone`,
 * `tookAfter`, `applied`.
 */
export class Channel {
  /** Malformed messages. */
  readonly malformed: ProtocolErrors;
  readonly #options: ChannelOptions;
  readonly #listening: Subscription;
  readonly #in: ChannelReceiver;
  readonly #unwatch: () => void;
  readonly #budget = new SentBudget();
  readonly #receivers = new Map<string, Receiver>();
  /** Receivers with unsent parts. */
  readonly #pending = new Set<Receiver>();
  #after = 0;
  #isLast = false;
  #isToFlush = false;
  #cancelBeat: () => void = () => undefined;

  constructor(options: ChannelOptions) {
    this.malformed = options.malformed;
    this.#options = options;
    const { bus, name, incarnation } = options;
    this.#listening = bus.subscribe(`${name}.again.${incarnation}`, (message) => this.#resend(message));
    this.#in = new ChannelReceiver(options);
    this.#unwatch = bus.watch(({ at }) => at === 'up' && this.#beat());
    this.#beatSoon();
  }

  /** Resolves when the subscriptions are active. Await it before this hub joins. */
  async ready(): Promise<void> {
    await Promise.all([this.#in.ready, this.#listening.ready]);
  }

  /** Number of gaps that were closed by retransmission. */
  get repairs(): number {
    return this.#in.repairs;
  }

  /** Sets the receiver of the parts of a kind. */
  serve(kind: Kind, handler: PartHandler): void {
    this.#in.serve(kind, handler);
  }

  /** Adds a member. */
  joined(member: string): void {
    const { name, incarnation } = this.#options;
    if (member === incarnation) return;
    this.#receivers.set(member, {
      subject: `${name}.e.${member}`,
      writer: new MessageWriter(incarnation),
      sent: new SentMessages(this.#budget),
      ...{ number: 0, lastOf: KINDS.map(() => 0) },
    });
    this.#in.joined(member);
  }

  /**
   * Removes a member that was expelled or has left. Returns whether it had declared its last message, and the kinds of which
   * parts are missing.
   */
  gone(member: string): { readonly isOver: boolean; readonly lost: readonly Kind[] } {
    const receiver = this.#receivers.get(member);
    if (receiver !== undefined) {
      this.#pending.delete(receiver);
      receiver.sent.clear();
      this.#receivers.delete(member);
    }
    return this.#in.gone(member);
  }

  /** This hub has applied the configuration up to that sequence, with all other effects of the record. */
  applied(sequence: number): void {
    this.#in.applied(sequence);
  }

  /**
   * This hub owns, since the record of that sequence, what failed members had owned: other hubs hold back what it sends until
   * they have applied the record. Call it before it sends any of that.
   */
  tookAfter(sequence: number): void {
    this.#flush();
    this.#after = Math.max(this.#after, sequence);
  }

  /**
   * Resolves when each member has delivered all messages that this hub has sent so far, has reported them as lost, or is
   * removed. An owner awaits it before it hands objects over, so that at each hub events of the next owner follow its own. Never
   * rejects.
   */
  async delivered(): Promise<void> {
    this.#flush();
    await Promise.all([...this.#receivers].map(([member, { number }]) => this.#deliveredAt(member, number)));
  }

  /** How much this hub has sent to a member, including what this turn sends. */
  sentTo(member: string): SentSoFar {
    this.#flush();
    const { number = 0, lastOf = KINDS.map(() => 0) } = this.#receivers.get(member) ?? {};
    return { number, lastOf };
  }

  /** A member reports how much it has sent; everything that arrives at all has arrived. */
  sentUpTo(member: string, sent: SentSoFar): void {
    this.#in.sentUpTo(member, sent);
  }

  /**
   * Resolves when the messages of a member up to that number are delivered or reported as lost, or when the member is removed;
   * undefined if they are already.
   */
  receivedUpTo(member: string, number: number): Promise<void> | undefined {
    return this.#in.receivedUpTo(member, number);
  }

  /** Sends a part to a member, which is copied, at the end of this turn. Does nothing if it is no member. Hot path. */
  send(member: string, kind: Kind, about: number, bytes: Uint8Array): void {
    const receiver = this.#receivers.get(member);
    if (receiver !== undefined) this.#add(receiver, kind, about, bytes);
  }

  /** Sends a part to all other members. */
  sendToAll(kind: Kind, about: number, bytes: Uint8Array): void {
    for (const receiver of this.#receivers.values()) this.#add(receiver, kind, about, bytes);
  }

  /** This hub sends nothing more and is about to leave, so that others do not report a loss. */
  leaving(): void {
    this.#beat({ isLast: true });
  }

  close(): void {
    this.#cancelBeat();
    this.#unwatch();
    this.#in.close();
    this.#listening.end();
    this.#receivers.clear();
  }

  #beatSoon(): void {
    this.#cancelBeat = this.#options.schedule(BEAT_MS, () => {
      for (const { sent } of this.#receivers.values()) sent.beat();
      this.#beat();
      this.#beatSoon();
    });
  }

  /** Repeats the current numbers to every hub that was sent anything. `isLast`: this hub sends nothing more. */
  #beat({ isLast = false } = {}): void {
    this.#flush();
    this.#isLast = isLast;
    for (const receiver of this.#receivers.values()) if (isLast || receiver.number > 0) this.#send(receiver);
  }

  #flush(): void {
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
    queueMicrotask(() => this.#flush());
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
