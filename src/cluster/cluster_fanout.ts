import { objectOfFenceEvent } from '../core/fence/fence_event.ts';
import type { EventBatch } from '../model/event_batch.ts';
import { SHARD_TOPICS, type Topic, type Variant } from '../model/topics.ts';
import type { Bus } from './bus.ts';
import { type FenceEventLeft, packFenceEvents, readFenceEvents } from './fan_out_message.ts';
import { FramesIn } from './frames_in.ts';
import { FramesOut } from './frames_out.ts';
import { Interest } from './interest.ts';
import { RECORDS_FENCE_EVENTS } from './protocols.ts';
import { eventIdOf, ToldFenceEvents } from './told_fence_events.ts';

/**
 * Lets the subscribers of each hub get the events of all hubs, as if these were one.
 *
 *   what its subscribers want  --interest-->  every other hub, whose shards render it
 *   what its shards render     --frames---->  the hubs that want it, each under its own number of the variant
 *   what its door announces    --announced->  every other hub, as JSON text
 *
 * A subscription gets everything from the moment on in which `told` lets it be answered, in the order of each sender; or
 * it is told that something is lost, and ends. What gets lost on its way is sent again, for some seconds. A hub that leaves
 * has sent everything before. What one had not yet sent when it was killed is lost: of an owner's events all subscriptions to
 * such are told, of announced ones nobody is. Only fence events of an owner are not lost, since they are recorded: whoever
 * takes over announces the last ones again, and each hub leaves out those that its subscribers have (protocol 2).
 *
 * The members, the owners and the sequence are those of the configuration log. Of one record they are told in this order:
 * `joined` or `gone`, `owners`, `applied`.
 */
export interface ClusterFanoutOptions {
  readonly bus: Bus;
  /** Of the cluster: what subjects begin with. */
  readonly name: string;
  /** The incarnation of this hub. */
  readonly self: string;
  readonly fanout: LocalFanout;
  /** The version of what hubs say to each other, by the log. */
  protocol(): number;
  readonly announce: Announcers;
  /** Told what the log of the hub should say. */
  notice(text: string): void;
  /** Calls back after a delay; returns how to call it off. */
  schedule(delayMs: number, callback: () => void): () => void;
}

/** Announce events of other hubs to the subscribers of this one. */
export interface Announcers {
  /** From its JSON text, as is the next. */
  proximity(text: string): void;
  fenceEvent(text: string): void;
  /** Of an owner that is gone, to the subscriptions of the variants for which it is new; asked only where there are such. */
  fenceEventAgain(recorded: FenceEventLeft, isNew: (variant: Variant) => boolean): void;
}

/** What the fan-out of this hub is asked for. */
export interface LocalFanout {
  /** What its own subscriptions want of the shards. */
  interest(): readonly Variant[];
  /** What another hub wants of this one. */
  setForeign(member: string, variants: readonly Variant[]): void;
  /** Takes events that another hub has published. */
  receive(events: EventBatch): void;
  /** The topic of a variant by its number; undefined when nobody subscribes to it any more. */
  topicOf(variant: number): Topic | undefined;
  /** Ends the subscriptions to these topics: events are lost. */
  missed(topics: readonly Topic[], why: string): void;
}

/** What each member was sent, by the numbers of the last frames, before objects have got another owner. */
export interface SentBefore {
  /** By their owner before. */
  readonly sent: Readonly<Record<string, number>>;
  /** By those that have owned them before that one. Left out by hubs of the release before. */
  readonly behind?: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

const BEAT_MS = 1000;

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
  readonly #told = new ToldFenceEvents();
  readonly #unwatch: () => void;
  #misfits = 0;
  #losses = 0;
  #isClosed = false;

