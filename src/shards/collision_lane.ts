import type { StageProgress } from '../core/collision/progress.ts';
import { type CollisionRow, type HeldPair, idsOf } from '../core/collision/row.ts';
import { Lane } from '../lane/lane.ts';
import { type OpenThread, openThread, type Thread, type ThreadMemory } from '../lane/thread.ts';
import type { ClockStep } from '../model/clock_steps.ts';
import type { Variant } from '../model/topics.ts';
import type { Zone } from '../model/zone.ts';
import {
  type CollisionReply,
  type EvaluatedMotions,
  type PackedMotions,
  packForNow,
  type CollisionRestore,
  type SeveralHubs,
  unpackCollisionReply,
} from '../wire/messages.ts';
import { type RemoteMotionsUpdate, RemoteMotions } from './remote_motions.ts';
import { UnfinishedMotions } from './unfinished_motions.ts';

/** Size of waiting motions above which the hub rejects locations. */
const WAITING_MAX_BYTES = 64 << 20;
const COLLISION_WORKER = new URL('../../workers/collision.ts', import.meta.url);
/** Number of worker deaths over the same motions after which these are dropped. */
const DEATHS_MAX = 3;
/** Number of lost batches after which the next worker starts without the state of its predecessor. */
const LOSSES_MAX = 2;
/** Delay until the stage retries deadlines that wait for other hubs. */
const OTHERS_WAIT_MS = 20;

/** Functions and settings that the collision lane needs. */
export interface CollisionLaneOptions {
  /** Returns monotonic time. */
  now(): number;
  /** Returns the clock steps that convert monotonic time to wall-clock time. */
  clockSteps?(): readonly ClockStep[];
  /** Returns the earliest item that some shard has not finished; undefined if all are done. */
  firstUndone(): { readonly seq: number; readonly receivedMs: number } | undefined;
  /** Requests all shards to report the positions of their trackables. Resolves when they have. */
  standing(): Promise<void>;
  /** Whether the trackable exists and takes part in collisions. */
  takesPart(trackable: string): boolean;
  /** Processes the outcome of a batch. `settled` also waits for the promise. */
  outcome(reply: CollisionReply, evaluated: EvaluatedMotions): Promise<void> | undefined;
  /** See CollisionInput; default false. */
  readonly isShared?: boolean;
  /** Starts the thread; default openThread. */
  readonly openThread?: OpenThread | undefined;
  /** Reports that the worker has failed and is being restarted. */
  restarted(error: unknown): void;
  /**
   * Returns the id of this hub and the monotonic time that all other owners have passed; undefined for a single hub.
   */
  others?(): { readonly self: string; readonly untilMs: number } | undefined;
}

const NOTHING_FOUND: CollisionReply = {
  ...{ events: [], started: 0, colliding: 0, ended: 0, rows: [], held: [] },
  ...{ nextDeadlineMs: Number.POSITIVE_INFINITY, waiting: 0 },
};

/** Stage of another hub. */
export interface ContinuedStage {
  readonly progress: StageProgress;
  /** Id of this hub in the progress of that stage. */
  readonly self: string;
}

/** Commands of a batch besides the pending motions. */
type CollisionCommand =
  | { readonly kind: 'variants'; readonly variants: readonly Variant[] }
  | { readonly kind: 'zone'; readonly id: string; readonly zone: Zone | undefined }
  | { readonly kind: 'pairs' };

/**
 * Lane to the collision worker, which evaluates the motions of all shards. The worker starts with the first trackable, since it
 * takes 35 MB. Survives a failed worker.
 *
 * A new worker receives the positions of all trackables, the colliding pairs, and the unfinished motions of its
 * predecessor. So no event is lost or repeated, and all timers continue.
 */
export class CollisionLane {
  readonly lane: Lane<CollisionCommand, CollisionReply>;
  readonly #options: CollisionLaneOptions;
  readonly #thread: Thread;
  readonly #zones = new Map<string, Zone>();
  readonly #unfinished = new UnfinishedMotions();
  readonly #others = new RemoteMotions();
  /** Colliding pairs, by the ids of their rows. */
  readonly #pairs = new Map<string, CollisionRow>();
  /** Holds of the pairs that collide although they do not touch. */
  readonly #held = new Map<string, HeldPair>();
  /** Whether `#held` is complete. After a restart of the hub, the stage must first compute the holds. */
  #isHeldComplete = true;
  /** Time until which pairs from before a restart are held. */
  #heldMs = 0;
  /** See Restoration. */
  #publishedStep: number | undefined;
  /** Number of the last step of this stage, or of its predecessor. */
  #number = 0;
  #variants: readonly Variant[] = [];
  /** Whether there is anything to evaluate, or soon will be. */
  #isNeeded: boolean;
  /** Whether the worker has failed, so that its state is unknown, or was not needed yet. */
  #hasFailed = true;
  /** Number of consecutive lost batches. */
  #losses = 0;
  #closed = false;
  /** Whether motions wait until the colliding pairs are restored. */
  #isPaused = false;
  #isStopped = false;
  #waiting = 0;
  /** Watermark of the last batch, which contained all motions of earlier items. */
  #watermark = 0;

