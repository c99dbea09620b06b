import { hubError } from '../errors.ts';

/** Number of times a group may be overtaken before it sheds half of its steps each time. */
const OVERTAKEN_MAX = 3;
/** Number of times an atomic group may be overtaken before it fails. */
const PREPARED_MAX = 10;

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

interface Answered {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Atomic steps that wait for their turn. */
export interface Together<Change> extends Answered {
  readonly prepare: () => Promise<Prepared<Change>>;
}

/** A step that waits for its turn. */
export interface Waiting<Change> extends Answered {
  readonly step: ChangeStep<Change, unknown>;
}

/**
 * The steps of one transaction, from their first run to the answers. Another record of a shared log may overtake it:
 *
 *   the group is  signal                          next
 *   ------------  ------------------------------  -------------------------------------------------------
 *   performing    all steps have run              committing; committed, if nothing has changed
 *   performing    overtake                        performing from the first step, after a rollback
 *   committing    overtake                        overtaken, after a rollback
 *   committing    confirm; the commit resolves    committed: all listeners are notified
 *   committing    the commit rejects              failed: rolled back
 *   overtaken     the commit says 'overtaken'     performing from the first step
 *   overtaken     the commit rejects              failed
 *   committed     overtake                        committed: new records follow its changes
 *   committed     the commit resolves or rejects  committed: the steps are answered
 *
 * So a step may run several times, and must repeat its side effects besides `write`.
 */
export class ChangeGroup<Change> {
  readonly #on: ChangeHandlers<Change>;
  #steps: Waiting<Change>[];
  /** For atomic steps: their preparation and its result. */
  readonly #together: Together<Change> | undefined;
  #prepared: Prepared<Change> | undefined;
  #at: 'performing' | 'committing' | 'overtaken' | 'committed' | 'failed' = 'performing';
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
    return this.#at === 'committed' && this.#reported < this.#changes.length;
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
        if (before > PREPARED_MAX) throw hubError('changes_outrun', { count: before });
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
        this.#restart();
        return outcome;
      }
      this.#committed();
    } catch (error) {
      this.#fail(error);
    }
    return undefined;
  }

  /** Marks the changes as committed. Returns false if none are being committed. */
  confirm(): boolean {
    if (this.#at !== 'committing') return false;
    this.#at = 'committed';
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
      case 'committed':
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

  /** Rolls the changes back, and begins with the first step. */
  #restart(): void {
    if (this.#at === 'committed') throw new Error('Cannot perform changes again: they are committed');
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
    if (this.#at === 'committed' || this.confirm()) return;
    throw new Error(`Cannot confirm changes: they are ${this.#at}`);
  }

  #fail(error: unknown): void {
    this.#failure = { error };
    if (this.#at === 'committed') return;
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
