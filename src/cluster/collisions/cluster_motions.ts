import type { Clock } from '../../time/clock.ts';
import type { EvaluatedMotions, PackedMotions } from '../../wire/messages.ts';
import type { ClusterContext } from '../context.ts';
import type { Channel } from '../channel/channel.ts';
import type { Part } from '../channel/channel_message.ts';
import type { Message, Subscription } from '../nats/bus.ts';
import { MOTIONS, PUBLISHED_MOTIONS, type PublishedMotions, STAND_REQUEST } from '../messages/messages.ts';
import { ProtocolErrors } from '../messages/protocol_errors.ts';
import { MotionsIn, type News } from './motions_in.ts';
import { MotionsOut, type Passed } from './motions_out.ts';

/**
 * Transfer of the motions of all hubs to the one collision stage.
 *
 *   the stage is owned by        | motions of this hub go                  | this hub
 *   -----------------------------+-----------------------------------------+------------------------------------------
 *   no hub, or this hub alone    | to its own stage, as in a single hub    | sends and receives nothing
 *   this hub, and others own     | to its own stage                        | receives motions of the others, and
 *   objects                      |                                         | requests the positions of their trackables
 *   another hub                  | there, once the step is journaled, with | reports its watermark, and the positions
 *                                | its watermark                           | of its trackables on request
 *
 * The owner of the stage reports for which motions it has stored the starts and ends. The others retain the rest
 * (motions_out.ts). So its successor evaluates every motion since the last stored step (core/collision/progress.ts).
 *
 * A hub that gets the stage holds it until it has the colliding pairs. The owners are those of the configuration log. For each
 * record the calls come in this order: `gone`, `stageOwner`, `owners`.
 */
export interface ClusterMotionsOptions
  extends Pick<ClusterContext, 'bus' | 'name' | 'incarnation' | 'notice' | 'schedule'> {
  readonly channel: Channel;
  readonly stage: LocalStage;
}

/** The collision stage of this hub, and its shards. */
export interface LocalStage {
  readonly clock: Pick<Clock, 'now' | 'monotonic' | 'wallClockTime' | 'monotonicTime' | 'clockSteps'>;
  readonly shards: {
    readonly passed: Passed;
    /** Has all shards report the positions of their trackables, as motions. Resolves when they have. */
    standing(): Promise<void>;
  };
  readonly collisions: {
    /** Whether motions can be taken. */
    readonly hasCapacity: boolean;
    /** Takes motions of a shard; without any, checks whether it can continue. */
    addShardMotions(motions: PackedMotions | undefined): void;
    /** Waits until it has the colliding pairs. */
    pause(): void;
    addRemoteMotions(news: News): void;
    remoteLeft(hub: string): void;
  };
}

const BEAT_MS = 50;
/** Heartbeats between reports while there were no motions. */
const IDLE_BEATS = 5;
/** Time that the stage waits for others to report the positions of their trackables. */
const STANDING_MS = 1000;

export class ClusterMotions {
  readonly #options: ClusterMotionsOptions;
  readonly #out: MotionsOut;
  readonly #in: MotionsIn;
  readonly #listening: readonly Subscription[];
  #owner: string | undefined;
  #owners: ReadonlySet<string> = new Set();
  /** Whether others have owned objects while this hub had the stage. */
  #isShared = false;
  #beats = 0;
  #cancelBeat: (() => void) | undefined;
  /** Number of the last request of the stage's owner. */
  #question = 0;
  /** What this hub has published as the owner of the stage, until it is reported. */
  #published: PublishedMotions | undefined;
  #isStanding = false;
  /** Malformed messages. */
  readonly malformed: ProtocolErrors;
  #isClosed = false;

