import { copied, lend } from '../model/borrowed.ts';
import type { EventBatch } from '../model/event_batch.ts';

interface Held {
  readonly events: readonly EventBatch[];
  readonly published: (() => void) | undefined;
  done: boolean;
}

/**
 * Publishes events in order although some must wait: an entry is published only after its membership is committed, so
 * that a restart cannot publish it again.
 */
export class CommitGate {
  readonly #publish: (events: readonly EventBatch[]) => void;
  #held: Held[] = [];
  #heldEvents = 0;

  constructor(publish: (events: readonly EventBatch[]) => void) {
    this.#publish = publish;
  }

  /** Number of events that wait. */
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
    const held: Held = { events: own, published, done: after === undefined };
    this.#held.push(held);
    this.#heldEvents += countOf(events);
    const done = (): void => {
      held.done = true;
      this.#release();
    };
    after?.then(done, done);
  }

  #release(): void {
    let ready = 0;
    while (this.#held[ready]?.done === true) ready++;
    for (const { events, published } of this.#held.splice(0, ready)) {
      this.#heldEvents -= countOf(events);
      this.#publish(events);
      published?.();
    }
  }
}

function countOf(blocks: readonly EventBatch[]): number {
  return blocks.reduce((sum, { ends }) => sum + ends.length, 0);
}
