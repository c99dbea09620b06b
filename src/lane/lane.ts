/** What a lane does with its batches. */
export interface LaneDriver<Item, Outcome> {
  /** How many an item counts for; 1 when left out. */
  weigh?(item: Item): number;
  /** Runs one batch; an empty one is a tick. */
  run(items: readonly Item[]): Promise<Outcome>;
  /** Takes the outcome. What it returns (a commit, say) delays nothing but `settled`. */
  outcome(outcome: Outcome, items: readonly Item[]): Promise<void> | undefined;
  /** The batch has failed for good and its items are lost; or, with no items, its outcome could not be taken. */
  failure(error: unknown, lost: readonly Item[]): void;
}

export interface LaneOptions {
  readonly pendingMax: number;
  readonly batchMax: number;
  /** Whether the worker gets its next batch before the outcome of the last one is taken, so that it need not wait for that. */
  readonly runsAhead?: boolean;
  readonly pace?: Pace | undefined;
}

/** What makes the next batch wait until those before it are heard of; meanwhile more of it comes. */
export interface Pace {
  /** Whether it is to wait. `isSmall`: little of it has come so far. */
  isDue(isSmall: boolean): boolean;
  /** Resolves when all before it are heard of; undefined where they are. May reject. */
  readonly released: Promise<void> | undefined;
}

/** A batch that runs. */
interface Running<Item, Outcome> {
  readonly items: readonly Item[];
  /** What they count for. A tick counts as an item behind all that were waiting. */
  readonly weight: number;
  readonly outcome: Promise<Outcome>;
}

interface Waiter {
  readonly until: number;
  readonly works: Promise<void>[];
  readonly resolve: (works: Promise<void>[]) => void;
}

/**
 * A queue to one worker with one batch at work. Whatever arrives meanwhile becomes the next batch, so batches grow
 * with the load and nobody waits for a batch to fill.
 */
export class Lane<Item, Outcome> {
  readonly #driver: LaneDriver<Item, Outcome>;
  readonly #pendingMax: number;
  readonly #batchMax: number;
  readonly #runsAhead: boolean;
  readonly #pace: Pace | undefined;
  #pending: Item[] = [];
  #pendingWeight = 0;
  #inFlight: readonly Item[] = [];
  #busy = false;
  #woken = false;
  /** Items and ticks so far. */
  #pushed = 0;
  #done = 0;
  #batches = 0;
  /** What the outcomes so far have asked for, done or failed. */
  #work: Promise<unknown> = Promise.resolve();
  #waiters: Waiter[] = [];
  #easing: PromiseWithResolvers<void> | undefined;

  constructor(driver: LaneDriver<Item, Outcome>, { pendingMax, batchMax, runsAhead = false, pace }: LaneOptions) {
    this.#driver = driver;
    this.#pendingMax = pendingMax;
    this.#batchMax = batchMax;
    this.#runsAhead = runsAhead;
    this.#pace = pace;
  }

  /** Whether `count` more items can be taken. */
  hasCapacity(count: number): boolean {
    return this.#pendingWeight + count <= this.#pendingMax;
  }

