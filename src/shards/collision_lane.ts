import { type CollisionRow, type HeldPair, idsOf } from '../core/collision/row.ts';
import { Lane } from '../lane/lane.ts';
import { type OpenThread, openThread, type Thread, type ThreadMemory } from '../lane/thread.ts';
import type { ClockStep } from '../model/clock_steps.ts';
import type { Variant } from '../model/topics.ts';
import type { Zone } from '../model/zone.ts';
import {
  type CollisionReply,
  type Evaluated,
  type PackedMotions,
  packForNow,
  type Restore,
  type SeveralHubs,
  unpackCollisionReply,
} from '../wire/messages.ts';
import { type OtherNews, OthersUnfinished } from './other_motions.ts';
import { Unfinished } from './unfinished.ts';

/** Motions that may wait before the hub takes no more locations. */
const WAITING_MAX_BYTES = 64 << 20;
const COLLISION_WORKER = new URL('../../workers/collision.ts', import.meta.url);
/** When as many workers have died over the same motions, these are lost. */
const DEATHS_MAX = 3;
/** When that many batches were lost, the next worker is told nothing of what the others knew. */
const LOSSES_MAX = 2;
/** How soon the stage is woken again for deadlines that wait for other hubs. */
const OTHERS_WAIT_MS = 20;

/** What the collision lane needs of the hub. */
export interface CollisionLaneOptions {
  /** Running time: it never falls. */
  now(): number;
  /** By which that is shown as the time of day. */
  setBacks?(): readonly ClockStep[];
  /** The earliest item that some shard has not done yet; undefined when all are done. */
  firstUndone(): { readonly seq: number; readonly receivedMs: number } | undefined;
  /** Has the shards tell where all trackables stand, and resolves when they have. */
  standing(): Promise<void>;
  /** Whether there is such a trackable, and it takes part in collisions. */
  takesPart(trackable: string): boolean;
  /** Takes what a batch has brought. The promise is what `settled` waits for besides. */
  outcome(reply: CollisionReply, evaluated: Evaluated): Promise<void> | undefined;
  /** See CollisionInput; false when left out. */
  readonly areStandsExact?: boolean;
  /** Starts the thread; openThread when left out. */
  readonly openThread?: OpenThread | undefined;
  /** The worker has failed and is started anew. */
  restarted(error: unknown): void;
  /** Where several hubs own objects: this one, and the running time that the others have passed. Undefined where it is alone. */
  others?(): { readonly self: string; readonly untilMs: number } | undefined;
}

/** What a batch brings besides the motions that are there by then. */
type ShardCommand =
  | { readonly kind: 'variants'; readonly variants: readonly Variant[] }
  | { readonly kind: 'zone'; readonly id: string; readonly zone: Zone | undefined }
  | { readonly kind: 'pairs' };

/**
 * The lane to the collision worker, which sees the motions of all shards, and survives the death of the worker.
 *
 * A new worker is told where all trackables stand, which pairs collide, and the motions that the old one had not
 * finished: nobody hears of it, and all timers go on.
 */
export class CollisionLane {
  readonly lane: Lane<ShardCommand, CollisionReply>;
  readonly #options: CollisionLaneOptions;
  readonly #thread: Thread;
  readonly #zones = new Map<string, Zone>();
  readonly #unfinished = new Unfinished();
  readonly #others = new OthersUnfinished();
  /** The pairs that collide, by the ids of their rows. */
  readonly #pairs = new Map<string, CollisionRow>();
  /** What holds those of them that do not touch. */
  readonly #held = new Map<string, HeldPair>();
  /** Whether `#held` is known: after a restart of the hub the stage has to find out first. */
  #isHeldKnown = true;
  /** Until when pairs of a run before are held. */
  #heldMs = 0;
  /** See Restoration. */
  #publishedMs: number | undefined;
  /** Motions received before that time are evaluated by the running batch. */
  #beforeMs: number | undefined;
  #variants: readonly Variant[] = [];
  /** The worker has failed, and nobody knows what it knows. */
  #broken = false;
  /** Batches that were lost one after the other. */
  #losses = 0;
  #closed = false;
  /** Motions wait until the pairs are known that collide. */
  #isPaused = false;
  #waiting = 0;
  /** Motions of items below that number were handed out by the last batch. */
  #watermark = 0;

  constructor(options: CollisionLaneOptions) {
    this.#options = options;
    this.#thread = (options.openThread ?? openThread)(COLLISION_WORKER);
    const driver = {
      run: (commands: readonly ShardCommand[]) => this.#run(commands),
      outcome: (reply: CollisionReply) => this.#take(reply),
      failure: (error: unknown) => this.#fail(error),
    };
    this.lane = new Lane(driver, { pendingMax: Number.MAX_SAFE_INTEGER, batchMax: 256 });
  }

