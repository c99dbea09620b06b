import { copied, lend } from '../model/borrowed.ts';
import type { ShardReply } from '../wire/messages.ts';
import { copiedRows } from '../wire/store_messages.ts';

export interface OutcomeGateOptions {
  /**
   * Commits the changes of a step, so that they survive this hub; undefined if no commit is needed. Rejects if the
   * changes can never be committed.
   */
  commit(reply: ShardReply): Promise<void> | undefined;
  /** Releases the outcome of the step. */
  release(reply: ShardReply): Promise<void> | undefined;
  /** Handles a step whose outcome will never be released. */
  failed(reply: ShardReply, error: unknown): void;
}

/** Maximum number of uncommitted steps. */
const WAITING_MAX = 16;

/**
 * Releases the outcomes of a shard's steps in order, each when its changes are committed, so that nothing is published
 * that a hub taking over would not have. After a step that cannot be committed, no further outcome is released.
 */
export class OutcomeGate {
  readonly #options: OutcomeGateOptions;
  /** Release of the previous step; undefined if none is pending. */
  #last: Promise<void> | undefined;
  #waiting = 0;

  constructor(options: OutcomeGateOptions) {
    this.#options = options;
  }

  /**
   * Whether the next step must wait for the previous ones, because it is small and should grow, or because too many are
   * pending.
   */
  isDue(isSmall: boolean): boolean {
    return isSmall || this.#waiting >= WAITING_MAX;
  }

  /** Resolves when all previous steps are released; undefined if they already are. */
  get released(): Promise<void> | undefined {
    return this.#last;
  }

  /** Accepts the reply to a step. Resolves when the reply is released and its work is done. */
  take(reply: ShardReply): Promise<void> | undefined {
    const { commit, release, failed } = this.#options;
    const before = this.#last;
    const committed = commit(reply);
    if (committed === undefined && before === undefined) return release(reply);
    // Copies the reply, because its memory is reused for the answer to the step after the next one.
    const own = withOwnBytes(reply);
    const released = Promise.all([before, committed]).then(() => release(own));
    this.#last = released;
    this.#waiting++;
    const done = (): void => {
      this.#waiting--;
      if (this.#last === released) this.#last = undefined;
    };
    released.then(done, (error: unknown) => {
      this.#waiting--;
      failed(own, error);
    });
    return released;
  }
}

function withOwnBytes({ outcome, events, motions, released, step }: ShardReply): ShardReply {
  const { rows, backgroundRows } = outcome;
  return {
    outcome: { ...outcome, rows: copiedRows(rows), backgroundRows: copiedRows(backgroundRows) },
    events: events.map((batch) => ({ ...batch, bytes: lend(copied(batch.bytes)) })),
    motions,
    ...(step !== undefined && { step }),
    ...(released && { released: released.map(({ id }) => ({ id, record: undefined })) }),
  };
}