  /**
   * Undefined while less than half a batch waits. Resolves when that is so again: a sender that waits for this before it
   * goes on keeps the worker busy and the queue short.
   */
  eased(): Promise<void> | undefined {
    if (this.#pendingWeight * 2 <= this.#batchMax) return undefined;
    this.#easing ??= Promise.withResolvers();
    return this.#easing.promise;
  }

  /** Items that wait, without those in flight. */
  get pending(): number {
    return this.#pendingWeight;
  }

  /** Items and ticks that are done. */
  get done(): number {
    return this.#done;
  }

  /** Batches that were run; fewer than what is done, the more the higher the load. */
  get batches(): number {
    return this.#batches;
  }

  /** The first item that is not done yet, in flight or waiting. */
  get first(): Item | undefined {
    return this.#inFlight[0] ?? this.#pending[0];
  }

  /** The last item that is not done yet, in flight or waiting. */
  get last(): Item | undefined {
    return this.#pending.at(-1) ?? this.#inFlight.at(-1);
  }

  /** The first item that waits: the batch in flight ends before it. */
  get next(): Item | undefined {
    return this.#pending[0];
  }

  /** Takes an item. Who must not overfill the lane asks hasCapacity first; changes of entities are always taken. */
  push(item: Item): void {
    const weight = this.#weigh(item);
    this.#pending.push(item);
    this.#pendingWeight += weight;
    this.#pushed += weight;
    this.#start();
  }

  /** Runs a batch even if nothing is waiting: a tick. */
  wake(): void {
    if (!this.#woken) this.#pushed++;
    this.#woken = true;
    this.#start();
  }

  /**
   * Resolves when everything pushed so far is done, with the work that its outcomes have asked for. Rejects, then too
   * and no sooner, when a batch that was still to be done at the time of the call was lost or its work has failed.
   */
  async settled(): Promise<void> {
    if (this.#done === this.#pushed) {
      await this.#work;
      return;
    }
    const [until, before] = [this.#pushed, this.#work];
    const works = await new Promise<Promise<void>[]>((resolve) => this.#waiters.push({ until, works: [], resolve }));
    await before;
    const failed = (await Promise.allSettled(works)).find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  }

  #start(): void {
    if (this.#busy) return;
    this.#busy = true;
    // The current turn of the event loop may have more to push: it all goes into one batch.
    queueMicrotask(() => void this.#drain());
  }

  async #drain(): Promise<void> {
    for (let batch = this.#begin(); batch !== undefined; ) {
      const { items, weight, outcome } = batch;
      const [ended] = await Promise.allSettled([outcome]);
      const isPaced = this.#pace?.isDue(this.#pendingWeight * 2 <= this.#batchMax) === true;
      const next = this.#runsAhead && !isPaced ? this.#begin() : undefined;
      this.#inFlight = next?.items ?? [];
      this.#end(items, ended);
      this.#batches++;
      this.#done += weight;
      this.#release();
      if (isPaced) await this.#pace?.released?.catch(() => undefined);
      batch = next ?? this.#begin();
    }
    this.#busy = false;
  }

  /** Runs what waits; undefined where nothing does. */
  #begin(): Running<Item, Outcome> | undefined {
    if (this.#pending.length === 0 && !this.#woken) return undefined;
    const before = this.#pendingWeight;
    const items = this.#take();
    let weight = before - this.#pendingWeight;
    this.#ease();
    if (this.#woken && this.#pending.length === 0) {
      this.#woken = false;
      weight++;
    }
    if (this.#inFlight.length === 0) this.#inFlight = items;
    return { items, weight, outcome: this.#driver.run(items) };
  }

  #end(items: readonly Item[], ended: PromiseSettledResult<Outcome>): void {
    let lost = items;
    try {
      if (ended.status === 'rejected') throw ended.reason;
      lost = [];
      this.#waitFor(this.#driver.outcome(ended.value, items));
    } catch (error) {
      this.#waitFor(Promise.reject(error));
      this.#driver.failure(error, lost);
    }
  }

  /** Lets whoever waits for the current batch wait for its work as well. */
  #waitFor(work: Promise<void> | undefined): void {
    if (work === undefined) return;
    // Only the end of the work is kept: results within results would be a chain that never becomes garbage.
    this.#work = Promise.allSettled([this.#work, work]).then(() => undefined);
    for (const waiter of this.#waiters) waiter.works.push(work);
  }

  /** As many as make a batch, and one at least. */
  #take(): readonly Item[] {
    const items = this.#pending;
    if (this.#pendingWeight <= this.#batchMax) {
      this.#pending = [];
      this.#pendingWeight = 0;
      return items;
    }
    let [count, weight] = [0, 0];
    for (const item of items) {
      const more = weight + this.#weigh(item);
      if (more > this.#batchMax && count > 0) break;
      weight = more;
      count++;
    }
    this.#pendingWeight -= weight;
    return items.splice(0, count);
  }

  #weigh(item: Item): number {
    return this.#driver.weigh?.(item) ?? 1;
  }

  #ease(): void {
    if (this.#easing === undefined || this.#pendingWeight * 2 > this.#batchMax) return;
    this.#easing.resolve();
    this.#easing = undefined;
  }

  #release(): void {
    while (this.#waiters[0] !== undefined && this.#waiters[0].until <= this.#done) {
      const waiter = this.#waiters.shift();
      waiter?.resolve(waiter.works);
    }
  }
}
