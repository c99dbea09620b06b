import { copied, lend } from '../model/borrowed.ts';
import type { ShardReply } from '../wire/messages.ts';
import { copiedRows } from '../wire/store_messages.ts';

export interface OutcomeGateOptions {
  /**
   * Keeps what a step has changed, so that it outlives this hub; undefined where nobody need wait for that. Rejects where
   * it never will be kept.
   */
  keep(reply: ShardReply): Promise<void> | undefined;
  /** Lets out what the step has decided. */
  release(reply: ShardReply): Promise<void> | undefined;
  /** Hears of a step that is never let out, and why. */
  withheld(reply: ShardReply, error: unknown): void;
}

/** Steps that may wait, with all that they have decided, before no further one is made. */
const WAITING_MAX = 16;

/**
 * Lets what the steps of a shard have decided out in their order, each when what it has changed is kept: nobody hears of
 * anything that a hub which takes over would not know. After a step that cannot be kept nothing is let out any more.
 */
export class OutcomeGate {
  readonly #options: OutcomeGateOptions;
  /** Of the step before; undefined where none waits. */
  #last: Promise<void> | undefined;
  #waiting = 0;

  constructor(options: OutcomeGateOptions) {
    this.#options = options;
  }

  /** Whether the next step is to wait for those so far: it is small, and may grow meanwhile, or they are too many. */
  isDue(isSmall: boolean): boolean {
    return isSmall || this.#waiting >= WAITING_MAX;
  }

  /** Resolves when all steps so far are let out; undefined where they are. */
  get released(): Promise<void> | undefined {
    return this.#last;
  }

  /** Takes the reply to a step. Resolves when it was let out, with what that has asked for. */
  take(reply: ShardReply): Promise<void> | undefined {
    const { keep, release, withheld } = this.#options;
    const before = this.#last;
    const kept = keep(reply);
    if (kept === undefined && before === undefined) return release(reply);
    // Its bytes lie in memory that the step after the next one is answered in.
    const own = withOwnBytes(reply);
    const released = Promise.all([before, kept]).then(() => release(own));
    this.#last = released;
    this.#waiting++;
    const done = (): void => {
      this.#waiting--;
      if (this.#last === released) this.#last = undefined;
    };
    released.then(done, (error: unknown) => {
      this.#waiting--;
      withheld(own, error);
    });
    return released;
  }
}

function withOwnBytes({ outcome, events, motions, released }: ShardReply): ShardReply {
  const { rows, backgroundRows } = outcome;
  return {
    outcome: { ...outcome, rows: copiedRows(rows), backgroundRows: copiedRows(backgroundRows) },
    events: events.map((batch) => ({ ...batch, bytes: lend(copied(batch.bytes)) })),
    motions,
    ...(released && { released: released.map(({ id, record }) => ({ id, record: record && lend(copied(record)) })) }),
  };
}