  constructor(options: ClusterMotionsOptions) {
    this.#options = options;
    const { bus, channel, name, incarnation, stage } = options;
    this.malformed = new ProtocolErrors('motions', options.notice);
    this.#out = new MotionsOut({
      send: (target, message) => channel.send(target, 'motions', 0, message),
      clock: stage.clock,
      passed: () => stage.shards.passed,
    });
    this.#in = new MotionsIn({
      clock: stage.clock,
      ask: (hub, number) => void bus.publish(`${name}.ms.${hub}`, STAND_REQUEST.pack({ from: incarnation, number })),
    });
    channel.serve('motions', {
      take: (part, from, isLate) => this.#take(part, from, isLate),
      lost: (from) => this.#in.lost(from),
    });
    this.#listening = [
      bus.subscribe(`${name}.ms.${incarnation}`, (message) => this.malformed.reading(() => this.#asked(message))),
      bus.subscribe(`${name}.mp`, (message) => this.malformed.reading(() => this.#confirmed(message))),
    ];
  }

  /** Resolves when the subscriptions are active. Await it before this hub joins. */
  async ready(): Promise<void> {
    await Promise.all(this.#listening.map(({ ready }) => ready));
  }

  /** Number of times that messages were lost. */
  get gaps(): number {
    return this.#in.gaps;
  }

  /** Whether motions go to the stage of this hub directly. */
  get isLocal(): boolean {
    return this.#owner === undefined || this.#owner === this.#options.incarnation;
  }

  /** Sets the owner of the collision stage. If that is this hub, its stage waits for the colliding pairs. */
  stageOwner(owner: string): void {
    if (this.#owner === owner || this.#isClosed) return;
    this.#owner = owner;
    const { collisions } = this.#options.stage;
    if (this.isLocal) {
      collisions.pause();
      for (const motions of this.#out.takeRetained()) collisions.addShardMotions(motions);
    } else this.#out.to(owner);
    this.#question = 0;
  }

  /** The events of motions that the stage of this hub has evaluated are published. Reports that at once if there are any. */
  published({ others }: EvaluatedMotions, hasEvents: boolean): void {
    const { incarnation } = this.#options;
    if (this.#owner !== incarnation) return;
    this.#published = { from: incarnation, others };
    // The events leave at the end of this turn, and the report after them.
    if (hasEvents) queueMicrotask(() => this.#reportPublished());
    else this.#beatSoon();
  }

  #reportPublished(): void {
    const { bus, name } = this.#options;
    if (this.#published === undefined || this.#isClosed) return;
    bus.publish(`${name}.mp`, PUBLISHED_MOTIONS.pack(this.#published));
    this.#published = undefined;
  }

  #confirmed({ bytes }: Message): void {
    const { from, others } = PUBLISHED_MOTIONS.read(bytes);
    if (from !== this.#owner || from === this.#options.incarnation) return;
    for (const [hub, item] of others) if (hub === this.#options.incarnation) this.#out.confirmed(item);
  }

  /** Sets the owners of partitions. */
  owners(owners: ReadonlySet<string>): void {
    if (this.#isClosed) return;
    this.#owners = owners;
    const { incarnation } = this.#options;
    if (this.#owner === incarnation) {
      const others = new Set([...owners].filter((hub) => hub !== '' && hub !== incarnation));
      this.#isShared ||= others.size > 0;
      this.#in.owners(others);
    }
    if (this.#isNeeded) this.#beatSoon();
  }

  /** Removes a member that was expelled or has left. */
  gone(member: string): void {
    this.#in.gone(member);
    if (this.#isShared) this.#options.stage.collisions.remoteLeft(member);
  }

  /** Takes the motions of a step that is not journaled yet. Hot path. */
  addShardMotions(motions: PackedMotions | undefined): void {
    if (this.isLocal) this.#options.stage.collisions.addShardMotions(motions);
    else this.#out.stepped(motions);
  }

  /** The step with these motions is journaled, and its outcomes are released. Hot path. */
  released(motions: PackedMotions | undefined): void {
    const held = motions && this.#out.released(motions);
    if (held === undefined || this.#isClosed) return;
    // Another hub had the stage when the step was done.
    if (this.isLocal) for (const part of held) this.#options.stage.collisions.addShardMotions(part);
    else this.#out.send(held);
  }

  /** This hub and the watermark of the others that share the stage; undefined if none ever has. */
  others(): { readonly self: string; readonly untilMs: number } | undefined {
    return this.#isShared ? { self: this.#options.incarnation, untilMs: this.#in.untilMs() } : undefined;
  }

  /** Has all hubs report the positions of all trackables. Resolves when they have, or after a while. */
  async standing(): Promise<void> {
    const { stage, schedule } = this.#options;
    const own = stage.shards.standing();
    if (this.#owner !== this.#options.incarnation || !this.#in.isAny) return own;
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const cancel = schedule(STANDING_MS, resolve);
    await Promise.all([own, Promise.race([this.#in.standing(), late])]);
    cancel();
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelBeat?.();
    for (const listening of this.#listening) listening.end();
  }

  /** Whether this hub and others must exchange messages. */
  get #isNeeded(): boolean {
    const { incarnation } = this.#options;
    return this.#owner === incarnation
      ? this.#in.isAny
      : this.#owner !== undefined && (this.#owners.has(incarnation) || this.#out.hasSent);
  }

  #beatSoon(): void {
    this.#cancelBeat ??= this.#options.schedule(BEAT_MS, () => {
      this.#cancelBeat = undefined;
      if (this.#isClosed) return;
      this.#reportPublished();
      if (!this.#isNeeded) return;
      this.#beat();
      this.#beatSoon();
    });
  }

  #beat(): void {
    this.#beats++;
    if (this.#owner === this.#options.incarnation) {
      if (this.#options.stage.collisions.hasCapacity) this.#in.askDue();
      this.#options.stage.collisions.addShardMotions(undefined);
    } else if (this.#out.hasSent || this.#beats % IDLE_BEATS === 0) this.#out.beat();
  }

  /** hot */
  #take({ bytes }: Part, from: string, isLate: boolean): void {
    if (this.#owner !== this.#options.incarnation) return;
    const message = MOTIONS.read(bytes);
    const { stage } = this.#options;
    const isTooMuch = message.motions.length > 0 && !stage.collisions.hasCapacity;
    if (isTooMuch) this.#in.lost(from);
    const news = this.#in.take(from, isTooMuch ? { ...message, motions: [], stood: 0 } : message, isLate);
    if (news !== undefined) stage.collisions.addRemoteMotions(news);
  }

  #asked({ bytes }: Message): void {
    const { from, number } = STAND_REQUEST.read(bytes);
    if (from !== this.#owner || number <= this.#question) return;
    this.#question = number;
    if (!this.#isStanding) void this.#stand();
  }

  /** Reports the positions of all trackables, and once more if that is requested meanwhile. */
  async #stand(): Promise<void> {
    this.#isStanding = true;
    for (let answered = 0; answered !== this.#question && !this.isLocal && !this.#isClosed; ) {
      const [owner, number] = [this.#owner, this.#question];
      this.#out.sendRetained();
      await this.#options.stage.shards.standing();
      if (owner !== this.#owner || this.isLocal) continue;
      answered = number;
      this.#out.stood(number);
    }
    this.#isStanding = false;
  }
}