  constructor(options: CollisionLaneOptions) {
    this.#options = options;
    this.#thread = (options.openThread ?? openThread)(COLLISION_WORKER, { isNeeded: false });
    this.#isNeeded = options.others !== undefined;
    const driver = {
      run: (commands: readonly CollisionCommand[]) => this.#run(commands),
      outcome: (reply: CollisionReply) => this.#take(reply),
      failure: (error: unknown) => this.#fail(error),
    };
    this.lane = new Lane(driver, { pendingMax: Number.MAX_SAFE_INTEGER, batchMax: 256 });
  }

  /** Starts the worker, unless it has been started: a trackable exists. */
  need(): void {
    if (this.#isNeeded) return;
    this.#isNeeded = true;
    this.lane.wake();
  }

  /** Whether the stage keeps up with the shards. */
  get hasCapacity(): boolean {
    return this.waitingBytes < WAITING_MAX_BYTES;
  }

  /** Whether the stage waits for `restore`. */
  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Pauses a stage that another hub owned: motions wait for `restore`. */
  pause(): void {
    this.#isPaused = true;
  }

  /**
   * Stops evaluating, because the next owner of the stage continues. Resolves when all outcomes so far are published and
   * stored.
   */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.lane.settled();
  }

  /** Adds motions of another hub. */
  addRemoteMotions(update: RemoteMotionsUpdate): void {
    this.#others.add(update);
    if (update.motions.length > 0 || update.isStood || this.#waiting > 0) this.lane.wake();
  }

  /** Handles the departure of a hub, which sends no more motions. */
  remoteLeft(hub: string): void {
    this.#others.gone(hub);
    this.lane.wake();
  }

  /** Adds motions of a shard, and continues with motions that waited for that shard. */
  addShardMotions(motions: PackedMotions | undefined): void {
    if (motions !== undefined) {
      this.#isNeeded = true;
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
   * Restores the pairs that were colliding when the previous owner stopped. Call it after the shards have restored
   * positions. A pair that has separated is released after `delayMs`, or with the next motions of both trackables.
   * `from` is the stage of another hub that this one continues.
   */
  restore(rows: readonly CollisionRow[], delayMs: number, from?: ContinuedStage): void {
    if (rows.length === 0 && !this.#isPaused) return;
    this.#isNeeded = true;
    for (const row of rows) this.#pairs.set(row.id, row);
    this.#heldMs = this.#options.now() + delayMs;
    if (from !== undefined) this.#continue(from);
    this.#isHeldComplete = false;
    this.lane.push({ kind: 'pairs' });
  }

  #continue({ self, progress: { step, published, others } }: ContinuedStage): void {
    this.#number = Math.max(this.#number, step);
    this.#publishedStep = published;
    for (const [hub, item] of others) {
      if (hub === self) this.#unfinished.finish(item);
      else this.#others.finishedBefore(hub, item);
    }
  }

  /** Size of unfinished motions, in packed bytes. */
  get waitingBytes(): number {
    return this.#unfinished.bytes + this.#others.bytes;
  }

  /** Resolves when all motions of the shards are evaluated and their outcomes are processed. */
  async settled(): Promise<void> {
    await this.lane.settled();
    // A batch that started before the last shard was done leaves motions that waited for that shard.
    while (this.#waiting > 0 && this.#options.firstUndone() === undefined) {
      this.lane.wake();
      await this.lane.settled();
    }
  }

  memory(): Promise<ThreadMemory | undefined> {
    return this.#thread.memory();
  }

  /** Terminates the worker thread immediately, like a crash. The next batch starts a new one. */
  kill(): Promise<void> {
    return this.#thread.kill();
  }

  close(): Promise<void> {
    this.#closed = true;
    return this.#thread.close();
  }

  async #run(commands: readonly CollisionCommand[]): Promise<CollisionReply> {
    // Zones and variants are passed to the worker when it starts.
    if (this.#isStopped || !this.#isNeeded) return NOTHING_FOUND;
    try {
      if (this.#isPaused && commands.some(({ kind }) => kind === 'pairs')) {
        this.#isPaused = false;
        await this.#options.standing();
      }
      if (!this.#hasFailed) return await this.#step(commands);
    } catch (error) {
      this.#recordFailure(error);
    }
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#revive();
      } catch (error) {
        this.#recordFailure(error);
        // Retries only if the worker has died, which may have any cause. A worker that has thrown would throw again.
        if (this.#thread.isAlive || attempt === DEATHS_MAX) throw error;
      }
    }
  }

  /** Replaces the worker and runs the unfinished motions of the old one. */
  async #revive(): Promise<CollisionReply> {
    await this.#thread.restart();
    const known = [...this.#zones].map(([id, zone]): CollisionCommand => ({ kind: 'zone', id, zone }));
    const commands: CollisionCommand[] = [{ kind: 'variants', variants: this.#variants }, ...known];
    // State that makes every worker fail must not block the stage forever.
    if (this.#losses < LOSSES_MAX && !this.#isPaused) {
      await this.#options.standing();
      this.#unfinished.resend();
      this.#others.resend();
      commands.push({ kind: 'pairs' });
    }
    const reply = await this.#step(commands);
    this.#hasFailed = false;
    this.#losses = 0;
    return reply;
  }

  #recordFailure(error: unknown): void {
    if (this.#closed) throw error;
    this.#hasFailed = true;
    this.#options.restarted(error);
  }

  /** Handles a lost batch, with all its motions, or an outcome that the hub could not process. */
  #fail(error: unknown): void {
    if (this.#hasFailed) {
      this.#losses++;
      this.#unfinished.giveUp();
      this.#others.giveUp();
    }
    if (!this.#closed) this.#options.restarted(error);
  }

  async #step(commands: readonly CollisionCommand[]): Promise<CollisionReply> {
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
    const bytes = packForNow({
      nowMs: beforeMs,
      watermark,
      isShared: this.#options.isShared === true,
      step: ++this.#number,
      motions: this.#isPaused ? [] : this.#unfinished.send(),
      variants,
      clockSteps: this.#options.clockSteps?.(),
      restore: arePairsDue ? this.#restoration(nowMs) : undefined,
      zones,
      ...(others && { others }),
    });
    const isPaused = this.#isPaused;
    const reply = unpackCollisionReply(await this.#thread.run(bytes));
    if (!isPaused) this.#unfinished.finish(reply.finished?.own ?? watermark);
    if (reply.finished !== undefined) this.#others.finish(reply.finished);
    this.#isHeldComplete ||= arePairsDue;
    if (arePairsDue) this.#publishedStep = undefined;
    return reply;
  }

  /** Returns the input of several hubs for the next batch; undefined for a single hub. */
  #several(ownMs: number, nowMs: number): SeveralHubs | undefined {
    const others = this.#options.others?.();
    if (others === undefined) return undefined;
    const isAlone = others.untilMs === Number.POSITIVE_INFINITY;
    const untilMs = isAlone ? others.untilMs : Math.min(ownMs, others.untilMs);
    return { self: others.self, untilMs, clockMs: nowMs, ...this.#others.send() };
  }

  #restoration(nowMs: number): CollisionRestore {
    const rows = [...this.#pairs.values()];
    const ids = new Set(rows.flatMap(({ id }) => idsOf(id)));
    return {
      rows,
      held: this.#isHeldComplete ? [...this.#held.values()] : undefined,
      gone: [...ids].filter((id) => !this.#options.takesPart(id)),
      heldMs: this.#heldMs > nowMs ? this.#heldMs : 0,
      publishedStep: this.#publishedStep,
      fromSeq: this.#unfinished.finishedTo,
      done: this.#hasFailed ? this.#unfinished.done : [],
      others: this.#others.restoration(this.#hasFailed),
    };
  }

  #take(reply: CollisionReply): Promise<void> | undefined {
    this.#waiting = reply.waiting;
    // If the shard for which these motions waited is done in the meantime, nothing else wakes the lane.
    const watermark = this.#options.firstUndone()?.seq ?? Number.MAX_SAFE_INTEGER;
    if (reply.waiting > 0 && watermark > this.#watermark) this.lane.wake();
    for (const row of reply.rows) {
      // A new collision starts with the pair touching.
      this.#held.delete(row.id);
      if (row.gone === true || row.endMs !== undefined) this.#pairs.delete(row.id);
      else this.#pairs.set(row.id, row);
    }
    for (const pair of reply.held) {
      if (pair.hold.at === 'touching') this.#held.delete(pair.id);
      else this.#held.set(pair.id, pair);
    }
    const { nextDeadlineMs } = reply;
    // A due deadline that waits for other hubs is retried after a delay instead of with every batch.
    const soonMs = reply.finished === undefined ? 0 : this.#options.now() + OTHERS_WAIT_MS;
    const evaluated = { step: this.#number, others: reply.finished?.others ?? [] };
    return this.#options.outcome(nextDeadlineMs < soonMs ? { ...reply, nextDeadlineMs: soonMs } : reply, evaluated);
  }
}
