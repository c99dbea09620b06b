import { NO_PROGRESS, progressRow, type StageProgress, type StoredStage } from '../core/collision/progress.ts';
import { type CollisionRow, goneRow } from '../core/collision/row.ts';
import type { StoredRow } from '../core/item.ts';
import type { PackedPositions } from '../core/history_rows.ts';
import type { ZoneMove } from '../core/zone/following.ts';
import { CommitGate } from '../fanout/commit_gate.ts';
import type { WriteEvents } from '../core/entity_write.ts';
import type { EventBatch } from '../model/event_batch.ts';
import type { HubCounts } from '../operation/counts.ts';
import type { CollisionReply, EvaluatedMotions, PackedMotions, ShardReply } from '../wire/messages.ts';

/** Receivers of outcomes. */
export interface Sinks {
  readonly shards: number;
  readonly counts: HubCounts;
  publish(events: readonly EventBatch[]): void;
  /** Whether events of a variant report memberships, which must be stored before the events are published. */
  tellsOfMemberships(variant: number): boolean;
  /**
   * Stores rows. Resolves when they are stored; rejects if the database does not accept them now. Undefined if the
   * caller need not wait. With `mayWait`, the rows may wait to share a commit.
   */
  keep(
    rows: Iterable<StoredRow>,
    options?: { readonly mayWait?: boolean; readonly events?: WriteEvents | undefined },
  ): Promise<void> | undefined;
  /** The same for colliding pairs. */
  keepPairs(
    rows: Iterable<StoredRow>,
    options?: { readonly events?: WriteEvents | undefined },
  ): Promise<void> | undefined;
  /**
   * Returns the events that the event log stores with the rows; undefined if it takes them itself. Absent without an event
   * log.
   */
  logged?: ((events: readonly EventBatch[]) => WriteEvents | undefined) | undefined;
  /** Whether events of a variant have receivers besides the event log. Absent without an event log. */
  isReceived?: ((variant: number) => boolean) | undefined;
  /** Called when the collision events of evaluated motions have been published. Set only in a cluster. */
  collisionsPublished?(evaluated: EvaluatedMotions, hasEvents: boolean): void;
  /**
   * Takes collision events for the event log of a cluster. Call the result with the step once it is stored: it resolves when
   * they are logged.
   */
  logCollisions?(events: readonly EventBatch[]): ((step: number) => Promise<void>) | undefined;
  /** Called when the collision events up to a step are stored as published. */
  collisionsStored?(step: number): void;
  /** Resolves when all outcomes of the shards so far have been emitted; undefined if they already are. */
  released?(): Promise<void> | undefined;
  /** Passes packed motions of a shard to the collision stage. */
  motions(motions: PackedMotions | undefined): void;
  /** Called when the step with these motions has been emitted. */
  movedOut?(motions: PackedMotions | undefined): void;
  /** Moves zones that follow moved objects. */
  moveZones(moves: readonly ZoneMove[]): void;
  /** Requests that a shard or the collision stage is woken at `atMs` at the latest. */
  wakeAt(who: number | 'collisions', atMs: number): void;
}

/** Stores and publishes the outcomes of the shards and the collision stage. For rows see shards/flush_scheduler.ts. */
export class OutcomeDispatcher {
  readonly #sinks: Sinks;
  readonly #gates: readonly CommitGate[];
  readonly #collisions: CommitGate;
  /** Progress of a cluster's stage, as passed to the store. */
  #progress: StageProgress = NO_PROGRESS;
  /** See StoredStage. */
  #undone: CollisionRow[] = [];
  /** Resolves when the rows of all earlier steps of the stage have been passed to the store. */
  #passed: Promise<unknown> = Promise.resolve();
  #record: ((shard: number, places: PackedPositions) => void) | undefined;

  constructor(sinks: Sinks) {
    this.#sinks = sinks;
    const newGate = (dropsFailed = false) => new CommitGate((events) => sinks.publish(events), { dropsFailed });
    this.#gates = Array.from({ length: sinks.shards }, () => newGate());
    this.#collisions = newGate(sinks.collisionsPublished !== undefined);
  }

  /** Sets the receiver of positions for the history. */
  recordTo(record: (shard: number, places: PackedPositions) => void): void {
    this.#record = record;
  }

  /** Number of events waiting for the database. */
  get held(): number {
    return this.#gates.reduce((sum, { held }) => sum + held, this.#collisions.held);
  }

  /** Counts a step, and passes on the parts of its outcome that must not wait for the commit. */
  stepped(shard: number, { outcome, motions }: ShardReply): void {
    const { counts } = this.#sinks;
    for (const name of ['processed', 'outdated', 'rejected', 'outliers', 'entries', 'exits', 'motions'] as const) {
      counts[name] += outcome.counts[name];
    }
    this.#sinks.wakeAt(shard, outcome.nextDeadlineMs);
    this.#sinks.motions(motions);
  }

