import { look } from '../../model/borrowed.ts';
import type { EventBatch } from '../../model/event_batch.ts';
import { SHARD_TOPICS, type Topic, type Variant } from '../../model/topics.ts';
import type { ClusterContext } from '../context.ts';
import { type Channel, MESSAGE_BYTES } from '../channel/channel.ts';
import type { Part } from '../channel/channel_message.ts';
import { type FailedFenceEvent, readRows, rowOf } from '../../wire/fence_events.ts';
import { malformed } from '../messages/codec.ts';
import { ProtocolErrors } from '../messages/protocol_errors.ts';
import { BlockPacker, readBlock } from './event_block.ts';
import { type Acknowledgement, Interest } from './interest.ts';
import { FenceEventWatermarks } from './fence_event_watermarks.ts';

/**
 * Event fan-out between hubs: subscribers of each hub receive the events of all hubs as if these were one.
 *
 *   wants of its subscribers      --interest-->   every other hub, whose shards render them
 *   events of its shards          --channel--->   the hubs that want them, each under its own variant number
 *   events that it announces      --channel--->   every other hub, as JSON
 *
 * A subscription receives everything from the moment its confirmation is allowed (`acknowledged`), in the order of each sender;
 * or it is notified of a loss and closed. A hub that leaves has sent everything before. Events that a failed hub had not sent
 * are lost: all subscriptions to events of owners are notified, those to announced events are not. Fence events of owners are
 * not lost, since they are journaled: successors redeliver them, and each hub drops those that its subscribers have, by position
 * (fence_event_watermarks.ts).
 *
 * Members and owners are those of the configuration log. For each record the calls come in this order: `joined` or `gone`,
 * `owners`, `Channel.applied`.
 */
export interface ClusterFanoutOptions
  extends Pick<ClusterContext, 'bus' | 'name' | 'incarnation' | 'notice' | 'schedule'> {
  /** Events go through it; this sets its members. */
  readonly channel: Channel;
  readonly fanout: LocalFanout;
  /**
   * Resolves when the events of all steps so far are published, and all later steps render what is wanted now: with the first
   * step of each shard whose events are not published. Rejects if that is never so.
   */
  published(): Promise<readonly number[]>;
  readonly announce: Announcers;
}

/** Announces events of other hubs to the subscribers of this one. */
export interface Announcers {
  /** Takes the event as JSON, as does the next. */
  proximity(text: string): void;
  fenceEvent(text: string): void;
  /**
   * Redelivers a fence event of a failed owner to the subscriptions that the interest with the number `upTo` includes, if those
   * of their variant have not received it. Calls `isNew` only for variants with such subscriptions.
   */
  fenceEventAgain(recorded: FailedFenceEvent, to: { readonly upTo: number; isNew(variant: Variant): boolean }): void;
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

/** Fence events of failed owners in a part. */
const REDELIVERED_AT_ONCE = 500;
const BLOCK_EVENTS = 8192;

const TOPICS_OF: Readonly<Record<'rendered' | 'announced' | 'ofGone', readonly Topic[]>> = {
  rendered: SHARD_TOPICS,
  announced: ['proximity_updates', 'fence_events'],
  ofGone: SHARD_TOPICS.filter((topic) => topic !== 'fence_events'),
};

/**
 * Announced events: of proximities, and fence events of third parties. Or the fence events of a failed owner, which it may not
 * have published. A part is about the index of its kind.
 */
const ANNOUNCED = ['proximity', 'fenceEvent', 'fenceEventsAgain'] as const;

export class ClusterFanout {
  readonly #options: ClusterFanoutOptions;
  readonly #interest: Interest;
  readonly #packer = new BlockPacker();
  readonly #watermarks = new FenceEventWatermarks();
  /** Malformed messages about interest. */
  readonly malformed: ProtocolErrors;
  readonly #unwatch: () => void;
  #owners: ReadonlySet<string> = new Set();
  #losses = 0;