  constructor(options: ClusterFanoutOptions) {
    this.#options = options;
    const { fanout, announce, bus } = options;
    const misfit = (error: unknown): void => this.#misfit(error);
    this.#out = new FramesOut({ ...options, misfit });
    this.#in = new FramesIn({
      ...options,
      receive: (events, from) => {
        if (fanout.topicOf(events.variant) === 'fence_events') this.#told.noteAll(from, events);
        fanout.receive(events);
      },
      announced: ([kind, text], from) => {
        if (kind === 'fenceEventsAgain') {
          // This hub has told its own events, and does not know yet that it is gone.
          const events = readFenceEvents(text).filter(({ of }) => of !== options.self);
          this.#tellAgain(events, from);
        } else announce[kind](text);
      },
      lost: (what, why) => {
        this.#losses++;
        const isRecorded = options.protocol() >= RECORDS_FENCE_EVENTS;
        fanout.missed(TOPICS_OF[what === 'ofGone' && !isRecorded ? 'rendered' : what], why);
      },
      misfit,
    });
    this.#interest = new Interest({
      ...options,
      wanted: () => fanout.interest(),
      wants: (member, variants) => fanout.setForeign(member, variants),
      sentTo: (member) => this.#out.sentTo(member),
      heardBy: (member, sent) => this.#in.heard(member, sent),
      misfit,
    });
    this.#unwatch = bus.watch(({ at }) => {
      if (at === 'up') this.#out.beat();
      else this.#interest.down();
    });
    this.#beat();
  }

  /** Resolves when it listens. To be awaited before this hub joins. */
  async ready(): Promise<void> {
    await Promise.all([this.#in.ready(), this.#out.ready, this.#interest.ready]);
  }

  /** Messages that did not fit, and were passed over. */
  get misfits(): number {
    return this.#misfits;
  }

  /** How often something was missing, and was sent again. */
  get repairs(): number {
    return this.#in.repaired;
  }

  /** How often something was lost. */
  get losses(): number {
    return this.#losses;
  }

  /** A hub is a member from now on; or, where it is not new, it was one before this hub. */
  joined(member: string, { isNew = true } = {}): void {
    if (member === this.#options.self) return;
    this.#out.joined(member);
    this.#in.joined(member, { isNew });
    this.#interest.joined(member);
  }

  /** Another hub is expelled, or has left. */
  gone(member: string): void {
    this.#in.gone(member);
    this.#interest.gone(member);
    this.#out.gone(member);
    this.#told.gone(member);
  }

  /** Who owns partitions, or the collision stage, from now on. */
  owners(owners: Iterable<string>): void {
    this.#in.owners(owners);
  }

  /** This hub has applied the configuration up to there. */
  applied(sequence: number): void {
    this.#in.applied(sequence);
  }

  /**
   * This hub owns, since the record of that sequence, what others have owned before: elsewhere its events wait until the
   * record is applied there. Told before it publishes any.
   */
  tookAfter(sequence: number): void {
    this.#out.tookAfter(sequence);
  }

  /** What each member was sent so far. A hub that lets objects go tells their next owner, once it has published it all. */
  sentBefore(): SentBefore {
    return { sent: this.#out.sentToAll(), behind: this.#out.behindToAll() };
  }

  /**
   * This hub owns objects that another one has owned, by when so much was sent to each member. So nobody gets what this
   * hub publishes from now on before what was published of them there. Resolves when the subscribers of this hub have
   * that, or have been told that it is lost: after a second at the latest. To be awaited before this hub publishes events
   * of the objects.
   */
  async tookBehind(from: string, { sent, behind = {} }: SentBefore): Promise<void> {
    const { self } = this.#options;
    const all = [...Object.entries(behind), [from, sent] as const].filter(([sender]) => sender !== self);
    for (const [sender, numbers] of all) this.#out.tookBehind(sender, numbers);
    await Promise.all(all.map(([sender, numbers]) => this.#in.reachedFrom(sender, numbers[self] ?? 0)));
  }

  /** What `interest` of the fan-out returns has changed. */
  interestChanged(): void {
    this.#interest.changed();
  }

  /** Hands events to other hubs. hot */
  forward(events: EventBatch, to: ReadonlyMap<string, Variant>): void {
    this.#out.forward(events, to);
  }

  /** Hands an event to all other hubs that this one has announced itself, as JSON text. */
  announce(kind: 'proximity' | 'fenceEvent', text: string): void {
    this.#out.announce(kind, text);
  }

  /**
   * Tells all subscribers, those of this hub too, of the last fence events that owners have recorded which are gone, in order, but for
   * those that have them. Told behind `tookAfter`, and before this hub publishes events of the same objects.
   */
  announceAgain(recorded: readonly FenceEventLeft[]): void {
    const { protocol, self } = this.#options;
    if (protocol() < RECORDS_FENCE_EVENTS) return;
    for (const events of Map.groupBy(recorded, ({ event: [fields] }) =>
      objectOfFenceEvent(fields).join(' '),
    ).values()) {
      this.#tellAgain(events, self);
      this.#out.announce('fenceEventsAgain', packFenceEvents(events));
    }
  }

  /** This hub publishes nothing more, and is about to leave: the others need not be afraid that something is missing. */
  leaving(): void {
    this.#out.beat({ isLast: true });
  }

  /** See Interest.told: a subscription may be answered then. */
  told(): Promise<void> | undefined {
    return this.#interest.told();
  }

  /** See Interest.allHeard: this hub may become an owner then. */
  allHeard(): Promise<void> {
    return this.#interest.allHeard();
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
      this.#told.beat();
      this.#out.beat();
      this.#beat();
    });
  }

  /**
   * Tells of the events of one object. They had come in order, if they had: who has one of them has those before it, or did
   * not want them then.
   */
  #tellAgain(events: readonly FenceEventLeft[], from: string): void {
    const ids = events.map(({ event: [, text] }) => eventIdOf(text));
    for (const [i, event] of events.entries()) {
      this.#options.announce.fenceEventAgain(event, ({ id: variant }) => {
        const isNew = !ids.slice(i).some((id) => this.#told.has(variant, id));
        if (isNew) this.#told.note(from, variant, ids[i] as string);
        return isNew;
      });
    }
  }

  #misfit(error: unknown): void {
    this.#misfits++;
    if (this.#misfits > 1) return;
    this.#options.notice(`A message about events does not fit and is passed over: ${String(error)}`);
  }
}
