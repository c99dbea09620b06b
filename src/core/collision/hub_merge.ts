import type { Motion } from '../motion/motion.ts';

/**
 * Merges the motions of several hubs into one order: by time of receipt, then by hub, then in the order of each hub.
 *
 *   input of a hub                                 result
 *   ---------------------------------------------  ---------------------------------------------------------------
 *   a motion, in the order of its items            waits until every hub has passed its time of receipt
 *   one received before the previous one of the    as if it had been received together with that: the order of a
 *   same hub, or before the hub's progress         hub is preserved
 *   one earlier than motions already taken,        is taken with the next
 *   because the hub was not waited for
 *   one of a trackable for which another hub has   is dropped: the trackable has migrated to that hub since
 *   reported a later motion
 *   one already taken and sent again               is dropped, by the number of its item
 *   completion of its reported positions           removes trackables that it reported last but not now: their
 *                                                  removal was lost
 *
 * While hubs respect the progress they report, the arrival order does not matter: the result equals that of a single
 * hub that received all motions.
 */
export class HubMerge {
  readonly #hubs = new Map<string, HubQueue>();
  readonly #last = new Map<string, LastMotion>();
  /** Removed trackables, in the order of their removal. */
  readonly #removed: { readonly id: string; readonly reported: LastMotion }[] = [];
  #waiting = 0;

  get waiting(): number {
    return this.#waiting;
  }

  /** Adds motions of a hub, in order after all earlier ones. */
  add(hub: string, motions: readonly Motion[]): void {
    const queue = this.#queueOf(hub);
    for (const motion of motions) {
      queue.lastMs = Math.max(queue.lastMs, motion.receivedMs);
      queue.motions.push(motion);
      queue.times.push(queue.lastMs);
      if (motion.kind === 'stands') queue.reported ??= new Set();
      queue.reported?.add(motion.id);
    }
    this.#waiting += motions.length;
  }

  /** Records the progress of a hub: all further motions were received at `untilMs` or later. */
  passed(hub: string, untilMs: number): void {
    const queue = this.#queueOf(hub);
    queue.lastMs = Math.max(queue.lastMs, untilMs);
  }

  /** Records that a hub has reported the positions of all its trackables. */
  stood(hub: string): void {
    const queue = this.#queueOf(hub);
    const { reported } = queue;
    queue.reported = undefined;
    const lost: Motion[] = [];
    for (const [id, last] of this.#last) {
      if (last.hub !== hub || last.isGone || reported?.has(id) === true) continue;
      const seq = Math.max(queue.motions.at(-1)?.seq ?? 0, last.seq + 1);
      // The removal has the time of the last motion, so a later motion from another hub that is not taken yet prevails.
      lost.push({ kind: 'gone', seq, id, receivedMs: last.receivedMs });
    }
    this.add(hub, lost);
  }

  /** Returns the item number of the hub's first waiting motion; undefined for none. */
  firstOf(hub: string): number | undefined {
    const queue = this.#hubs.get(hub);
    return queue?.motions[queue.next]?.seq;
  }

