import { hubError } from '../errors.ts';
import { TaskScheduler } from '../time/task_scheduler.ts';
import {
  ChangeGroup,
  type ChangeHandlers,
  type ChangeStep,
  type Prepared,
  type Together,
  type Waiting,
} from './change_group.ts';

/**
 * Serializes all changes and commits them in groups.
 *
 * A step checks and applies its changes at once, in memory. Steps that wait during a commit become the next group and
 * share one transaction. If a step throws, its own changes are rolled back and it fails alone. If the commit fails, the
 * changes of the whole group are rolled back in reverse order and every step of it fails. No step is answered before
 * the commit, so no reply describes a state that is rolled back later. Long groups yield to the event loop.
 *
 * If hubs share a log, a group may be overtaken: another record of the log comes first (`overtake`). Then the changes
 * of the group are rolled back and the record is applied. When the commit has confirmed that, the steps run again on
 * the new state (change_group.ts). Only the last run of a step counts. In between, memory contains exactly the state of
 * the log.
 *
 * Atomic steps form their own group, which is prepared first (`runTogether`), and again whenever it was overtaken. No
 * other changes happen in the meantime. If one of them throws, none has any effect.
 */
export class ChangeQueue<Change> {
  readonly #on: ChangeHandlers<Change>;
  readonly #waitingMax: number;
  readonly #groupMax: number;
  readonly #turns: TaskScheduler;
  #waiting: (Waiting<Change> | Together<Change>)[] = [];
  #busy = false;
  /** The group that is not answered yet. */
  #group: ChangeGroup<Change> | undefined;
  #committing: Promise<void> | undefined;

  constructor(on: ChangeHandlers<Change>, options: ChangeQueueOptions = {}) {
    const { waitingMax = 100_000, groupMax = 1000, turns = new TaskScheduler() } = options;
    this.#on = on;
    this.#turns = turns;
    this.#waitingMax = waitingMax;
    this.#groupMax = groupMax;
  }

  /** Settles with the current commit; undefined without one. */
  get committing(): Promise<void> | undefined {
    return this.#committing;
  }

  /**
   * Queues a step, which passes its changes to `write`. Resolves with the result of the step when its group is
   * committed. Rejects with the error of the step or the commit, and with HUB_UNAVAILABLE if too many steps wait.
   */
  run<Result>(step: ChangeStep<Change, Result>): Promise<Result> {
    return this.#wait({ step });
  }

  /**
   * Queues atomic steps, in their own transaction. `prepare` returns them when it is their turn: from then on nothing
   * else changes until they are committed, unless they are overtaken and prepared again. Resolves with the prepared
   * value. Rejects with the error of `prepare`, a step or the commit, and with HUB_UNAVAILABLE if they were overtaken
   * too often, or too many steps wait.
   */
  runTogether<Kept extends Prepared<Change>>(prepare: () => Promise<Kept>): Promise<Kept> {
    return this.#wait({ prepare });
  }

  /**
   * Marks the changes being committed as committed, when the log confirms them before the commit resolves. Notifies all
   * listeners at once, to preserve the order of notifications. Throws if nothing is being committed.
   */
  committed(): void {
    if (this.#group?.confirm() !== true) throw new Error('Cannot confirm changes: none are being committed');
    this.#group.tell();
  }

  /**
   * Applies a record that came first. Its changes follow everything committed, and precede uncommitted changes, which
   * are rolled back meanwhile. Call it for each record of the log that is not of the current commit, even if it changes
   * nothing here.
   */
  overtake(apply: () => void): void {
    this.#group?.overtake();
    apply();
  }

  #wait<Result>(work: Pick<Waiting<Change>, 'step'> | Pick<Together<Change>, 'prepare'>): Promise<Result> {
    const count = this.#waiting.length;
    if (count >= this.#waitingMax) {
      return Promise.reject(hubError('too_many_waiting', { operation: 'change_entities', count }));
    }
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.#waiting.push({ ...work, resolve: resolve as (result: unknown) => void, reject });
    if (this.#busy) return promise;
    this.#busy = true;
    // Deferred by a microtask, so that steps queued by one piece of code form one group.
    queueMicrotask(() => void this.#drain());
    return promise;
  }

  /** Removes the steps of the next transaction from the queue. */
  #next(): ChangeGroup<Change> {
    const [first] = this.#waiting;
    if (first !== undefined && 'prepare' in first) {
      this.#waiting.shift();
      return new ChangeGroup<Change>(this.#on, [], first);
    }
    const together = this.#waiting.findIndex((waiting) => 'prepare' in waiting);
    const count = Math.min(this.#groupMax, together === -1 ? this.#groupMax : together);
    return new ChangeGroup<Change>(this.#on, this.#waiting.splice(0, count) as Waiting<Change>[]);
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#next();
      this.#group = group;
      this.#committing = this.#perform(group);
      // Each step receives the failure; here it only ends the wait.
      await this.#committing.catch(() => undefined);
      this.#committing = undefined;
      this.#group = undefined;
      group.answer();
    }
    this.#busy = false;
  }

  async #perform(group: ChangeGroup<Change>): Promise<void> {
    let isLong = false;
    do {
      this.#waiting.unshift(...group.shed());
      if (group.isUnprepared) await group.prepare();
      let begun = this.#turns.begin();
      while (group.performNext()) {
        if (!this.#turns.isLong(begun)) continue;
        isLong = true;
        await this.#turns.next();
        this.#waiting.unshift(...group.shed());
        if (group.isUnprepared) await group.prepare();
        begun = this.#turns.begin();
      }
    } while ((await group.commit()) === 'overtaken');
    if (isLong && group.hasUnreported) await this.#turns.next();
    while (group.tell(NOTIFIED_AT_ONCE)) await this.#turns.next();
    if (isLong) await this.#turns.next();
    if (group.failure !== undefined) throw group.failure.error;
  }
}

/** Number of changes per notification between yields. */
const NOTIFIED_AT_ONCE = 1000;

export interface ChangeQueueOptions {
  /** Maximum number of waiting steps; default: 100,000. */
  readonly waitingMax?: number;
  /** Maximum number of steps per transaction; default: 1,000. */
  readonly groupMax?: number;
  /** Scheduler of long groups; default: a separate one. */
  readonly turns?: TaskScheduler;
}
