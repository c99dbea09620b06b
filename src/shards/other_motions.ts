import type { CollisionReply, OtherMotions, OtherRestore, PackedMotions } from '../wire/messages.ts';
import { Unfinished } from './unfinished.ts';

/** What another hub says of its motions. */
export interface OtherNews extends Omit<OtherMotions, 'motions'> {
  readonly motions: readonly PackedMotions[];
}

interface Other {
  readonly unfinished: Unfinished;
  said: Omit<OtherMotions, 'motions'>;
  isGone: boolean;
  /** Whether the worker knows what it has said, and that it is gone. */
  isTold: boolean;
}

/** Motions of other hubs that the collision worker has not finished, and what these hubs have said of them. */
export class OthersUnfinished {
  readonly #others = new Map<string, Other>();

  /** As they are packed. */
  get bytes(): number {
    let bytes = 0;
    for (const { unfinished } of this.#others.values()) bytes += unfinished.bytes;
    return bytes;
  }

  add({ motions, ...said }: OtherNews): void {
    const other = this.#others.get(said.hub) ?? { unfinished: new Unfinished(), said, isGone: false, isTold: false };
    this.#others.set(said.hub, other);
    // What the worker was not told yet is not forgotten.
    const isStood = said.isStood || (other.said.isStood && !other.isTold);
    other.said = { ...said, isStood };
    other.isTold = false;
    for (const packed of motions) other.unfinished.add(packed);
  }

  /** Nothing more comes of a hub. */
  gone(hub: string): void {
    const other = this.#others.get(hub);
    if (other === undefined) return;
    other.isGone = true;
    other.isTold = false;
  }

  /** What the worker was not told yet. */
  send(): { readonly hubs: readonly OtherMotions[]; readonly gone: readonly string[] } {
    const hubs: OtherMotions[] = [];
    const gone: string[] = [];
    for (const [hub, other] of this.#others) {
      if (other.isTold) continue;
      other.isTold = true;
      const watermark = other.isGone ? Number.MAX_SAFE_INTEGER : other.said.watermark;
      hubs.push({ ...other.said, watermark, motions: other.unfinished.send() });
      other.said = { ...other.said, isStood: false };
      if (other.isGone) gone.push(hub);
    }
    return { hubs, gone };
  }

  /** A new worker is sent everything. */
  sendAgain(): void {
    for (const other of this.#others.values()) {
      other.unfinished.sendAgain();
      other.isTold = false;
    }
  }

  finish(finished: CollisionReply['finished']): void {
    for (const [hub, to] of finished?.others ?? []) this.#others.get(hub)?.unfinished.finish(to);
    for (const [hub, { isGone, isTold, unfinished }] of this.#others) {
      if (isGone && isTold && unfinished.bytes === 0) this.#others.delete(hub);
    }
  }

  /** What was sent is lost. */
  giveUp(): void {
    for (const other of this.#others.values()) {
      other.unfinished.giveUp();
      other.isTold = false;
    }
  }

  restoration(areDoneKnown: boolean): readonly OtherRestore[] {
    return Array.from(this.#others, ([hub, { unfinished }]) => ({
      hub,
      fromSeq: unfinished.finishedTo,
      done: areDoneKnown ? unfinished.done : [],
    }));
  }
}
