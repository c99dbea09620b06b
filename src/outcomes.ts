import type { CollisionReply, PackedMotions, ShardReply } from '../workers/protocol.ts';
import type { KeptRow } from './core/item.ts';
import type { ZoneMove } from './core/zone/following.ts';
import type { HubCounts } from './counts.ts';
import { InTurn } from './fanout/in_turn.ts';
import type { EventBatch } from './model/event_batch.ts';

/** Where outcomes go. */
export interface Destinations {
  readonly shards: number;
  readonly counts: HubCounts;
  publish(events: readonly EventBatch[]): void;
  /** Whether events of a variant tell of memberships, and are not to be published before these are kept. */
  tellsOfMemberships(variant: number): boolean;
  /** Resolves once the rows are kept; rejects when the database does not take them now. */
  keep(rows: readonly KeptRow[]): Promise<void>;
  /** Hands packed motions of a shard to the collision stage. */
  motions(motions: PackedMotions | undefined): void;
  /** Moves zones after the objects that they follow. */
  moveZones(moves: readonly ZoneMove[]): void;
  /** A shard, or the collision stage, is to be woken at that time at the latest. */
  wakeAt(who: number | 'collisions', atMs: number): void;
}

/** Carries out what the shards and the collision stage have decided. */
export class Outcomes {
  readonly #to: Destinations;
  readonly #inTurn: readonly InTurn[];
  readonly #collisions: InTurn;

  constructor(to: Destinations) {
    this.#to = to;
    const inTurn = () => new InTurn((events) => to.publish(events));
    this.#inTurn = Array.from({ length: to.shards }, inTurn);
    this.#collisions = inTurn();
  }

  /** Events that wait for the database. */
  get held(): number {
    return this.#inTurn.reduce((sum, { held }) => sum + held, this.#collisions.held);
  }

  /**
   * Stores rows and publishes events: those of memberships after these are kept, or at once where the database fails,
   * since a subscriber must not miss what has happened. Returns what is being stored.
   */
  ofShard(shard: number, { outcome, events, motions }: ShardReply): Promise<void> | undefined {
    const { counts } = this.#to;
    for (const name of ['processed', 'outdated', 'rejected', 'entries', 'exits', 'motions'] as const) {
      counts[name] += outcome.counts[name];
    }
    this.#to.wakeAt(shard, outcome.nextDeadlineMs);
    this.#to.motions(motions);
    if (outcome.zoneMoves.length > 0) this.#to.moveZones(outcome.zoneMoves);
    const { rows, backgroundRows } = outcome;
    const stored = rows.length === 0 ? undefined : this.#to.keep(rows);
    this.#publish(events, this.#inTurn[shard] as InTurn, stored);
    if (backgroundRows.length === 0) return stored;
    const later = this.#to.keep(backgroundRows);
    return stored === undefined ? later : Promise.all([stored, later]).then(() => undefined);
  }

  /** hot: most batches tell of no membership, and most of them find none that waits. */
  #publish(events: readonly EventBatch[], inTurn: InTurn, stored: Promise<void> | undefined): void {
    if (stored === undefined && inTurn.held === 0) {
      this.#to.publish(events);
      return;
    }
    this.#to.publish(events.filter(({ variant }) => !this.#to.tellsOfMemberships(variant)));
    const waiting = events.filter(({ variant }) => this.#to.tellsOfMemberships(variant));
    if (waiting.length > 0) inTurn.publish(waiting, stored);
  }

  /** The same for the collision stage. Its promise never rejects: nobody asks whether a collision is kept. */
  ofCollisions({ started, colliding, ended, nextDeadlineMs, rows, events }: CollisionReply): Promise<void> | undefined {
    this.#to.counts.collisionsStarted += started;
    this.#to.counts.collisionsColliding += colliding;
    this.#to.counts.collisionsEnded += ended;
    this.#to.wakeAt('collisions', nextDeadlineMs);
    const stored = rows.length === 0 ? undefined : this.#to.keep(rows);
    if (events.length > 0) this.#collisions.publish(events, stored);
    return stored?.catch(() => undefined);
  }
}
