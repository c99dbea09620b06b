/** Functions that process the batches of a lane. */
export interface LaneDriver<Item, Outcome> {
  /** Returns the weight of an item; default 1. */
  weigh?(item: Item): number;
  /** Runs one batch. An empty batch is a tick. */
  run(items: readonly Item[]): Promise<Outcome>;
  /** Processes the outcome. The returned promise, for example of a commit, delays only `settled`. */
  outcome(outcome: Outcome, items: readonly Item[]): Promise<void> | undefined;
  /**
   * Reports a permanently failed batch with its lost items or, without items, an outcome that could not be processed.
   */
  failure(error: unknown, lost: readonly Item[]): void;
}

export interface LaneOptions {
  readonly pendingMax: number;
  readonly batchMax: number;
  /** Whether the worker receives its next batch before the previous outcome is processed, so that it never waits. */
  readonly runsAhead?: boolean;
  readonly pace?: BatchGate | undefined;
}

/** Delays the next batch until the outcomes of the previous ones are released, so that it grows in the meantime. */
export interface BatchGate {
  /** Whether the next batch must wait. `isSmall`: few items are pending so far. */
  isDue(isSmall: boolean): boolean;
  /** Resolves when all previous outcomes are released; undefined if they already are. May reject. */
  readonly released: Promise<void> | undefined;
}

/** A batch in flight. */
interface RunningBatch<Item, Outcome> {
  readonly items: readonly Item[];
  /** Total weight. A tick counts as one item after all pending ones. */
  readonly weight: number;
  readonly outcome: Promise<Outcome>;
}

interface Waiter {
  readonly until: number;
  readonly works: Promise<void>[];
  readonly resolve: (works: Promise<void>[]) => void;
}

/**
 * Queue to one worker, with one batch in flight. Items that arrive in the meantime form the next batch. So batches grow
 * with the load, and no item waits for a batch to fill.
 */
export class Lane<Item, Outcome> {
  readonly #driver: LaneDriver<Item, Outcome>;
  readonly #pendingMax: number;
  readonly #batchMax: number;
  readonly #runsAhead: boolean;
  readonly #pace: BatchGate | undefined;
  #pending: Item[] = [];
  #pendingWeight = 0;
  #inFlight: readonly Item[] = [];
  #busy = false;
  #woken = false;
  /** Number of items and ticks pushed so far. */
  #pushed = 0;
  #done = 0;
  #batches = 0;
  /** Settles when the work of all outcomes so far is done or has failed. */
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

  /** Whether `count` more items can be accepted. */
  hasCapacity(count: number): boolean {
    return this.#pendingWeight + count <= this.#pendingMax;
  }

  /**
   * Resolves when at most half a batch is pending; undefined if that is the case now. A sender that awaits it keeps the
   * worker busy and the queue short.
   */
  eased(): Promise<void> | undefined {
    if (this.#pendingWeight * 2 <= this.#batchMax) return undefined;
    this.#easing ??= Promise.withResolvers();
    return this.#easing.promise;
  }

  /** Weight of pending items, without those in flight. */
  get pending(): number {
    return this.#pendingWeight;
  }

  /** Number of finished items and ticks. */
  get done(): number {
    return this.#done;
  }

  /** Number of batches. */
  get batches(): number {
    return this.#batches;
  }

  /** First unfinished item, in flight or pending. */
  get first(): Item | undefined {
    return this.#inFlight[0] ?? this.#pending[0];
  }

  /** Last unfinished item, in flight or pending. */
  get last(): Item | undefined {
    return this.#pending.at(-1) ?? this.#inFlight.at(-1);
  }

  /** First pending item, which follows the batch in flight. */
  get next(): Item | undefined {
    return this.#pending[0];
  }

  /** Adds an item. Call `hasCapacity` first to respect the limit; entity changes are always accepted. */
  push(item: Item): void {
    const weight = this.#weigh(item);
    this.#pending.push(item);
    this.#pendingWeight += weight;
    this.#pushed += weight;
    this.#start();
  }

  /** Runs a batch even if nothing is pending: a tick. */
  wake(): void {
    if (!this.#woken) this.#pushed++;
    this.#woken = true;
    this.#start();
  }

  /**
   * Resolves when all items pushed so far and the work of their outcomes are done. Rejects at that time if a batch that
   * was unfinished at the call was lost or its work failed.
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
    // Items of all sockets that are readable in the current turn of the event loop join the same batch.
    setImmediate(() => void this.#drain());
  }

  async #drain(): Promise<void> {
    for (let batch = this.#begin(); batch !== undefined; ) {
      const { items, weight, outcome } = batch;
      const ended = await settled(outcome);
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

  /** Starts a batch; undefined if nothing is pending. */
  #begin(): RunningBatch<Item, Outcome> | undefined {
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

  /** Adds work for which `settled` waits. */
  #waitFor(work: Promise<void> | undefined): void {
    if (work === undefined) return;
    // Retains only the completion, since nested results would form a chain that is never garbage-collected.
    this.#work = Promise.allSettled([this.#work, work]).then(() => undefined);
    for (const waiter of this.#waiters) waiter.works.push(work);
  }

  /** Takes the items of a batch, at least one. */
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

/** Promise.allSettled for one promise. hot: once per batch */
function settled<Value>(promise: Promise<Value>): Promise<PromiseSettledResult<Value>> {
  return promise.then(
    (value) => ({ status: 'fulfilled', value }),
    (reason: unknown) => ({ status: 'rejected', reason }),
  );
}
