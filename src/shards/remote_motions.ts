import type { CollisionReply, RemoteHubMotions, RemoteRestore, PackedMotions } from '../wire/messages.ts';
import { UnfinishedMotions } from './unfinished_motions.ts';

/** Motions and progress of another hub. */
export interface RemoteMotionsUpdate extends Omit<RemoteHubMotions, 'motions'> {
  readonly motions: readonly PackedMotions[];
}

interface RemoteHub {
  readonly unfinished: UnfinishedMotions;
  progress: Omit<RemoteHubMotions, 'motions'>;
  hasLeft: boolean;
  /** Whether the worker has received the latest progress and the departure of the hub. */
  isSent: boolean;
}

/** Unfinished motions of other hubs in the collision worker, and the progress of these hubs. */
export class RemoteMotions {
  readonly #others = new Map<string, RemoteHub>();

  /** Size of the motions, in packed bytes. */
  get bytes(): number {
    let bytes = 0;
    for (const { unfinished } of this.#others.values()) bytes += unfinished.bytes;
    return bytes;
  }

  /** Records that the previous stage has finished the motions of a hub's items before `item`. */
  finishedBefore(hub: string, item: number): void {
    this.#of(hub).unfinished.finish(item);
  }

  add({ motions, ...progress }: RemoteMotionsUpdate): void {
    const other = this.#of(progress.hub);
    // Preserves progress that is not sent yet.
    const isStood = progress.isStood || (other.progress.isStood && !other.isSent);
    other.progress = { ...progress, isStood };
    other.isSent = false;
    for (const packed of motions) other.unfinished.add(packed);
  }

  /** Handles the departure of a hub, which sends no more motions. */
  gone(hub: string): void {
    const other = this.#others.get(hub);
    if (other === undefined) return;
    other.hasLeft = true;
    other.isSent = false;
  }

  /** Returns the input that the worker has not received yet. */
  send(): { readonly hubs: readonly RemoteHubMotions[]; readonly gone: readonly string[] } {
    const hubs: RemoteHubMotions[] = [];
    const gone: string[] = [];
    for (const [hub, other] of this.#others) {
      if (other.isSent) continue;
      other.isSent = true;
      const watermark = other.hasLeft ? Number.MAX_SAFE_INTEGER : other.progress.watermark;
      hubs.push({ ...other.progress, watermark, motions: other.unfinished.send() });
      other.progress = { ...other.progress, isStood: false };
      if (other.hasLeft) gone.push(hub);
    }
    return { hubs, gone };
  }

  /** Marks all motions as unsent, for a new worker. */
  resend(): void {
    for (const other of this.#others.values()) {
      other.unfinished.resend();
      other.isSent = false;
    }
  }

  finish(finished: CollisionReply['finished']): void {
    for (const [hub, to] of finished?.others ?? []) this.#others.get(hub)?.unfinished.finish(to);
    for (const [hub, { hasLeft, isSent, unfinished }] of this.#others) {
      if (hasLeft && isSent && unfinished.bytes === 0) this.#others.delete(hub);
    }
  }

  /** Drops the motions that were sent, because their batch was lost. */
  giveUp(): void {
    for (const other of this.#others.values()) {
      other.unfinished.giveUp();
      other.isSent = false;
    }
  }

  #of(hub: string): RemoteHub {
    const found = this.#others.get(hub);
    if (found !== undefined) return found;
    const progress = { hub, watermark: 0, passedMs: 0, clockSteps: [], isStood: false, behindMs: 0 };
    // Nothing needs to be sent to the worker before the hub has sent an update.
    const other = { unfinished: new UnfinishedMotions(), progress, hasLeft: false, isSent: true };
    this.#others.set(hub, other);
    return other;
  }

  restoration(withDone: boolean): readonly RemoteRestore[] {
    return Array.from(this.#others, ([hub, { unfinished }]) => ({
      hub,
      fromSeq: unfinished.finishedTo,
      done: withDone ? unfinished.done : [],
    }));
  }
}
