import type { EventBatch } from '../../model/event_batch.ts';
import { SHARD_TOPICS, type Topic, type Variant } from '../../model/topics.ts';
import type { Bus } from '../nats/bus.ts';
import { type FailedFenceEvent, readRows, rowOf } from '../../wire/fence_events.ts';
import { malformed } from '../messages/codec.ts';
import { ProtocolErrors } from '../messages/protocol_errors.ts';
import { FramesIn } from './frames_in.ts';
import { FramesOut } from './frames_out.ts';
import { Interest } from './interest.ts';
import { FenceEventWatermarks } from './fence_event_watermarks.ts';

/**
 * Event fan-out between hubs: subscribers of each hub receive the events of all hubs as if these were one.
 *
 *   wants of its subscribers      --interest-->   every other hub, whose shards render them
 *   events of its shards          --frames---->   the hubs that want them, each under its own variant number
 *   events that it announces      --announced-->  every other hub, as JSON
 *
 * A subscription receives everything from the moment its confirmation is allowed (`acknowledged`), in the order of each sender; or it
 * is notified of a loss and closed. Messages lost in transit are sent again for some seconds. A hub that leaves has sent
 * everything before. Events that a failed hub had not sent are lost: all subscriptions to events of owners are notified, those
 * to announced events are not. Fence events of owners are not lost, since they are journaled: successors redeliver them, and each
 * hub drops those that its subscribers have, by position (fence_event_watermarks.ts).
 *
 * Members, owners and sequences are those of the configuration log. For each record the calls come in this order: `joined` or
 * `gone`, `owners`, `applied`.
 */
export interface ClusterFanoutOptions {
  readonly bus: Bus;
  /** Name of the cluster, with which all subjects begin. */
  readonly name: string;
  /** Member id of this hub. */
  readonly self: string;
  readonly fanout: LocalFanout;
  readonly announce: Announcers;
  /** Logs a warning. */
  notice(text: string): void;
  /** Calls `callback` after `delayMs`. Returns a function that cancels it. */
  schedule(delayMs: number, callback: () => void): () => void;
}

/** Announces events of other hubs to the subscribers of this one. */
export interface Announcers {
  /** Takes the event as JSON, as does the next. */
  proximity(text: string): void;
  fenceEvent(text: string): void;
  /**
   * Redelivers a fence event of a failed owner to the subscriptions of those variants that have not received it. Calls `isNew`
   * only for existing variants.
   */
  fenceEventAgain(recorded: FailedFenceEvent, isNew: (variant: Variant) => boolean): void;
}

/** Fan-out of this hub. */
export interface LocalFanout {
  /** Variants that its own subscriptions need from shards. */
  interest(): readonly Variant[];
  /** Sets the variants that another hub needs from this one. */
  setRemoteInterest(member: string, variants: readonly Variant[]): void;
  /** Takes events that another hub has published. */
  receive(events: EventBatch): void;
  /** Topic of a variant by its number; undefined when it has no subscribers any more. */
  topicOf(variant: number): Topic | undefined;
  /** Closes the subscriptions to these topics because events were lost. */
  missed(topics: readonly Topic[], why: string): void;
}

/** Number of the last frame sent to each member, before objects moved to another owner. */
export interface SentBefore {
  /** Frames of the previous owner. */
  readonly sent: Readonly<Record<string, number>>;
  /** Frames of earlier owners, by sender. */
  readonly behind?: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

const BEAT_MS = 1000;
/** Fence events of failed owners in a message. */
const REDELIVERED_AT_ONCE = 500;

const TOPICS_OF: Readonly<Record<'rendered' | 'announced' | 'ofGone', readonly Topic[]>> = {
  rendered: SHARD_TOPICS,
  announced: ['proximity_updates', 'fence_events'],
  ofGone: SHARD_TOPICS.filter((topic) => topic !== 'fence_events'),
};

export class ClusterFanout {
  readonly #options: ClusterFanoutOptions;
  readonly #interest: Interest;
  readonly #out: FramesOut;
  readonly #in: FramesIn;
  readonly #watermarks = new FenceEventWatermarks();
  readonly #unwatch: () => void;
  readonly #malformed: ProtocolErrors;
  #losses = 0;
  #isClosed = false;

