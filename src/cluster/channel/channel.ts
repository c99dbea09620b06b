import type { Kind, SentSoFar } from './channel_message.ts';
import { ChannelReceiver, type PartHandler } from './channel_receiver.ts';
import { type ChannelOptions, ChannelSender } from './channel_sender.ts';

/** Number of the last message sent to each member, before objects moved to another owner. */
export interface SentBefore {
  /** Messages of the previous owner. */
  readonly sent: Readonly<Record<string, number>>;
  /** Messages of earlier owners, by sender. */
  readonly behind?: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

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
 * The next message may still have to wait, and with it later ones of its sender:
 *
 *   a message waits for          | because
 *   -----------------------------+------------------------------------------------------------------------------
 *   a record of the              | that makes its sender the successor of a removed member. Messages of removed members are
 *   configuration                | dropped. NATS orders the messages of each sender only
 *   messages of other senders    | that may have earlier events of its objects. A removed sender has sent everything
 *
 * Members and sequences are those of the configuration log. For each record the calls come in this order: `joined` or `gone`,
 * `tookAfter`, `applied`.
 */
export class Channel {
  readonly #options: ChannelOptions;
  readonly #out: ChannelSender;
  readonly #in: ChannelReceiver;
  readonly #unwatch: () => void;
  #cancelBeat: () => void = () => undefined;

  constructor(options: ChannelOptions) {
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

  /** Number of malformed messages, which were skipped. */
  get protocolErrors(): number {
    return this.#options.malformed.count;
  }

  /** Sets the receiver of the parts of a kind. */
  serve(kind: Kind, handler: PartHandler): void {
    this.#in.serve(kind, handler);
  }

  /** Adds a member. */
  joined(member: string): void {
    if (member === this.#options.self) return;
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
   * Numbers of the last messages sent to each member. A hub that releases objects sends them to the next owner, after it has
   * published all events of these objects.
   */
  sentBefore(): SentBefore {
    return { sent: this.#out.sentToEach(), behind: this.#out.behindOfEach() };
  }

  /**
   * Orders messages of this hub after those that previous owners have sent. So each hub gets an earlier event of a previous
   * owner before an event of this hub. Resolves when this hub has delivered those, or has reported them as lost, after a second
   * at the latest. Await it before this hub publishes events of the objects.
   */
  async tookBehind(from: string, { sent, behind = {} }: SentBefore): Promise<void> {
    const { self } = this.#options;
    const all = [...Object.entries(behind), [from, sent] as const].filter(([sender]) => sender !== self);
    for (const [sender, numbers] of all) this.#out.tookBehind(sender, numbers);
    await Promise.all(all.map(([sender, numbers]) => this.#in.reachedFrom(sender, numbers[self] ?? 0)));
  }

  /** How much this hub has sent to a member. */
  sentTo(member: string): SentSoFar {
    return this.#out.sentTo(member);
  }

  /** A member reports how much it has sent; everything that arrives at all has arrived. */
  sentUpTo(member: string, sent: SentSoFar): void {
    this.#in.sentUpTo(member, sent);
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
