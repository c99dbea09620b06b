import type { EventBatch } from '../model/event_batch.ts';
import { SHARD_TOPICS, type Topic, type Variant } from '../model/topics.ts';
import type { Bus } from './bus.ts';
import type { AnnouncedKind } from './fan_out_message.ts';
import { FramesIn } from './frames_in.ts';
import { FramesOut } from './frames_out.ts';
import { Interest } from './interest.ts';

/**
 * Lets the subscribers of each hub get the events of all hubs, as if these were one.
 *
 *   what its subscribers want  --interest-->  every other hub, whose shards render it
 *   what its shards render     --frames---->  the hubs that want it, each under its own number of the variant
 *   what its door announces    --announced->  every other hub, as JSON text
 *
 * A subscription gets everything from the moment on in which `told` lets it be answered, in the order of each sender; or
 * it is told that something is lost, and ends. A hub that leaves has sent everything before. What one had not yet sent when
 * it was killed is lost: of an owner's events all subscriptions to such are told, of announced ones nobody is.
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
  /** Announce events of other hubs to the subscribers of this one, from their JSON text. */
  readonly announce: Readonly<Record<AnnouncedKind, (text: string) => void>>;
  /** Told what the log of the hub should say. */
  notice(text: string): void;
  /** Calls back after a delay; returns how to call it off. */
  schedule(delayMs: number, callback: () => void): () => void;
}

/** What the fan-out of this hub is asked for. */
export interface LocalFanout {
  /** What its own subscriptions want of the shards. */
  interest(): readonly Variant[];
  /** What another hub wants of this one. */
  setForeign(member: string, variants: readonly Variant[]): void;
  /** Takes events that another hub has published. */
  receive(events: EventBatch): void;
  /** Ends the subscriptions to these topics: events are lost. */
  missed(topics: readonly Topic[], why: string): void;
}

const BEAT_MS = 1000;

const TOPICS_OF: Readonly<Record<'rendered' | 'announced', readonly Topic[]>> = {
  rendered: SHARD_TOPICS,
  announced: ['proximity_updates', 'fence_events'],
};

export class ClusterFanout {
  readonly #options: ClusterFanoutOptions;
  readonly #interest: Interest;
  readonly #out: FramesOut;
  readonly #in: FramesIn;
  readonly #unwatch: () => void;
  #misfits = 0;
  #losses = 0;
  #isClosed = false;

  constructor(options: ClusterFanoutOptions) {
    this.#options = options;
    const { fanout, announce, bus } = options;
    const misfit = (error: unknown): void => this.#misfit(error);
    this.#out = new FramesOut(options);
    this.#in = new FramesIn({
      ...options,
      receive: (events) => fanout.receive(events),
      announced: ([kind, text]) => announce[kind](text),
      lost: (what, why) => {
        this.#losses++;
        fanout.missed(TOPICS_OF[what], why);
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
    await Promise.all([this.#in.ready(), this.#interest.ready]);
  }

  /** Messages that did not fit, and were passed over. */
  get misfits(): number {
    return this.#misfits;
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

  /** What `interest` of the fan-out returns has changed. */
  interestChanged(): void {
    this.#interest.changed();
  }

  /** Hands events to other hubs. hot */
  forward(events: EventBatch, to: ReadonlyMap<string, Variant>): void {
    this.#out.forward(events, to);
  }

  /** Hands an event to all other hubs that this one has announced itself, as JSON text. */
  announce(kind: AnnouncedKind, text: string): void {
    this.#out.announce(kind, text);
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
  }

  #beat(): void {
    this.#options.schedule(BEAT_MS, () => {
      if (this.#isClosed) return;
      this.#out.beat();
      this.#beat();
    });
  }

  #misfit(error: unknown): void {
    this.#misfits++;
    if (this.#misfits > 1) return;
    this.#options.notice(`A message about events does not fit and is passed over: ${String(error)}`);
  }
}
