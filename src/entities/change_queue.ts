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
 *
 * Where hubs share a log, a group may be overtaken: a record of the log has come first (`overtake`). Then the changes of
 * the group are taken back, the record is applied, and when the commit has said so too, the steps run anew on what the
 * record has made of the state. Only what a step does in its last run counts. Until it begins memory has what the log
 * has, and nothing else.
 *
 *   the group is  signal                          next
 *   ------------  ------------------------------  -------------------------------------------------------
 *   performing    all steps have run              committing; kept, where nothing has changed
 *   performing    overtake                        performing, from the first step on: taken back before
 *   committing    overtake                        overtaken: taken back before
 *   committing    kept, or the commit resolves    kept: everybody is told
 *   committing    the commit rejects              failed: taken back
 *   overtaken     the commit says 'overtaken'     performing, from the first step on
 *   overtaken     the commit rejects              failed
 *   kept          overtake                        kept: whatever comes is behind its changes
 *   kept          the commit resolves or rejects  kept: the steps are answered
 *
 * A step may therefore run several times: what it changes besides handing changes to `write` it must change anew.
 *
 * Steps that are kept together or not at all are a group of their own, which is prepared first (`runTogether`), and again
 * whenever it was overtaken. Nothing else changes while that goes on. If one of them throws, none of them has done anything.
 */
