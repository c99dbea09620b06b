import { hubError, type HubError } from '../errors.ts';
import { TaskScheduler } from '../time/task_scheduler.ts';

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
 * the new state. Only the last run of a step counts. In between, memory contains exactly the state of the log.
 *
 *   the group is  signal                          next
 *   ------------  ------------------------------  -------------------------------------------------------
 *   performing    all steps have run              committing; kept, if nothing has changed
 *   performing    overtake                        performing from the first step, after a rollback
 *   committing    overtake                        overtaken, after a rollback
 *   committing    kept, or the commit resolves    kept: all listeners are notified
 *   committing    the commit rejects              failed: rolled back
 *   overtaken     the commit says 'overtaken'     performing from the first step
 *   overtaken     the commit rejects              failed
 *   kept          overtake                        kept: new records follow its changes
 *   kept          the commit resolves or rejects  kept: the steps are answered
 *
 * So a step may run several times, and must repeat its side effects besides `write`.
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
  #group: Group<Change> | undefined;
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
    if (this.#waiting.length >= this.#waitingMax) return Promise.reject(full(this.#waiting.length));
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.#wait({ step, resolve: resolve as (result: unknown) => void, reject });
    return promise;
  }

  /**
   * Queues atomic steps, in their own transaction. `prepare` returns them when it is their turn: from then on nothing
   * else changes until they are committed, unless they are overtaken and prepared again. Resolves with the prepared
   * value. Rejects with the error of `prepare`, a step or the commit, and with HUB_UNAVAILABLE if they were overtaken
   * too often, or too many steps wait.
   */
  runTogether<Kept extends Prepared<Change>>(prepare: () => Promise<Kept>): Promise<Kept> {
    if (this.#waiting.length >= this.#waitingMax) return Promise.reject(full(this.#waiting.length));
    const { promise, resolve, reject } = Promise.withResolvers<Kept>();
    this.#wait({ prepare, resolve: resolve as (result: unknown) => void, reject });
    return promise;
  }

  /**
   * Marks the changes being committed as committed, when the log confirms them before the commit resolves. Notifies all
   * listeners at once, to preserve the order of notifications. Throws if nothing is being committed.
   */
  kept(): void {
    if (this.#group?.keep() !== true) throw new Error('Cannot keep changes: none are being committed');
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

  #wait(waiting: Waiting<Change> | Together<Change>): void {
    this.#waiting.push(waiting);
    if (this.#busy) return;
    this.#busy = true;
    // Deferred by a microtask, so that steps queued by one piece of code form one group.
    queueMicrotask(() => void this.#drain());
  }

  /** Removes the steps of the next transaction from the queue. */
  #next(): Group<Change> {
    const [first] = this.#waiting;
    if (first !== undefined && 'prepare' in first) {
      this.#waiting.shift();
      return new Group<Change>(this.#on, [], first);
    }
    const together = this.#waiting.findIndex((waiting) => 'prepare' in waiting);
    const count = Math.min(this.#groupMax, together === -1 ? this.#groupMax : together);
    return new Group<Change>(this.#on, this.#waiting.splice(0, count) as Waiting<Change>[]);
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

  async #perform(group: Group<Change>): Promise<void> {
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

/** Number of times a group may be overtaken before it sheds half of its steps each time. */
const OVERTAKEN_MAX = 3;
/** Number of times an atomic group may be overtaken before it fails. */
const PREPARED_MAX = 10;
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

/**
 * Resolves when the changes are committed, or with `overtaken` if another record came first (see `overtake`). Rejects
 * with the error for the steps.
 */
export type Committing = Promise<void> | Promise<Overtaken | undefined>;
type Overtaken = 'overtaken';

export interface ChangeHandlers<Change> {
  /** Applies a change in memory; returns a function that rolls it back. */
  apply(change: Change): () => void;
  /** Commits the changes atomically. `prepared`: the origin of atomic steps. */
  commit(changes: readonly Change[], prepared: Prepared<Change> | undefined): Committing;
  /** Notifies of committed changes in order; several calls for many changes. */
  committed(changes: readonly Change[]): void;
  /** Called when all changes of a group are rolled back and its steps will run again. */
  takenBack?(): void;
}

export type ChangeStep<Change, Result> = (write: (change: Change) => void) => Result;

/** Atomic steps. */
export interface Prepared<Change> {
  readonly steps: readonly ChangeStep<Change, unknown>[];
}

interface Together<Change> {
  readonly prepare: () => Promise<Prepared<Change>>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface Waiting<Change> {
  readonly step: ChangeStep<Change, unknown>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** The steps of one transaction. */
class Group<Change> {
  readonly #on: ChangeHandlers<Change>;
  #steps: Waiting<Change>[];
  /** For atomic steps: their preparation and its result. */
  readonly #together: Together<Change> | undefined;
  #prepared: Prepared<Change> | undefined;
  #at: 'performing' | 'committing' | 'overtaken' | 'kept' | 'failed' = 'performing';
  #performed = 0;
  #changes: Change[] = [];
  #undos: (() => void)[] = [];
  #refusals: (() => void)[] = [];
  #answers: { readonly done: () => void; readonly failed: (error: unknown) => void }[] = [];
  #failure: { readonly error: unknown } | undefined;
  #reported = 0;
  #timesTakenBack = 0;

  constructor(on: ChangeHandlers<Change>, steps: Waiting<Change>[], together?: Together<Change>) {
    this.#on = on;
    this.#steps = steps;
    this.#together = together;
  }

  get failure(): { readonly error: unknown } | undefined {
    return this.#failure;
  }

  get hasUnreported(): boolean {
    return this.#at === 'kept' && this.#reported < this.#changes.length;
  }

  /** Whether the steps are not known yet. */
  get isUnprepared(): boolean {
    return this.#together !== undefined && this.#prepared === undefined && this.#refusals.length === 0;
  }

  async prepare(): Promise<void> {
    const together = this.#together;
    while (together !== undefined && this.isUnprepared) {
      const before = this.#timesTakenBack;
      try {
        if (before > PREPARED_MAX) throw overtaken(before);
        const prepared = await together.prepare();
        if (this.#timesTakenBack !== before) continue;
        this.#prepared = prepared;
        this.#steps = prepared.steps.map((step) => ({ step, resolve: ignore, reject: ignore }));
        this.#answers = [{ done: () => together.resolve(prepared), failed: together.reject }];
      } catch (error) {
        if (this.#timesTakenBack === before || before > PREPARED_MAX) this.#refuse(error);
      }
    }
  }

  /**
   * Removes the last steps of a group that is overtaken repeatedly. Otherwise a hub slower than the others would never
   * commit it.
   */
  shed(): readonly Waiting<Change>[] {
    if (this.#together !== undefined || this.#timesTakenBack < OVERTAKEN_MAX || this.#performed > 0) return [];
    return this.#steps.splice(Math.ceil(this.#steps.length / 2));
  }

  /** Runs the next step. Returns false if all have run. */
  performNext(): boolean {
    const next = this.#steps[this.#performed];
    if (next === undefined) return false;
    this.#performed++;
    this.#perform(next);
    return true;
  }

  async commit(): Promise<Overtaken | undefined> {
    this.#at = 'committing';
    try {
      const outcome = this.#changes.length === 0 ? undefined : await this.#on.commit(this.#changes, this.#prepared);
      if (outcome === 'overtaken') {
        this.#beginAnew();
        return outcome;
      }
      this.#committed();
    } catch (error) {
      this.#fail(error);
    }
    return undefined;
  }

  /** Marks the changes as committed. Returns false if none are being committed. */
  keep(): boolean {
    if (this.#at !== 'committing') return false;
    this.#at = 'kept';
    return true;
  }

  /** Rolls the changes back, unless they are committed. */
  overtake(): void {
    switch (this.#at) {
      case 'performing':
        this.#takeBack();
        this.#begin();
        return;
      case 'committing':
        this.#takeBack();
        // The results of the steps are still needed if the commit fails.
        this.#at = 'overtaken';
        return;
      case 'kept':
        this.tell();
        return;
      case 'overtaken':
      case 'failed':
        return;
    }
  }

  /** Notifies of the next `count` changes, by default of all. Returns whether more remain. */
  tell(count: number = Number.POSITIVE_INFINITY): boolean {
    if (!this.hasUnreported) return false;
    const changes = this.#changes.slice(this.#reported, this.#reported + count);
    this.#reported += changes.length;
    try {
      this.#on.committed(changes);
    } catch (error) {
      // The changes stay committed; the caller learns that a listener failed.
      this.#failure = { error };
    }
    return this.hasUnreported;
  }

  answer(): void {
    for (const refuse of this.#refusals) refuse();
    for (const { done, failed } of this.#answers) {
      if (this.#failure === undefined) done();
      else failed(this.#failure.error);
    }
  }

  #beginAnew(): void {
    if (this.#at === 'kept') throw new Error('Cannot perform changes again: they are committed');
    this.overtake();
    this.#begin();
  }

  #begin(): void {
    this.#at = 'performing';
    this.#performed = 0;
    this.#refusals = [];
    this.#answers = [];
    this.#prepared = undefined;
    if (this.#together !== undefined) this.#steps = [];
  }

  /** Fails all atomic steps. */
  #refuse(error: unknown): void {
    this.#undoFrom(0);
    this.#steps = [];
    this.#answers = [];
    this.#refusals = [() => this.#together?.reject(error)];
  }

  #perform({ step, resolve, reject }: Waiting<Change>): void {
    const start = this.#changes.length;
    try {
      const result = step((change) => {
        this.#undos.push(this.#on.apply(change));
        this.#changes.push(change);
      });
      this.#answers.push({ done: () => resolve(result), failed: reject });
    } catch (error) {
      this.#undoFrom(start);
      if (this.#together === undefined) this.#refusals.push(() => reject(error));
      else this.#refuse(error);
    }
  }

  #committed(): void {
    if (this.#at === 'kept' || this.keep()) return;
    throw new Error(`Cannot keep changes: they are ${this.#at}`);
  }

  #fail(error: unknown): void {
    this.#failure = { error };
    if (this.#at === 'kept') return;
    this.#undoFrom(0);
    this.#at = 'failed';
  }

  /** Rolls the changes back; the commit continues with the original ones. */
  #takeBack(): void {
    this.#timesTakenBack++;
    this.#changes = [];
    while (this.#undos.length > 0) this.#undos.pop()?.();
    this.#on.takenBack?.();
  }

  #undoFrom(start: number): void {
    while (this.#undos.length > start) this.#undos.pop()?.();
    this.#changes.length = start;
  }
}

const ignore = (): void => undefined;

function overtaken(times: number): HubError {
  return hubError('changes_outrun', { count: times });
}

function full(waiting: number): HubError {
  return hubError('too_many_waiting', { operation: 'change_entities', count: waiting });
}