  /** Whether the stage keeps up with the shards. */
  get hasCapacity(): boolean {
    return this.waitingBytes < WAITING_MAX_BYTES;
  }

  /** Whether it waits for `restore`, which asks where all trackables stand. */
  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Another hub has had the stage: what moves waits for `restore`. */
  pause(): void {
    this.#isPaused = true;
  }

  /** Takes what another hub has moved. */
  otherDone(news: OtherNews): void {
    this.#others.add(news);
    if (news.motions.length > 0 || news.isStood || this.#waiting > 0) this.lane.wake();
  }

  /** Nothing more comes of another hub. */
  otherGone(hub: string): void {
    this.#others.gone(hub);
    this.lane.wake();
  }

  /** Takes what a shard has moved, and goes on with what has waited for that shard. */
  shardDone(motions: PackedMotions | undefined): void {
    if (motions !== undefined) {
      this.#unfinished.add(motions);
      this.lane.wake();
    } else if (this.#waiting > 0) this.lane.wake();
  }

  variants(variants: readonly Variant[]): void {
    this.#variants = variants;
    this.lane.push({ kind: 'variants', variants });
  }

  zone(id: string, zone: Zone | undefined): void {
    if (zone === undefined) this.#zones.delete(id);
    else this.#zones.set(id, zone);
    this.lane.push({ kind: 'zone', id, zone });
  }

  /**
   * Takes over the pairs that collided when a hub before this one ended, once the shards know where everybody was. One
   * that has parted is released `delayMs` from now, or with the next motions of both. `publishedMs`: see Restoration.
   */
  restore(rows: readonly CollisionRow[], delayMs: number, publishedMs?: number): void {
    if (rows.length === 0 && !this.#isPaused) return;
    const nowMs = this.#options.now();
    for (const row of rows) {
      // A clock that was ahead may have put its start into the future.
      this.#pairs.set(row.id, row.gone === true ? row : { ...row, startMs: Math.min(row.startMs, nowMs) });
    }
    this.#heldMs = nowMs + delayMs;
    this.#publishedMs = publishedMs;
    this.#isHeldKnown = false;
    this.lane.push({ kind: 'pairs' });
  }

  /** Motions that are not finished, in bytes as they are packed. */
  get waitingBytes(): number {
    return this.#unfinished.bytes + this.#others.bytes;
  }

  /** Resolves when all that the shards have handed on is done, and what came of it. */
  async settled(): Promise<void> {
    await this.lane.settled();
    // A batch that began before the last shard was done leaves what has waited for that to another one.
    while (this.#waiting > 0 && this.#options.firstUndone() === undefined) {
      this.lane.wake();
      await this.lane.settled();
    }
  }

  memory(): Promise<ThreadMemory | undefined> {
    return this.#thread.memory();
  }

  /** Ends the worker thread at once, as a crash would; the next batch starts a new one. */
  kill(): Promise<void> {
    return this.#thread.kill();
  }

  close(): Promise<void> {
    this.#closed = true;
    return this.#thread.close();
  }

  async #run(commands: readonly ShardCommand[]): Promise<CollisionReply> {
    try {
      if (this.#isPaused && commands.some(({ kind }) => kind === 'pairs')) {
        this.#isPaused = false;
        await this.#options.standing();
      }
      if (!this.#broken) return await this.#step(commands);
    } catch (error) {
      this.#noteFailure(error);
    }
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#revive();
      } catch (error) {
        this.#noteFailure(error);
        // A worker that has died may have had any reason; one that has thrown will do so again.
        if (this.#thread.isAlive || attempt === DEATHS_MAX) throw error;
      }
    }
  }

  /** Replaces the worker, and runs what the old one has not finished. */
  async #revive(): Promise<CollisionReply> {
    await this.#thread.restart();
    const known = [...this.#zones].map(([id, zone]): ShardCommand => ({ kind: 'zone', id, zone }));
    const commands: ShardCommand[] = [{ kind: 'variants', variants: this.#variants }, ...known];
    // What makes every worker fail must not keep the stage from working for ever.
    if (this.#losses < LOSSES_MAX && !this.#isPaused) {
      await this.#options.standing();
      this.#unfinished.sendAgain();
      this.#others.sendAgain();
      commands.push({ kind: 'pairs' });
    }
    const reply = await this.#step(commands);
    this.#broken = false;
    this.#losses = 0;
    return reply;
  }

  #noteFailure(error: unknown): void {
    if (this.#closed) throw error;
    this.#broken = true;
    this.#options.restarted(error);
  }

  /** A batch is lost, with all motions in it, or the hub could not take its outcome. */
  #fail(error: unknown): void {
    if (this.#broken) {
      this.#losses++;
      this.#unfinished.giveUp();
      this.#others.giveUp();
    }
    if (!this.#closed) this.#options.restarted(error);
  }

  async #step(commands: readonly ShardCommand[]): Promise<CollisionReply> {
    const first = this.#options.firstUndone();
    const nowMs = this.#options.now();
    const watermark = first?.seq ?? Number.MAX_SAFE_INTEGER;
    const ownMs = first === undefined ? nowMs : Math.min(nowMs, first.receivedMs);
    const others = this.#isPaused ? undefined : this.#several(ownMs, nowMs);
    this.#watermark = watermark;
    const zones: (readonly [string, Zone | undefined])[] = [];
    let variants: readonly Variant[] | undefined;
    let arePairsDue = false;
    for (const command of commands) {
      if (command.kind === 'zone') zones.push([command.id, command.zone]);
      else if (command.kind === 'variants') variants = command.variants;
      else arePairsDue ||= command.kind === 'pairs';
    }
    const beforeMs = Math.min(ownMs, others?.untilMs ?? ownMs);
    this.#beforeMs = this.#isPaused ? undefined : beforeMs;
    const bytes = packForNow({
      nowMs: beforeMs,
      watermark,
      areStandsExact: this.#options.areStandsExact === true,
      motions: this.#isPaused ? [] : this.#unfinished.send(),
      variants,
      setBacks: this.#options.setBacks?.(),
      restore: arePairsDue ? this.#restoration(nowMs) : undefined,
      zones,
      ...(others && { others }),
    });
    const isPaused = this.#isPaused;
    const reply = unpackCollisionReply(await this.#thread.run(bytes));
    if (!isPaused) this.#unfinished.finish(reply.finished?.own ?? watermark);
    if (reply.finished !== undefined) this.#others.finish(reply.finished);
    this.#isHeldKnown ||= arePairsDue;
    if (arePairsDue) this.#publishedMs = undefined;
    return reply;
  }

  /** What of several hubs makes up the next batch; undefined where this one is alone. */
  #several(ownMs: number, nowMs: number): SeveralHubs | undefined {
    const others = this.#options.others?.();
    if (others === undefined) return undefined;
    const isAlone = others.untilMs === Number.POSITIVE_INFINITY;
    const untilMs = isAlone ? others.untilMs : Math.min(ownMs, others.untilMs);
    return { self: others.self, untilMs, clockMs: nowMs, ...this.#others.send() };
  }

  #restoration(nowMs: number): Restore {
    const rows = [...this.#pairs.values()];
    const ids = new Set(rows.flatMap(({ id }) => idsOf(id)));
    return {
      rows,
      held: this.#isHeldKnown ? [...this.#held.values()] : undefined,
      gone: [...ids].filter((id) => !this.#options.takesPart(id)),
      heldMs: this.#heldMs > nowMs ? this.#heldMs : 0,
      publishedMs: this.#publishedMs,
      fromSeq: this.#unfinished.finishedTo,
      done: this.#broken ? this.#unfinished.done : [],
      others: this.#others.restoration(this.#broken),
    };
  }

  #take(reply: CollisionReply): Promise<void> | undefined {
    this.#waiting = reply.waiting;
    // The shard that these have waited for may be done since: it has found nobody who waited.
    const watermark = this.#options.firstUndone()?.seq ?? Number.MAX_SAFE_INTEGER;
    if (reply.waiting > 0 && watermark > this.#watermark) this.lane.wake();
    for (const row of reply.rows) {
      // A pair that has met again touches.
      this.#held.delete(row.id);
      if (row.gone === true) this.#pairs.delete(row.id);
      else this.#pairs.set(row.id, row);
    }
    for (const pair of reply.held) {
      if (pair.hold.at === 'touching') this.#held.delete(pair.id);
      else this.#held.set(pair.id, pair);
    }
    const { nextDeadlineMs } = reply;
    // What is due waits for other hubs: no batch after the other is to find that it still does.
    const soonMs = reply.finished === undefined ? 0 : this.#options.now() + OTHERS_WAIT_MS;
    const evaluated = { beforeMs: this.#beforeMs, others: reply.finished?.others ?? [] };
    return this.#options.outcome(nextDeadlineMs < soonMs ? { ...reply, nextDeadlineMs: soonMs } : reply, evaluated);
  }
}
