import type { FenceEventPosition } from '../../wire/fence_events.ts';
import type { EventPositions } from '../../model/event_batch.ts';

/** Most removed members whose watermarks are retained. */
const GONE_MAX = 100;
const NONE = -1;

/** Last position of a shard of which subscribers have received fence events. */
interface Watermark {
  readonly step: number;
  /** Index of the last event of that step for each variant that has received any of it. */
  readonly lastOf: Map<number, number>;
}

interface OfMember {
  /** By shard. */
  readonly watermarks: Map<number, Watermark>;
  /** Redelivered events beyond the watermarks, by variant. */
  readonly redelivered: Set<string>;
  /** Number of the last interest that it had acknowledged when it was removed; -1 for none. */
  acknowledged: number;
}

/**
 * Deduplication of fence events by position: which fence events of each member the subscribers of this hub have received.
 * A successor redelivers the fence events in the journal of a failed member, and this hub drops those that it has.
 *
 * A member sends the fence events of a shard in the order of their positions, and messages are delivered in order and without
 * gaps. So with one event of a step, each variant has all earlier steps, as far as it wants them; and of that step the events
 * up to its own last one. An acknowledgement of interest says the same without an event: all steps before those that it names
 * are received, as far as subscriptions want them. Subscriptions that it does not include receive nothing of a removed member:
 * its events are earlier, and may have gaps.
 *
 * A hub drops the messages of a removed member: from then on its watermarks stay as they are, and its successors redeliver the
 * rest. They do so in any order, since each has another part of its objects, and again if one of them fails. So each
 * redelivered event is noted by itself.
 */
export class FenceEventWatermarks {
  readonly #members = new Map<string, OfMember>();
  /** Removed members, in the order of their removal. */
  readonly #gone: string[] = [];

  /** Marks a member as removed, which had acknowledged the interest up to that number. */
  gone(member: string, acknowledged: number): void {
    this.#of(member).acknowledged = acknowledged;
    this.#gone.push(member);
    while (this.#gone.length > GONE_MAX) this.#members.delete(this.#gone.shift() as string);
  }

  /** Number of the last interest that a removed member had acknowledged; -1 for none. */
  acknowledgedBy(member: string): number {
    return this.#members.get(member)?.acknowledged ?? NONE;
  }

  /** All events of a member before these steps, one of each shard, are received. */
  reach(member: string, steps: readonly number[]): void {
    const { watermarks } = this.#of(member);
    for (const [shard, step] of steps.entries()) {
      if (step > (watermarks.get(shard)?.step ?? NONE)) watermarks.set(shard, { step, lastOf: new Map() });
    }
  }

  /** Notes events of a step that the subscribers of a variant receive. */
  note(member: string, variant: number, { shard, step, indices }: EventPositions): void {
    const { watermarks } = this.#of(member);
    let watermark = watermarks.get(shard);
    if (watermark === undefined || watermark.step < step) {
      watermark = { step, lastOf: new Map() };
      watermarks.set(shard, watermark);
    }
    watermark.lastOf.set(variant, indices.at(-1) ?? 0);
  }

  /** Notes a redelivered event of a failed member. Returns whether the subscribers of a variant lack it. */
  redeliver(member: string, variant: number, position: FenceEventPosition): boolean {
    const { watermarks, redelivered } = this.#of(member);
    const { shard, step, index } = position;
    const watermark = watermarks.get(shard);
    if (watermark !== undefined && step < watermark.step) return false;
    if (step === watermark?.step && index <= (watermark.lastOf.get(variant) ?? -1)) return false;
    const key = `${variant} ${shard} ${step} ${index}`;
    if (redelivered.has(key)) return false;
    redelivered.add(key);
    return true;
  }

  #of(member: string): OfMember {
    const nothing = { watermarks: new Map(), redelivered: new Set<string>(), acknowledged: NONE };
    const found = this.#members.get(member) ?? nothing;
    this.#members.set(member, found);
    return found;
  }
}