export class ChangeQueue<Change> {
  readonly #on: ChangeHandlers<Change>;
  readonly #waitingMax: number;
  readonly #groupMax: number;
  readonly #turns: Turns;
  #waiting: (Waiting<Change> | Together<Change>)[] = [];
  #busy = false;
  /** The one that is not answered yet. */
  #group: Group<Change> | undefined;
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
    this.#wait({ step, resolve: resolve as (result: unknown) => void, reject });
    return promise;
  }

  /**
   * Queues steps that are kept all or none, in a transaction of their own. `prepare` says what they are when their turn has
   * come: from then on nothing else changes until they are kept, unless they are overtaken, and then it is asked again.
   * Resolves with what was prepared. Rejects with what `prepare`, a step or the commit threw, and with HUB_UNAVAILABLE when
   * they were overtaken too often, or too many steps wait.
   */
  runTogether<Kept extends Prepared<Change>>(prepare: () => Promise<Kept>): Promise<Kept> {
    if (this.#waiting.length >= this.#waitingMax) return Promise.reject(full(this.#waiting.length));
    const { promise, resolve, reject } = Promise.withResolvers<Kept>();
    this.#wait({ prepare, resolve: resolve as (result: unknown) => void, reject });
    return promise;
  }

  /**
   * The changes that are being committed are kept, as the log says before the commit resolves. Tells everybody at once, so
   * that what comes behind them is told behind them. Throws where nothing is being committed.
   */
  kept(): void {
    if (this.#group?.keep() !== true) throw new Error('Cannot keep changes: none are being committed');
    this.#group.tell();
  }

  /**
   * Applies what has come first. What `apply` changes is behind all that was kept, and before all that was not, which is
   * taken back meanwhile. To be called for each record of the log that is not of the running commit, also for one that
   * changes nothing here.
   */
  overtake(apply: () => void): void {
    this.#group?.overtake();
    apply();
  }

  #wait(waiting: Waiting<Change> | Together<Change>): void {
    this.#waiting.push(waiting);
    if (this.#busy) return;
    this.#busy = true;
    // A microtask later, so that steps queued by one piece of code form one group.
    queueMicrotask(() => void this.#drain());
  }

  /** Takes the steps that share the next transaction. */
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
      // The failure is answered to each step; here it only ends the wait.
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
    if (isLong && group.isUntold) await this.#turns.next();
    while (group.tell(TOLD_AT_ONCE)) await this.#turns.next();
    if (isLong) await this.#turns.next();
    if (group.failure !== undefined) throw group.failure.error;
  }
}

/** So often a group may be overtaken before it gives up half of its steps each time. */
const OVERTAKEN_MAX = 3;
/** And so often one whose steps are kept together, before it gives up. */
const PREPARED_MAX = 10;
/** Everybody is told of that many changes in a turn. */
const TOLD_AT_ONCE = 1000;

export interface ChangeQueueOptions {
  /** Steps that may wait; 100,000 when left out. */
  readonly waitingMax?: number;
  /** The most that share a transaction; 1,000 when left out. */
  readonly groupMax?: number;
  /** For groups that take long; own ones when left out. */
  readonly turns?: Turns;
}

/**
 * Resolves when the changes are kept, or with `overtaken` when they never will be, since something else came first, of
 * which `overtake` was told. Rejects with whatever the steps are to be answered.
 */
export type Committing = Promise<void> | Promise<Overtaken | undefined>;
type Overtaken = 'overtaken';

export interface ChangeHandlers<Change> {
  /** Applies a change in memory; returns how to take it back. */
  apply(change: Change): () => void;
  /** Keeps the changes, all or none. `prepared`: what the steps are of, where they are kept together. */
  commit(changes: readonly Change[], prepared: Prepared<Change> | undefined): Committing;
  /** Tells of changes that are kept, in their order: of many in several calls. */
  committed(changes: readonly Change[]): void;
  /** All changes of a group are taken back, and its steps will run anew. */
  takenBack?(): void;
}

export type Step<Change, Result> = (write: (change: Change) => void) => Result;

/** Steps that are kept together. */
export interface Prepared<Change> {
  readonly steps: readonly Step<Change, unknown>[];
}

interface Together<Change> {
  readonly prepare: () => Promise<Prepared<Change>>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface Waiting<Change> {
  readonly step: Step<Change, unknown>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** The steps that share one transaction. */
class Group<Change> {
  readonly #on: ChangeHandlers<Change>;
  #steps: Waiting<Change>[];
  /** Where the steps are kept together: who prepares them, and what was prepared. */
  readonly #together: Together<Change> | undefined;
  #prepared: Prepared<Change> | undefined;
  #at: 'performing' | 'committing' | 'overtaken' | 'kept' | 'failed' = 'performing';
  #performed = 0;
  #changes: Change[] = [];
  #undos: (() => void)[] = [];
  #refusals: (() => void)[] = [];
  #answers: { readonly done: () => void; readonly failed: (error: unknown) => void }[] = [];
  #failure: { readonly error: unknown } | undefined;
  #told = 0;
  #timesTakenBack = 0;

  constructor(on: ChangeHandlers<Change>, steps: Waiting<Change>[], together?: Together<Change>) {
    this.#on = on;
    this.#steps = steps;
    this.#together = together;
  }

  get failure(): { readonly error: unknown } | undefined {
    return this.#failure;
  }

  get isUntold(): boolean {
    return this.#at === 'kept' && this.#told < this.#changes.length;
  }

  /** Whether it is not known yet what the steps are. */
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
   * The last steps of a group that is overtaken again and again, which it does without: whoever takes longer than others
   * to perform a group would always be late.
   */
  shed(): readonly Waiting<Change>[] {
    if (this.#together !== undefined || this.#timesTakenBack < OVERTAKEN_MAX || this.#performed > 0) return [];
    return this.#steps.splice(Math.ceil(this.#steps.length / 2));
  }

  /** Runs the next step. False when all have run. */
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

  /** The changes stay. False where none are being committed. */
  keep(): boolean {
    if (this.#at !== 'committing') return false;
    this.#at = 'kept';
    return true;
  }

  /** Takes the changes back, unless they are kept. */
  overtake(): void {
    switch (this.#at) {
      case 'performing':
        this.#takeBack();
        this.#begin();
        return;
      case 'committing':
        this.#takeBack();
        // What the steps have come to is needed still, where the commit fails.
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

  /** Tells of so many changes more, by default of all. Returns whether there are others. */
  tell(count: number = Number.POSITIVE_INFINITY): boolean {
    if (!this.isUntold) return false;
    const changes = this.#changes.slice(this.#told, this.#told + count);
    this.#told += changes.length;
    try {
      this.#on.committed(changes);
    } catch (error) {
      // The changes are kept and stay; whoever asked for them learns that not everybody was told.
      this.#failure = { error };
    }
    return this.isUntold;
  }

  answer(): void {
    for (const refuse of this.#refusals) refuse();
    for (const { done, failed } of this.#answers) {
      if (this.#failure === undefined) done();
      else failed(this.#failure.error);
    }
  }

  #beginAnew(): void {
    if (this.#at === 'kept') throw new Error('Cannot perform changes anew: they are kept');
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

  /** Of steps that are kept together none does anything. */
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

  /** The commit goes on with the changes as they were. */
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
  return new HubError('HUB_UNAVAILABLE', `Cannot change entities together: others came first ${times} times`);
}

function full(waiting: number): HubError {
  return new HubError('HUB_UNAVAILABLE', `Cannot change entities now: ${waiting} changes are waiting already`);
}
