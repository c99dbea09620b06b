import type { ProtocolErrors } from '../messages/protocol_errors.ts';
import type { Kind, SentSoFar } from './channel_message.ts';
import { ChannelReceiver, type PartHandler } from './channel_receiver.ts';
import { type ChannelOptions, ChannelSender } from './channel_sender.ts';

const BEAT_MS = 1000;

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
 * Members and sequences are those of the configuration log. For each record the calls come in this order: `joined` or `gone`,
 * `tookAfter`, `applied`.
 */
export class Channel {
  /** Malformed messages. */
  readonly malformed: ProtocolErrors;
  readonly #options: ChannelOptions;
  readonly #out: ChannelSender;
  readonly #in: ChannelReceiver;
  readonly #unwatch: () => void;
  #cancelBeat: () => void = () => undefined;

  constructor(options: ChannelOptions) {
    this.malformed = options.malformed;
    this.#options = options;
    this.#out = new ChannelSender(options);
    this.#in = new ChannelReceiver(options);
    this.#unwatch = options.bus.watch(({ at }) => at === 'up' && this.#out.beat());
    this.#beatSoon();
  }

  /** Resolves when the subscriptions are active. Await it before this hub joins. */
  async ready(): Promise<void> {
    await Promise.all([this.#in.ready, this.#out.ready]);
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
    if (member === this.#options.incarnation) return;
    this.#out.joined(member);
    this.#in.joined(member);
  }

  /**
   * Removes a member that was expelled or has left. Returns whether it had declared its last message, and the kinds of which
   * parts are missing.
   */
  gone(member: string): { readonly isOver: boolean; readonly lost: readonly Kind[] } {
    this.#out.gone(member);
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
    this.#out.tookAfter(sequence);
  }

  /**
   * Resolves when each member has delivered all messages that this hub has sent so far, has reported them as lost, or is
   * removed. An owner awaits it before it hands objects over, so that at each hub events of the next owner follow its own.
   */
  async delivered(): Promise<void> {
    await this.#out.delivered();
  }

  /** How much this hub has sent to a member, including what this turn sends. */
  sentTo(member: string): SentSoFar {
    return this.#out.sentTo(member);
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
    this.#out.send(member, kind, about, bytes);
  }

  /** Sends a part to all other members. */
  sendToAll(kind: Kind, about: number, bytes: Uint8Array): void {
    this.#out.sendToAll(kind, about, bytes);
  }

  /** This hub sends nothing more and is about to leave, so that others do not report a loss. */
  leaving(): void {
    this.#out.beat({ isLast: true });
  }

  close(): void {
    this.#cancelBeat();
    this.#unwatch();
    this.#in.close();
    this.#out.close();
  }

  #beatSoon(): void {
    this.#cancelBeat = this.#options.schedule(BEAT_MS, () => {
      this.#out.age();
      this.#out.beat();
      this.#beatSoon();
    });
  }
}