  constructor(options: ClusterFanoutOptions) {
    this.#options = options;
    const { fanout, announce, bus } = options;
    this.#malformed = new ProtocolErrors('events', options.notice);
    const malformed = (error: unknown): void => this.#malformed.add(error);
    this.#out = new FramesOut({ ...options, malformed });
    this.#in = new FramesIn({
      ...options,
      receive: (events, from) => {
        if (events.positions !== undefined) this.#watermarks.note(from, events.variant, events.positions);
        fanout.receive(events);
      },
      announced: ([kind, text]) => {
        if (kind === 'fenceEventsAgain') {
          // This hub has published its own events already, and does not know yet that it was expelled.
          const events = fenceEventsIn(text).filter(({ of }) => of !== options.self);
          this.#redeliver(events);
        } else announce[kind](text);
      },
      lost: (what, why) => {
        this.#losses++;
        fanout.missed(TOPICS_OF[what], why);
      },
      malformed,
    });
    this.#interest = new Interest({
      ...options,
      wanted: () => fanout.interest(),
      wants: (member, variants) => fanout.setRemoteInterest(member, variants),
      sentTo: (member) => this.#out.sentTo(member),
      acknowledgedBy: (member, sent) => this.#in.sentUpTo(member, sent),
      malformed,
    });
    this.#unwatch = bus.watch(({ at }) => {
      if (at === 'up') this.#out.beat();
      else this.#interest.down();
    });
    this.#beat();
  }

  /** Resolves when the subscriptions are active. Await it before this hub joins. */
  async ready(): Promise<void> {
    await Promise.all([this.#in.ready(), this.#out.ready, this.#interest.ready]);
  }

  /** Number of malformed messages, which were skipped. */
  get protocolErrors(): number {
    return this.#malformed.count;
  }

  /** Number of gaps that were closed by retransmission. */
  get repairs(): number {
    return this.#in.repaired;
  }

  /** Number of times that events were lost. */
  get losses(): number {
    return this.#losses;
  }

  /** Adds a member. `isNew`: it joined after this hub; otherwise it was a member before. */
  joined(member: string, { isNew = true } = {}): void {
    if (member === this.#options.self) return;
    this.#out.joined(member);
    this.#in.joined(member, { isNew });
    this.#interest.joined(member);
  }

  /** Removes a member that was expelled or has left. */
  gone(member: string): void {
    this.#in.gone(member);
    this.#interest.gone(member);
    this.#out.gone(member);
    this.#watermarks.gone(member);
  }

  /** Sets the owners of partitions and of the collision stage. */
  owners(owners: Iterable<string>): void {
    this.#in.owners(owners);
  }

  /** This hub has applied the configuration up to that sequence. */
  applied(sequence: number): void {
    this.#in.applied(sequence);
  }

  /**
   * This hub owns, since the record of that sequence, what failed members had owned: other hubs hold back its events until they
   * have applied the record. Call it before it publishes any.
   */
  tookAfter(sequence: number): void {
    this.#out.tookAfter(sequence);
  }

  /**
   * Numbers of the last frames sent to each member. A hub that releases objects sends them to the next owner, after it has
   * published all events of these objects.
   */
  sentBefore(): SentBefore {
    return { sent: this.#out.sentToAll(), behind: this.#out.behindToAll() };
  }

  /**
   * Orders the events of this hub after those of a previous owner that are numbered in `sent`. So no subscriber gets an event
   * of this hub before an earlier one of the previous owner. Resolves when subscribers of this hub have received those, or were
   * notified that they are lost, after a second at the latest. Await it before this hub publishes events of the objects.
   */
  async tookBehind(from: string, { sent, behind = {} }: SentBefore): Promise<void> {
    const { self } = this.#options;
    const all = [...Object.entries(behind), [from, sent] as const].filter(([sender]) => sender !== self);
    for (const [sender, numbers] of all) this.#out.tookBehind(sender, numbers);
    await Promise.all(all.map(([sender, numbers]) => this.#in.reachedFrom(sender, numbers[self] ?? 0)));
  }

  /** `interest` of the fan-out returns something else. */
  interestChanged(): void {
    this.#interest.changed();
  }

  /** Sends events to other hubs. Hot path. */
  forward(events: EventBatch, to: ReadonlyMap<string, Variant>): void {
    this.#out.forward(events, to);
  }

  /** Sends an event that this hub has announced, as JSON, to all other hubs. */
  announce(kind: 'proximity' | 'fenceEvent', text: string): void {
    this.#out.announce(kind, text);
  }

  /**
   * Redelivers the journaled fence events of failed owners to all subscribers, those of this hub included, in order,
   * except to those that have them. Call it after `tookAfter`, and before this hub publishes events of the same objects.
   */
  announceAgain(recorded: readonly FailedFenceEvent[]): void {
    for (let at = 0; at < recorded.length; at += REDELIVERED_AT_ONCE) {
      const events = recorded.slice(at, at + REDELIVERED_AT_ONCE);
      this.#redeliver(events);
      this.#out.announce('fenceEventsAgain', JSON.stringify(events.map(rowOf)));
    }
  }

  /** This hub publishes nothing more and is about to leave, so that others do not report a loss. */
  leaving(): void {
    this.#out.beat({ isLast: true });
  }

  /** See Interest.acknowledged: the confirmation of a subscription waits for it. */
  acknowledged(): Promise<void> | undefined {
    return this.#interest.acknowledged();
  }

  /** See Interest.allInterestReceived: a hub waits for it before it becomes an owner. */
  allInterestReceived(): Promise<void> {
    return this.#interest.allInterestReceived();
  }

  close(): void {
    this.#isClosed = true;
    this.#unwatch();
    this.#interest.close();
    this.#in.close();
    this.#out.close();
  }

  #beat(): void {
    this.#options.schedule(BEAT_MS, () => {
      if (this.#isClosed) return;
      this.#out.age();
      this.#out.beat();
      this.#beat();
    });
  }

  #redeliver(events: readonly FailedFenceEvent[]): void {
    for (const each of events) {
      this.#options.announce.fenceEventAgain(each, ({ id }) => this.#watermarks.redeliver(each.of, id, each));
    }
  }
}

/** Journaled fence events of failed owners, in an announced event. Throws a MessageError. */
function fenceEventsIn(text: string): readonly FailedFenceEvent[] {
  const events = readRows(JSON.parse(text));
  if (events === undefined) throw malformed('Cannot read announced events', 'fence events', text, 'rows');
  return events;
}
