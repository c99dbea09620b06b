import type { Motion } from '../motion/motion.ts';

/**
 * Puts the motions of several hubs into one order: by time of receipt, then by hub, then as each hub has them.
 *
 *   what comes of a hub                            what becomes of it
 *   ---------------------------------------------  ---------------------------------------------------------------
 *   a motion, in the order of its items            waits until every hub is past its time of receipt
 *   one that was received before the last of the   the same, as if it had been received together with that: the
 *   same hub, or before what the hub has passed    order of a hub is never changed
 *   one below what was taken already: the hub was  is taken with the next
 *   not waited for
 *   one of a trackable of which another hub has    is left out: the trackable has moved to that hub since
 *   told something later
 *   one that was taken already, and is sent again  is left out, by the number of its item
 *   that it has told where all its trackables      others that it was the last to tell of are gone: what has said so
 *   stand                                          was lost
 *
 * So, as long as hubs keep to what they say to have passed, it does not matter which motions come when: what is taken is
 * what one hub would have taken that had received all of it.
 */
export class HubMerge {
  readonly #hubs = new Map<string, Queue>();
  readonly #last = new Map<string, Told>();
  /** Trackables that are gone, in the order in which that was taken. */
  readonly #gone: { readonly id: string; readonly told: Told }[] = [];
  #waiting = 0;

  get waiting(): number {
    return this.#waiting;
  }

  /** Takes motions of a hub that come behind all those before. */
  add(hub: string, motions: readonly Motion[]): void {
    const queue = this.#queueOf(hub);
    for (const motion of motions) {
      queue.lastMs = Math.max(queue.lastMs, motion.receivedMs);
      queue.motions.push(motion);
      queue.times.push(queue.lastMs);
      if (motion.kind === 'stands') queue.told ??= new Set();
      queue.told?.add(motion.id);
    }
    this.#waiting += motions.length;
  }

  /** What comes of the hub from now on was received at that time or later. */
  passed(hub: string, untilMs: number): void {
    const queue = this.#queueOf(hub);
    queue.lastMs = Math.max(queue.lastMs, untilMs);
  }

  /** What has come of the hub so far tells where all its trackables stand. */
  stood(hub: string): void {
    const queue = this.#queueOf(hub);
    const { told } = queue;
    queue.told = undefined;
    const lost: Motion[] = [];
    for (const [id, last] of this.#last) {
      if (last.hub !== hub || last.isGone || told?.has(id) === true) continue;
      const seq = Math.max(queue.motions.at(-1)?.seq ?? 0, last.seq + 1);
      // Another hub may have told of it since, which is not taken yet.
      lost.push({ kind: 'gone', seq, id, receivedMs: last.receivedMs });
    }
    this.add(hub, lost);
  }

  /** The number of the first item of the hub of which a motion waits; undefined where none does. */
  firstOf(hub: string): number | undefined {
    const queue = this.#hubs.get(hub);
    return queue?.motions[queue.next]?.seq;
  }

  /** Hands out, in order, what was received before that time. */
  take(untilMs: number): readonly Motion[] {
    const taken: Motion[] = [];
    // hot: where several hubs own objects
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

  /** The hub sends nothing more, and nothing of it waits. */
  forget(hub: string): void {
    const queue = this.#hubs.get(hub);
    if (queue !== undefined && queue.next === queue.motions.length) this.#hubs.delete(hub);
  }

  #queueOf(hub: string): Queue {
    let queue = this.#hubs.get(hub);
    if (queue === undefined) {
      queue = { hub, motions: [], times: [], next: 0, lastMs: Number.NEGATIVE_INFINITY, told: undefined };
      this.#hubs.set(hub, queue);
    }
    return queue;
  }

  /** Of whom the next motions are that were received before that time, and up to when: there another hub has its next one. */
  #nextRun(untilMs: number): Run | undefined {
    let first: Queue | undefined;
    let second: Queue | undefined;
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
        // Where it stands, by whoever has it now, may be known from before.
        if (kind === 'stands') [last.hub, last.seq] = [hub, seq];
        return false;
      }
      // Items of another hub have numbers of their own.
      last.seq = last.hub === hub ? Math.max(last.seq, seq) : seq;
      last.hub = hub;
      last.receivedMs = Math.max(last.receivedMs, receivedMs);
      last.isGone = kind === 'gone';
      if (last.isGone) this.#gone.push({ id, told: last });
    }
    return true;
  }

  #note(id: string, told: Told): void {
    this.#last.set(id, told);
    if (told.isGone) this.#gone.push({ id, told });
  }

  #forgetGone(untilMs: number): void {
    const oldMs = untilMs - REMEMBERED_MS;
    let count = 0;
    for (const { id, told } of this.#gone) {
      if (told.receivedMs >= oldMs && this.#gone.length - count <= GONE_MAX) break;
      if (told.isGone && this.#last.get(id) === told) this.#last.delete(id);
      count++;
    }
    this.#gone.splice(0, count);
  }
}

/** For how long, and how many, trackables are remembered that are gone: what still comes of them is as late at most. */
const REMEMBERED_MS = 10_000;
const GONE_MAX = 100_000;
/** Motions that were taken are dropped when they are so many. */
const TAKEN_MAX = 1024;

/** What of a hub waits. */
interface Queue {
  readonly hub: string;
  motions: Motion[];
  /** Times by which they are ordered: they never fall. */
  times: number[];
  /** Those before this one were taken. */
  next: number;
  lastMs: number;
  /** Of which trackables it has told since it began to tell where they stand; undefined while it does not. */
  told: Set<string> | undefined;
}

/** Motions of one hub, up to a time. */
interface Run {
  readonly queue: Queue;
  readonly toMs: number;
  /** Whether those of that time belong to it. */
  readonly isToIncluded: boolean;
}

/** What was taken last of a trackable. */
interface Told {
  hub: string;
  /** The number of its item at that hub. */
  seq: number;
  receivedMs: number;
  isGone: boolean;
}

function tidy(queue: Queue): void {
  if (queue.next < queue.motions.length && queue.next < TAKEN_MAX) return;
  queue.motions = queue.motions.slice(queue.next);
  queue.times = queue.times.slice(queue.next);
  queue.next = 0;
}
