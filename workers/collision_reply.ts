import { HubMerge } from '../src/core/collision/hub_merge.ts';
import type { CollisionStage } from '../src/core/collision/stage.ts';
import { openCollisionStage } from '../src/core/collision/stage.ts';
import { WatermarkMerge } from '../src/core/collision/watermark_merge.ts';
import type { Motion } from '../src/core/motion/motion.ts';
import { ZoneTable } from '../src/core/zone/zone_table.ts';
import {
  eventTime,
  wallClockOfEventTime,
  monotonicTime,
  type ClockStep,
  wallClockTime,
} from '../src/model/clock_steps.ts';
import { newRecordBuffer } from '../src/wire/location_record.ts';
import {
  type CollisionBatch,
  type CollisionReply,
  type RemoteHubMotions,
  type CollisionRestore,
  type SeveralHubs,
  unpackMotions,
} from '../src/wire/messages.ts';
import { namedEventId } from './event_ids.ts';

/** State of another hub in the collision stage. */
interface Other {
  /** Merges the motions of the hub's shards, which run at their own pace. */
  readonly merge: WatermarkMerge;
  watermark: number;
  /**
   * Number of the first item whose motions the previous worker has not finished. The hub may send earlier ones again.
   */
  fromSeq: number;
}

/** The collision stage with its input: first merges the motions of all shards of all hubs into one order. */
export class Collisions {
  readonly #zones = new ZoneTable();
  readonly #merge = new WatermarkMerge();
  readonly #hubs = new HubMerge();
  readonly #others = new Map<string, Other>();
  readonly #stage: CollisionStage;
  #self = '';

