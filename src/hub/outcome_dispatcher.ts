import type { CollisionRow } from '../core/collision/row.ts';
import type { StoredRow } from '../core/item.ts';
import type { PackedPositions } from '../core/history_rows.ts';
import type { ZoneMove } from '../core/zone/following.ts';
import { CommitGate } from '../fanout/commit_gate.ts';
import type { EventBatch } from '../model/event_batch.ts';
import type { HubCounts } from '../operation/counts.ts';
import type { CollisionReply, Evaluated, PackedMotions, ShardReply } from '../wire/messages.ts';

/** Where outcomes go. */
export interface Sinks {
  readonly shards: number;
  readonly counts: HubCounts;
  publish(events: readonly EventBatch[]): void;
  /** Whether events of a variant tell of memberships, and are not to be published before these are kept. */
  tellsOfMemberships(variant: number): boolean;
  /**
   * Resolves once the rows are kept; rejects when the database does not take them now. Undefined where nobody need wait for
   * that. `mayWait`: to share a commit.
   */
  keep(rows: Iterable<StoredRow>, options?: { readonly mayWait: boolean }): Promise<void> | undefined;
  /** The same of pairs that collide. */
  keepPairs(rows: Iterable<StoredRow>): Promise<void> | undefined;
  /** Called when the events of the motions that the collision stage has evaluated are published. Only in a cluster. */
  collisionsPublished?(evaluated: Evaluated, hasEvents: boolean): void;
  /** Resolves when what the shards have decided so far was let out; undefined where it was. */
  released?(): Promise<void> | undefined;
  /** Hands packed motions of a shard to the collision stage. */
  motions(motions: PackedMotions | undefined): void;
  /** The step with these motions is let out. */
  movedOut?(motions: PackedMotions | undefined): void;
  /** Moves zones after the objects that they follow. */
  moveZones(moves: readonly ZoneMove[]): void;
  /** A shard, or the collision stage, is to be woken at that time at the latest. */
  wakeAt(who: number | 'collisions', atMs: number): void;
}

/** Carries out what the shards and the collision stage have decided. Of rows see shards/flush_scheduler.ts. */
export class OutcomeDispatcher {
  readonly #sinks: Sinks;
  readonly #gates: readonly CommitGate[];
  readonly #collisions: CommitGate;
  /** Rows of pairs that have parted, by id, while the ends of their collisions are not published. */
  readonly #parted = new Map<string, CollisionRow>();
  #record: ((shard: number, places: PackedPositions) => void) | undefined;

  constructor(sinks: Sinks) {
    this.#sinks = sinks;
    const newGate = () => new CommitGate((events) => sinks.publish(events));
    this.#gates = Array.from({ length: sinks.shards }, newGate);
    this.#collisions = newGate();
  }

  /** Hands on where objects have been from now on, for the history. */
  recordTo(record: (shard: number, places: PackedPositions) => void): void {
    this.#record = record;
  }

  /** Events that wait for the database. */
  get held(): number {
    return this.#gates.reduce((sum, { held }) => sum + held, this.#collisions.held);
  }

  /** Counts, and hands on what is needed by those who do not tell of it before it is let out. */
  stepped(shard: number, { outcome, motions }: ShardReply): void {
    const { counts } = this.#sinks;
    for (const name of ['processed', 'outdated', 'rejected', 'entries', 'exits', 'motions'] as const) {
      counts[name] += outcome.counts[name];
    }
    this.#sinks.wakeAt(shard, outcome.nextDeadlineMs);
    this.#sinks.motions(motions);
  }