  /** Returns, in order, the motions received before `untilMs`. */
  take(untilMs: number): readonly Motion[] {
    const taken: Motion[] = [];
    // hot: with several hubs
    for (let run = this.#nextRun(untilMs); run !== undefined; run = this.#nextRun(untilMs)) {
      const { queue, toMs, isToIncluded } = run;
      for (;;) {
        const atMs = queue.times[queue.next];
        if (atMs === undefined || atMs > toMs || (atMs === toMs && !isToIncluded)) break;
        const motion = queue.motions[queue.next] as Motion;
        queue.next++;
        this.#waiting--;
        if (this.#isNews(queue.hub, motion)) taken.push(motion);
      }
    }
    for (const queue of this.#hubs.values()) tidy(queue);
    this.#forgetGone(untilMs);
    return taken;
  }

  /** Removes a hub that has left the cluster, unless some of its motions are still waiting. */
  forget(hub: string): void {
    const queue = this.#hubs.get(hub);
    if (queue !== undefined && queue.next === queue.motions.length) this.#hubs.delete(hub);
  }

  #queueOf(hub: string): HubQueue {
    let queue = this.#hubs.get(hub);
    if (queue === undefined) {
      queue = { hub, motions: [], times: [], next: 0, lastMs: Number.NEGATIVE_INFINITY, reported: undefined };
      this.#hubs.set(hub, queue);
    }
    return queue;
  }

  /**
   * Returns the hub with the next motions received before `untilMs`, and the time up to which they precede those of
   * other hubs.
   */
  #nextRun(untilMs: number): Run | undefined {
    let first: HubQueue | undefined;
    let second: HubQueue | undefined;
    let firstMs = untilMs;
    let secondMs = untilMs;
    for (const queue of this.#hubs.values()) {
      const atMs = queue.times[queue.next];
      if (atMs === undefined || atMs >= untilMs) continue;
      if (first === undefined || atMs < firstMs || (atMs === firstMs && queue.hub < first.hub)) {
        [second, secondMs] = [first, firstMs];
        [first, firstMs] = [queue, atMs];
      } else if (second === undefined || atMs < secondMs || (atMs === secondMs && queue.hub < second.hub)) {
        [second, secondMs] = [queue, atMs];
      }
    }
    if (first === undefined) return undefined;
    return { queue: first, toMs: secondMs, isToIncluded: second !== undefined && first.hub < second.hub };
  }

  #isNews(hub: string, { id, kind, receivedMs, seq }: Motion): boolean {
    const last = this.#last.get(id);
    if (last === undefined) this.#note(id, { hub, seq, receivedMs, isGone: kind === 'gone' });
    else {
      if (last.hub === hub && seq <= last.seq && kind !== 'stands') return false;
      if (last.hub !== hub && receivedMs < last.receivedMs) {
        // The hub that owns the trackable now may have reported the same position before.
        if (kind === 'stands') [last.hub, last.seq] = [hub, seq];
        return false;
      }
      // Each hub numbers its own items.
      last.seq = last.hub === hub ? Math.max(last.seq, seq) : seq;
      last.hub = hub;
      last.receivedMs = Math.max(last.receivedMs, receivedMs);
      last.isGone = kind === 'gone';
      if (last.isGone) this.#removed.push({ id, reported: last });
    }
    return true;
  }

  #note(id: string, reported: LastMotion): void {
    this.#last.set(id, reported);
    if (reported.isGone) this.#removed.push({ id, reported });
  }

  #forgetGone(untilMs: number): void {
    const oldMs = untilMs - REMEMBERED_MS;
    let count = 0;
    for (const { id, reported } of this.#removed) {
      if (reported.receivedMs >= oldMs && this.#removed.length - count <= REMOVED_MAX) break;
      if (reported.isGone && this.#last.get(id) === reported) this.#last.delete(id);
      count++;
    }
    this.#removed.splice(0, count);
  }
}

/**
 * Bounds of the list of removed trackables, in time and number. Motions of a removed trackable arrive at most this
 * late.
 */
const REMEMBERED_MS = 10_000;
const REMOVED_MAX = 100_000;
/** Taken motions are discarded once there are this many. */
const TAKEN_MAX = 1024;

/** Waiting motions of a hub. */
interface HubQueue {
  readonly hub: string;
  motions: Motion[];
  /** Times that order the motions; never decreasing. */
  times: number[];
  /** Index of the first motion not taken. */
  next: number;
  lastMs: number;
  /** Trackables reported since the hub began to report all positions; undefined at other times. */
  reported: Set<string> | undefined;
}

/** Motions of one hub, up to a time. */
interface Run {
  readonly queue: HubQueue;
  readonly toMs: number;
  /** Whether motions at that time are included. */
  readonly isToIncluded: boolean;
}

/** The last motion taken for a trackable. */
interface LastMotion {
  hub: string;
  /** Number of the motion's item at that hub. */
  seq: number;
  receivedMs: number;
  isGone: boolean;
}

function tidy(queue: HubQueue): void {
  if (queue.next < queue.motions.length && queue.next < TAKEN_MAX) return;
  queue.motions = queue.motions.slice(queue.next);
  queue.times = queue.times.slice(queue.next);
  queue.next = 0;
}