  constructor(newId: () => string) {
    this.#stage = openCollisionStage({
      newId,
      namedId: namedEventId,
      zones: this.#zones.find,
      newBuffer: newRecordBuffer,
    });
  }

  step(batch: CollisionBatch): CollisionReply {
    for (const [id, zone] of batch.zones) this.#zones.set(id, zone);
    const { nowMs, variants, clockSteps, watermark, others, isShared, step } = batch;
    if (batch.restore === undefined) for (const packed of batch.motions) this.#merge.add(unpackMotions(packed));
    const timed = (other: RemoteHubMotions) => timesOf(other, others?.clockMs ?? nowMs, clockSteps ?? []);
    const news = (others?.hubs ?? []).map((other) => ({ ...other, motions: unpacked(other.motions, timed(other)) }));
    if (batch.restore === undefined) for (const { hub, motions } of news) this.#add(this.#otherOf(hub), motions);
    else this.#restore(batch, batch.restore, news);
    const own = this.#merge.take(watermark);
    if (others === undefined && this.#hubs.waiting === 0) {
      const outcome = this.#stage.step({ nowMs, motions: own, clockSteps, variants, isShared, step });
      return { ...outcome, waiting: this.#merge.waiting };
    }
    const motions = this.#ofAll(own, others);
    const outcome = this.#stage.step({ nowMs, motions, clockSteps, variants, isShared, step });
    return { ...outcome, waiting: this.#waiting, finished: this.#finished(watermark) };
  }

  /** Returns the next motions of all hubs. */
  #ofAll(own: readonly Motion[], others: SeveralHubs | undefined): readonly Motion[] {
    if (others !== undefined) this.#self = others.self;
    this.#hubs.add(this.#self, own);
    for (const hub of others?.gone ?? []) this.#otherOf(hub).watermark = Number.MAX_SAFE_INTEGER;
    for (const { hub, watermark } of others?.hubs ?? []) this.#otherOf(hub).watermark = watermark;
    for (const [hub, { merge, watermark }] of this.#others) this.#hubs.add(hub, merge.take(watermark));
    for (const { hub, isStood, passedMs } of others?.hubs ?? []) {
      if (isStood) this.#hubs.stood(hub);
      this.#hubs.passed(hub, passedMs);
    }
    return this.#hubs.take(others?.untilMs ?? Number.POSITIVE_INFINITY);
  }

  get #waiting(): number {
    let waiting = this.#merge.waiting + this.#hubs.waiting;
    for (const { merge } of this.#others.values()) waiting += merge.waiting;
    return waiting;
  }

  #finished(watermark: number): CollisionReply['finished'] {
    const others: (readonly [string, number])[] = [];
    for (const [hub, other] of this.#others) {
      others.push([hub, Math.max(other.fromSeq, this.#hubs.firstOf(hub) ?? other.watermark)]);
      if (other.watermark !== Number.MAX_SAFE_INTEGER || this.#hubs.firstOf(hub) !== undefined) continue;
      this.#others.delete(hub);
      this.#hubs.forget(hub);
    }
    return { own: this.#hubs.firstOf(this.#self) ?? watermark, others };
  }

  #otherOf(hub: string): Other {
    let other = this.#others.get(hub);
    if (other === undefined) {
      other = { merge: new WatermarkMerge(), watermark: 0, fromSeq: 0 };
      this.#others.set(hub, other);
    }
    return other;
  }

  #add({ merge, fromSeq }: Other, motions: readonly Motion[]): void {
    merge.add(fromSeq === 0 ? motions : motions.filter(({ seq }) => seq >= fromSeq));
  }

  #restore(
    { nowMs, motions, others, clockSteps }: CollisionBatch,
    { fromSeq, done, others: ofOthers = [], ...known }: CollisionRestore,
    news: readonly News[],
  ): void {
    const finished = done.flatMap(unpackMotions);
    for (const packed of motions) {
      const own = unpackMotions(packed);
      // Some of a shard's motions may be finished already.
      finished.push(...own.filter(({ seq }) => seq < fromSeq));
      this.#merge.add(own.filter(({ seq }) => seq >= fromSeq));
    }
    const ahead = [...this.#merge.motions];
    for (const { hub, fromSeq: from } of ofOthers) this.#otherOf(hub).fromSeq = from;
    for (const other of news) {
      const known = this.#otherOf(other.hub);
      const before = ofOthers.find(({ hub }) => hub === other.hub)?.done ?? [];
      finished.push(...unpacked(before, timesOf(other, others?.clockMs ?? nowMs, clockSteps ?? [])));
      finished.push(...other.motions.filter(({ seq }) => seq < known.fromSeq));
      this.#add(known, other.motions);
      ahead.push(...known.merge.motions);
    }
    // For a trackable that has migrated between hubs, the last motion counts.
    if (news.length > 0) finished.sort((a, b) => a.receivedMs - b.receivedMs);
    this.#stage.restore({ ...known, nowMs, done: finished, ahead });
  }
}

type News = Omit<RemoteHubMotions, 'motions'> & { readonly motions: readonly Motion[] };

function unpacked(packs: readonly Uint8Array[], timed: (motion: Motion) => Motion): Motion[] {
  return packs.flatMap((packed) => unpackMotions(packed).map(timed));
}

/**
 * Returns a function that converts another hub's motions to times of this hub. Times of receipt are limited to the
 * current time.
 */
function timesOf(
  { clockSteps, behindMs }: Omit<RemoteHubMotions, 'motions'>,
  nowMs: number,
  own: readonly ClockStep[],
): (motion: Motion) => Motion {
  const isSame = behindMs === 0 && clockSteps.length === 0 && own.length === 0;
  // hot
  return (motion) => {
    if (isSame && motion.receivedMs <= nowMs) return motion;
    const receivedMs = Math.min(monotonicTime(wallClockTime(motion.receivedMs, clockSteps), own) + behindMs, nowMs);
    if (motion.kind === 'gone') return { ...motion, receivedMs };
    return { ...motion, receivedMs, eventTimeMs: eventTime(wallClockOfEventTime(motion.eventTimeMs, clockSteps), own) };
  };
}
