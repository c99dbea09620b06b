import type { CollisionReply, ShardReply } from '../workers/protocol.ts';
import type { LastKnownRow } from './core/item.ts';
import type { ZoneMove } from './core/zone/take_along.ts';
import type { HubCounts } from './counts.ts';
import { InTurn } from './fanout/in_turn.ts';
import type { EventBlock } from './model/event_block.ts';

/** Where outcomes go. */
export interface Destinations {
  readonly shards: number;
  readonly counts: HubCounts;
  publish(events: readonly EventBlock[]): void;
  /** Resolves once the rows are kept; rejects when the database does not take them now. */
  keep(rows: readonly LastKnownRow[]): Promise<void>;
  /** Hands packed motions of a shard to the collision stage. */
  motions(packed: Uint8Array | undefined): void;
  /** Moves zones after the objects that they follow. */
  moveZones(moves: readonly ZoneMove[]): void;
  /** A shard, or the collision stage, is to be woken at that time at the latest. */
  wakeAt(who: number | 'collisions', atMs: number): void;
}

/** Carries out what the shards and the collision stage have decided. */
export class Outcomes {
  readonly #to: Destinations;
  readonly #inTurn: readonly InTurn[];

  constructor(to: Destinations) {
    this.#to = to;
    this.#inTurn = Array.from({ length: to.shards }, () => new InTurn((events) => to.publish(events)));
  }

  /** Events that wait for the database. */
  get held(): number {
    return this.#inTurn.reduce((sum, { held }) => sum + held, 0);
  }

  /**
   * Stores rows and publishes events: after the rows that they wait for are kept, or at once where the database fails,
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
    const { rows, laterRows } = outcome;
    const stored = rows.length === 0 ? undefined : this.#to.keep(rows);
    this.#inTurn[shard]?.publish(events, stored);
    // What is written later includes what was handed out before.
    return laterRows.length === 0 ? stored : this.#to.keep(laterRows);
  }

  ofCollisions(reply: CollisionReply): void {
    this.#to.counts.collisionsStarted += reply.started;
    this.#to.counts.collisionsColliding += reply.colliding;
    this.#to.counts.collisionsEnded += reply.ended;
    this.#to.wakeAt('collisions', reply.nextDeadlineMs);
    this.#to.publish(reply.events);
  }
}