  /**
   * Stores rows and publishes events: those of memberships after these are kept, or at once where the database fails,
   * since a subscriber must not miss what has happened. Returns what is being stored.
   */
  ofShard(shard: number, { outcome, events, motions }: ShardReply): Promise<void> | undefined {
    this.#sinks.movedOut?.(motions);
    if (outcome.zoneMoves.length > 0) this.#sinks.moveZones(outcome.zoneMoves);
    if (outcome.positions !== undefined) this.#record?.(shard, outcome.positions);
    const { rows, backgroundRows } = outcome;
    const stored = rows.count === 0 ? undefined : this.#sinks.keep(rows);
    this.#publish(events, this.#gates[shard] as CommitGate, stored);
    if (backgroundRows.count === 0) return stored;
    return both(stored, this.#sinks.keep(backgroundRows, { mayWait: true }));
  }

  /** hot: most batches tell of no membership, and most of them find none that waits. */
  #publish(events: readonly EventBatch[], gate: CommitGate, stored: Promise<void> | undefined): void {
    if (stored === undefined && gate.held === 0) {
      this.#sinks.publish(events);
      return;
    }
    this.#sinks.publish(events.filter(({ variant }) => !this.#sinks.tellsOfMemberships(variant)));
    const waiting = events.filter(({ variant }) => this.#sinks.tellsOfMemberships(variant));
    if (waiting.length > 0) gate.publish(waiting, stored);
  }

  /** The same for the collision stage. Its promise never rejects: nobody asks whether a collision is kept. */
  ofCollisions(reply: CollisionReply, evaluated: Evaluated): Promise<void> | undefined {
    const { started, colliding, ended, nextDeadlineMs, rows, events } = reply;
    this.#sinks.counts.collisionsStarted += started;
    this.#sinks.counts.collisionsColliding += colliding;
    this.#sinks.counts.collisionsEnded += ended;
    this.#sinks.wakeAt('collisions', nextDeadlineMs);
    if (this.#sinks.collisionsPublished !== undefined) return this.#ofSharedCollisions(reply, evaluated);
    // Most batches find nothing, and then nobody waits for them: many come in the time for which nothing can be kept.
    if (rows.length === 0 && events.length === 0) return undefined;
    // Motions come to the stage before their shards' steps are kept; what it makes of them is not told before.
    const stored = both(this.#sinks.released?.(), rows.length === 0 ? undefined : this.#sinks.keepPairs(rows));
    if (events.length > 0) this.#collisions.publish(events, stored);
    return stored?.catch(() => undefined);
  }

  /**
   * The same where another hub may take the stage over. A start is published after its row is stored, and a row is erased
   * after its end is published. So the next owner finds the row of every collision of which one may be missing, and publishes
   * it again.
   */
  #ofSharedCollisions({ rows, events }: CollisionReply, evaluated: Evaluated): Promise<void> | undefined {
    const hasEvents = rows.length > 0 || events.length > 0;
    const published = (): void => this.#sinks.collisionsPublished?.(evaluated, hasEvents);
    if (!hasEvents) {
      this.#collisions.publish([], undefined, published);
      return undefined;
    }
    const met: CollisionRow[] = [];
    for (const row of rows) {
      if (row.gone === true) this.#parted.set(row.id, row);
      else {
        // It takes the place of the row before.
        this.#parted.delete(row.id);
        met.push(row);
      }
    }
    const stored = both(this.#sinks.released?.(), met.length === 0 ? undefined : this.#sinks.keepPairs(met));
    const parted = rows.filter((row) => this.#parted.get(row.id) === row);
    this.#collisions.publish(events, stored, () => {
      const erased = this.#eraseParted(parted);
      if (erased === undefined) published();
      else void erased.then(published, () => undefined);
    });
    return stored?.catch(() => undefined);
  }

  /** Erases the rows of pairs that have not met again meanwhile. */
  #eraseParted(rows: readonly CollisionRow[]): Promise<void> | undefined {
    const due = rows.filter((row) => this.#parted.get(row.id) === row);
    for (const { id } of due) this.#parted.delete(id);
    return due.length === 0 ? undefined : this.#sinks.keepPairs(due);
  }

  /** Publishes no collision event before a promise is settled: subscribers may still be on their way to this hub. */
  holdCollisions(until: Promise<void>): void {
    this.#collisions.publish([], until);
  }
}

function both(one: Promise<void> | undefined, other: Promise<void> | undefined): Promise<void> | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Promise.all([one, other]).then(() => undefined);
}
