import { copied, lend } from '../model/borrowed.ts';
import type { EventBatch } from '../model/event_batch.ts';

interface Held {
  readonly events: readonly EventBatch[];
  readonly published: (() => void) | undefined;
  state: 'waits' | 'ready' | 'failed';
}

/**
 * Publishes events in order although some must wait. An entry is published only after its membership is committed, so
 * that a restart does not publish it again.
 */
export class CommitGate {
  readonly #publish: (events: readonly EventBatch[]) => void;
  readonly #dropsFailed: boolean;
  #held: Held[] = [];
  #heldEvents = 0;

  /**
   * `dropsFailed` drops events whose wait fails, because another hub then publishes them. By default they are
   * published.
   */
  constructor(publish: (events: readonly EventBatch[]) => void, { dropsFailed = false } = {}) {
    this.#publish = publish;
    this.#dropsFailed = dropsFailed;
  }

  /** Number of waiting events. */
  get held(): number {
    return this.#heldEvents;
  }

  /** Publishes after all earlier events, and after `after` has settled. Then calls `published`. */
  publish(events: readonly EventBatch[], after: Promise<void> | undefined, published?: () => void): void {
    if (after === undefined && this.#held.length === 0) {
      this.#publish(events);
      published?.();
      return;
    }
    const own = events.map((block) => ({ ...block, bytes: lend(copied(block.bytes)) }));
    const held: Held = { events: own, published, state: after === undefined ? 'ready' : 'waits' };
    this.#held.push(held);
    this.#heldEvents += countOf(events);
    const settle = (state: Held['state']): void => {
      held.state = state;
      this.#release();
    };
    after?.then(
      () => settle('ready'),
      () => settle(this.#dropsFailed ? 'failed' : 'ready'),
    );
  }

  #release(): void {
    let ready = 0;
    while (ready < this.#held.length && this.#held[ready]?.state !== 'waits') ready++;
    for (const { events, published, state } of this.#held.splice(0, ready)) {
      this.#heldEvents -= countOf(events);
      if (state === 'failed') continue;
      this.#publish(events);
      published?.();
    }
  }
}

function countOf(blocks: readonly EventBatch[]): number {
  return blocks.reduce((sum, { ends }) => sum + ends.length, 0);
}
