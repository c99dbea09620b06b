import { HubError } from '../errors.ts';
import { Turns } from '../time/turns.ts';

/**
 * All changes, one after the other, committed in groups.
 *
 * A step checks and applies its changes at once, in memory; the steps that wait while a commit runs become the next
 * group and share one transaction. A step that throws has its own changes taken back and fails alone. When the
 * commit fails, the changes of the whole group are taken back in reverse order and every step of it fails. Nobody is
 * answered before the commit, so that no answer speaks of a state that is taken back afterwards. A group that takes long
 * does so in turns.
 */
export class ChangeQueue<Change> {
  readonly #on: ChangeHandlers<Change>;
  readonly #waitingMax: number;
  readonly #groupMax: number;
  readonly #turns: Turns;
  #waiting: Waiting<Change>[] = [];
  #busy = false;
  #committing: Promise<void> | undefined;

  constructor(on: ChangeHandlers<Change>, options: ChangeQueueOptions = {}) {
    const { waitingMax = 100_000, groupMax = 1000, turns = new Turns() } = options;
    this.#on = on;
    this.#turns = turns;
    this.#waitingMax = waitingMax;
    this.#groupMax = groupMax;
  }

  /** Settles with the commit that runs now; undefined when none runs. */
  get committing(): Promise<void> | undefined {
    return this.#committing;
  }

  /**
   * Queues a step, which hands its changes to `write`. Resolves with what the step returned once its group is
   * committed. Rejects with what the step or the commit threw, and with HUB_UNAVAILABLE when too many steps wait.
   */
  run<Result>(step: Step<Change, Result>): Promise<Result> {
    if (this.#waiting.length >= this.#waitingMax) return Promise.reject(full(this.#waiting.length));
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.#waiting.push({ step, resolve: resolve as (result: unknown) => void, reject });
    // A microtask later, so that steps queued by one piece of code form one group.
    if (!this.#busy) {
      this.#busy = true;
      queueMicrotask(() => void this.#drain());
    }
    return promise;
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = new Group<Change>(this.#on);
      this.#committing = this.#perform(group, this.#waiting.splice(0, this.#groupMax));
      // The failure is answered to each step; here it only ends the wait.
      await this.#committing.catch(() => undefined);
      this.#committing = undefined;
      group.answer();
    }
    this.#busy = false;
  }

  async #perform(group: Group<Change>, steps: readonly Waiting<Change>[]): Promise<void> {
    let isLong = false;
    let begun = this.#turns.begin();
    for (const step of steps) {
      group.take(step);
      if (!this.#turns.isLong(begun)) continue;
      isLong = true;
      await this.#turns.next();
      begun = this.#turns.begin();
    }
    try {
      await group.commit();
      if (isLong) await this.#turns.next();
      group.tell();
    } finally {
      if (isLong) await this.#turns.next();
    }
  }
}

export interface ChangeQueueOptions {
  /** Steps that may wait; 100,000 when left out. */
  readonly waitingMax?: number;
  /** The most that share a transaction; 1,000 when left out. */
  readonly groupMax?: number;
  /** For groups that take long; own ones when left out. */
  readonly turns?: Turns;
}

export interface ChangeHandlers<Change> {
  /** Applies a change in memory; returns how to take it back. */
  apply(change: Change): () => void;
  /** Keeps the changes, all or none. */
  commit(changes: readonly Change[]): Promise<void>;
  committed(changes: readonly Change[]): void;
}

export type Step<Change, Result> = (write: (change: Change) => void) => Result;

interface Waiting<Change> {
  readonly step: Step<Change, unknown>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** The steps that share one transaction. */
class Group<Change> {
  readonly #on: ChangeHandlers<Change>;
  readonly #changes: Change[] = [];
  readonly #undos: (() => void)[] = [];
  readonly #refusals: (() => void)[] = [];
  readonly #answers: { readonly done: () => void; readonly failed: (error: unknown) => void }[] = [];
  #failure: { readonly error: unknown } | undefined;

  constructor(on: ChangeHandlers<Change>) {
    this.#on = on;
  }

  take({ step, resolve, reject }: Waiting<Change>): void {
    const start = this.#changes.length;
    try {
      const result = step((change) => {
        this.#undos.push(this.#on.apply(change));
        this.#changes.push(change);
      });
      this.#answers.push({ done: () => resolve(result), failed: reject });
    } catch (error) {
      this.#undoFrom(start);
      this.#refusals.push(() => reject(error));
    }
  }

  async commit(): Promise<void> {
    if (this.#changes.length === 0) return;
    try {
      await this.#on.commit(this.#changes);
    } catch (error) {
      this.#failure = { error };
      this.#undoFrom(0);
      throw error;
    }
  }

  tell(): void {
    if (this.#changes.length === 0) return;
    try {
      this.#on.committed(this.#changes);
    } catch (error) {
      // The changes are kept and stay; whoever asked for them learns that not everybody was told.
      this.#failure = { error };
      throw error;
    }
  }

  answer(): void {
    for (const refuse of this.#refusals) refuse();
    for (const { done, failed } of this.#answers) {
      if (this.#failure === undefined) done();
      else failed(this.#failure.error);
    }
  }

  #undoFrom(start: number): void {
    while (this.#undos.length > start) this.#undos.pop()?.();
    this.#changes.length = start;
  }
}

function full(waiting: number): HubError {
  return new HubError('HUB_UNAVAILABLE', `Cannot change entities now: ${waiting} changes are waiting already`);
}