  constructor(options: ClusterFanoutOptions) {
    this.#options = options;
    const { fanout, bus, channel } = options;
    this.malformed = new ProtocolErrors('interest in events', options.notice);
    channel.serve('events', {
      take: (part, from) => this.#receive(part, from),
      lost: (_, why) => this.#missed('rendered', why),
    });
    channel.serve('announced', {
      take: (part) => this.#receiveAnnounced(part),
      lost: (_, why) => this.#missed('announced', why),
    });
    this.#interest = new Interest({
      ...options,
      wanted: () => fanout.interest(),
      wants: (member, variants) => fanout.setRemoteInterest(member, variants),
      sentTo: (member) => channel.sentTo(member),
      acknowledgedBy: (member, answer) => this.#acknowledgedBy(member, answer),
      malformed: (error) => this.malformed.add(error),
    });
    this.#unwatch = bus.watch(({ at }) => at === 'down' && this.#interest.down());
  }

  /** The channel that carries the events. */
  get channel(): Channel {
    return this.#options.channel;
  }

  /** Resolves when the subscriptions are active. Await it before this hub joins. */
  async ready(): Promise<void> {
    await Promise.all([this.#options.channel.ready(), this.#interest.ready]);
  }

  /** Number of times that events were lost. */
  get losses(): number {
    return this.#losses;
  }

  /** Adds a member. */
  joined(member: string): void {
    this.#options.channel.joined(member);
    this.#interest.joined(member);
  }

  /** Removes a member that was expelled or has left. */
  gone(member: string): void {
    const { isOver, lost } = this.#options.channel.gone(member);
    const why = 'The hub that made the events was removed';
    const isOwner = this.#owners.has(member);
    if (lost.includes('announced')) this.#missed('announced', why);
    if (isOwner && (!isOver || lost.includes('events'))) this.#missed('ofGone', why);
    else if (lost.includes('events')) this.#missed('rendered', why);
    this.#watermarks.gone(member, this.#interest.acknowledgedBy(member));
    this.#interest.gone(member);
  }

  /** Sets the owners of partitions and of the collision stage. Call it after `gone`. */
  owners(owners: Iterable<string>): void {
    this.#owners = new Set(owners);
  }

  /** `interest` of the fan-out returns something else. */
  interestChanged(): void {
    this.#interest.changed();
  }

  /** See Interest.number. */
  get interestNumber(): number {
    return this.#interest.number;
  }

  /** Sends events to the hubs that want them, each under its own variant number. Hot path. */
  forward(events: EventBatch, to: ReadonlyMap<string, Variant>): void {
    const { channel } = this.#options;
    const { ends } = events;
    let from = 0;
    while (from < ends.length) {
      const end = blockEnd(ends, from);
      const block = this.#packer.pack(events, from, end);
      for (const [member, { id }] of to) channel.send(member, 'events', id, block);
      from = end;
    }
  }

  /** Sends an event that this hub has announced, as JSON, to all other hubs. */
  announce(kind: (typeof ANNOUNCED)[number], text: string): void {
    this.#options.channel.sendToAll('announced', ANNOUNCED.indexOf(kind), new TextEncoder().encode(text));
  }

  /**
   * Redelivers the journaled fence events of failed owners to all subscribers, those of this hub included, in order,
   * except to those that have them. Call it after `tookAfter`, and before this hub publishes events of the same objects.
   */
  announceAgain(recorded: readonly FailedFenceEvent[]): void {
    for (let at = 0; at < recorded.length; at += REDELIVERED_AT_ONCE) {
      const events = recorded.slice(at, at + REDELIVERED_AT_ONCE);
      this.#redeliver(events);
      this.announce('fenceEventsAgain', JSON.stringify(events.map(rowOf)));
    }
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
    this.#unwatch();
    this.#interest.close();
  }

  /** Everything sent before an acknowledgement must be received before it counts. */
  async #acknowledgedBy(member: string, { sent, unpublished }: Acknowledgement): Promise<boolean> {
    const { channel } = this.#options;
    channel.sentUpTo(member, sent);
    await channel.receivedUpTo(member, sent.number);
    const isMember = this.#interest.has(member);
    if (isMember) this.#watermarks.reach(member, unpublished);
    return isMember;
  }

  #receive({ about, bytes }: Part, from: string): void {
    const events = readBlock(bytes, about);
    if (events.positions !== undefined) this.#watermarks.note(from, about, events.positions);
    this.#options.fanout.receive(events);
  }

  #receiveAnnounced({ about, bytes }: Part): void {
    const { announce, incarnation } = this.#options;
    const text = new TextDecoder().decode(look(bytes));
    switch (ANNOUNCED[about]) {
      case 'proximity':
        announce.proximity(text);
        return;
      case 'fenceEvent':
        announce.fenceEvent(text);
        return;
      case 'fenceEventsAgain':
        // This hub has published its own events already, and does not know yet that it was expelled.
        this.#redeliver(fenceEventsIn(text).filter(({ of }) => of !== incarnation));
        return;
      default:
        throw malformed('Cannot read announced events', 'kind', about, `below ${ANNOUNCED.length}`);
    }
  }

  #redeliver(events: readonly FailedFenceEvent[]): void {
    for (const each of events) {
      this.#options.announce.fenceEventAgain(each, {
        upTo: this.#watermarks.acknowledgedBy(each.of),
        isNew: ({ id }) => this.#watermarks.redeliver(each.of, id, each),
      });
    }
  }

  #missed(what: keyof typeof TOPICS_OF, why: string): void {
    this.#losses++;
    this.#options.fanout.missed(TOPICS_OF[what], why);
  }
}

/** End of the block that begins with event `from`; it has at least that event. Hot path. */
function blockEnd(ends: Uint32Array, from: number): number {
  const start = from === 0 ? 0 : (ends[from - 1] as number) + 1;
  const most = Math.min(ends.length, from + BLOCK_EVENTS);
  let end = from + 1;
  while (end < most && (ends[end] as number) - start <= MESSAGE_BYTES) end++;
  return end;
}

/** Journaled fence events of failed owners, in an announced event. Throws a MessageError. */
function fenceEventsIn(text: string): readonly FailedFenceEvent[] {
  const events = readRows(JSON.parse(text));
  if (events === undefined) throw malformed('Cannot read announced events', 'fence events', text, 'rows');
  return events;
}