  /**
   * Stores rows and publishes events. Events of memberships are published after their rows are stored; if the database
   * fails, immediately, since a subscriber must not miss an event. Returns the pending writes.
   */
  ofShard(shard: number, { outcome, events, motions }: ShardReply): Promise<void> | undefined {
    this.#sinks.movedOut?.(motions);
    if (outcome.zoneMoves.length > 0) this.#sinks.moveZones(outcome.zoneMoves);
    if (outcome.positions !== undefined) this.#record?.(shard, outcome.positions);
    const { rows, backgroundRows } = outcome;
    const logged = events.length === 0 ? undefined : this.#sinks.logged?.(events);
    const stored = rows.count === 0 && logged === undefined ? undefined : this.#sinks.keep(rows, { events: logged });
    this.#publish(this.#received(events), this.#gates[shard] as CommitGate, stored);
    if (backgroundRows.count === 0) return stored;
    return both(stored, this.#sinks.keep(backgroundRows, { mayWait: true }));
  }

  /** Returns the events to be published: events that only the event log needs would be copied to wait for their commit. */
  #received(events: readonly EventBatch[]): readonly EventBatch[] {
    const { isReceived } = this.#sinks;
    return isReceived === undefined ? events : events.filter(({ variant }) => isReceived(variant));
  }

  /** hot: most batches report no membership, and usually no events wait. */
  #publish(events: readonly EventBatch[], gate: CommitGate, stored: Promise<void> | undefined): void {
    if (stored === undefined && gate.held === 0) {
      this.#sinks.publish(events);
      return;
    }
    this.#sinks.publish(events.filter(({ variant }) => !this.#sinks.tellsOfMemberships(variant)));
    const waiting = events.filter(({ variant }) => this.#sinks.tellsOfMemberships(variant));
    if (waiting.length > 0) gate.publish(waiting, stored);
  }

  /** Like ofShard, for the collision stage. The promise never rejects, since no caller waits for a stored collision. */
  ofCollisions(reply: CollisionReply, evaluated: EvaluatedMotions): Promise<void> | undefined {
    const { started, colliding, ended, nextDeadlineMs, rows, events } = reply;
    this.#sinks.counts.collisionsStarted += started;
    this.#sinks.counts.collisionsColliding += colliding;
    this.#sinks.counts.collisionsEnded += ended;
    this.#sinks.wakeAt('collisions', nextDeadlineMs);
    if (this.#sinks.collisionsPublished !== undefined) {
      return this.#ofSharedCollisions(reply, evaluated)?.catch(() => undefined);
    }
    // Most batches find no collision and need not wait. Otherwise many would accumulate while nothing can be stored.
    if (rows.length === 0 && events.length === 0) return undefined;
    // Motions reach the stage before the steps of their shards are committed, so its results are held until then.
    const logged = this.#sinks.logged?.(events);
    const committed =
      rows.length === 0 && logged === undefined ? undefined : this.#sinks.keepPairs(rows, { events: logged });
    const stored = both(this.#sinks.released?.(), committed);
    const received = this.#received(events);
    if (received.length > 0) this.#collisions.publish(received, stored);
    return stored?.catch(() => undefined);
  }

  /**
   * Like ofCollisions, for a stage that another hub may take over. The starts and ends of a step are published when
   * their rows and the progress of the stage are stored, so that the next owner publishes the same events and continues
   * with the motions after them. Then the rows of ended pairs are deleted.
   */
  #ofSharedCollisions({ rows, events }: CollisionReply, evaluated: EvaluatedMotions): Promise<void> | undefined {
    const hasEvents = rows.length > 0 || events.length > 0;
    const log = events.length === 0 ? undefined : this.#sinks.logCollisions?.(events);
    let logged: Promise<void> | undefined;
    const report = (): void => {
      logged = log?.(evaluated.step);
      logged?.catch(() => undefined);
      this.#sinks.collisionsPublished?.(evaluated, hasEvents);
    };
    if (rows.length === 0) {
      const released = events.length === 0 ? undefined : this.#sinks.released?.();
      this.#collisions.publish(events, released, report);
      return released;
    }
    const ready = Promise.all([this.#passed, this.#sinks.released?.()]);
    this.#passed = ready;
    const stored = ready.then(() => {
      this.#progress = { ...this.#progress, ...evaluated };
      return this.#sinks.keepPairs([...this.#undone.splice(0), ...rows, progressRow(this.#progress)]);
    });
    const ended = rows.flatMap((row) => (row.gone !== true && row.endMs !== undefined ? [goneRow(row.id)] : []));
    const { promise: published, resolve } = Promise.withResolvers<void>();
    this.#collisions.publish(events, stored, () => {
      report();
      resolve();
    });
    return Promise.all([stored, published.then(() => logged)]).then(async () => {
      this.#progress = { ...this.#progress, published: evaluated.step };
      await this.#sinks.keepPairs([...ended, progressRow(this.#progress)]);
      this.#sinks.collisionsStored?.(evaluated.step);
    });
  }

  /** Continues the collision stage of another hub. */
  continueStage({ progress, undone }: StoredStage): void {
    this.#progress = progress;
    this.#undone = [...undone];
  }

  /** Delays collision events until a promise settles, since subscribers may still be reconnecting to this hub. */
  holdCollisions(until: Promise<void>): void {
    this.#collisions.publish([], until);
  }
}

function both(one: Promise<void> | undefined, other: Promise<void> | undefined): Promise<void> | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Promise.all([one, other]).then(() => undefined);
}
