import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { Entities, Kind } from '../hub/entity_kinds.ts';
import { createEntity, type Draft, patchEntity } from '../hub/rest.ts';
import type { KeptDraft } from '../hub/saved_drafts.ts';
import { equal } from '../json/equal.ts';
import { type Problems, problemsOf } from './draft_problems.ts';
import {
  type Answers,
  changesBetween,
  type DraftChanges,
  isUndecided,
  keyOf,
  type MemberChange,
  type Members,
  memberChanges,
  set,
  type ThreeVersions,
  type Whose,
  withMember,
} from './member_changes.ts';

/** Steps back that are kept. */
const PAST_MAX = 200;

const NO_PROBLEMS: Problems = new Map();

/** Members to be changed; undefined takes one away. */
export type Patch<K extends Kind> = { readonly [F in keyof Draft<K>]?: Draft<K>[F] | undefined };

/** What is seen of a draft by whatever edits one of its members. */
export interface AnyDraft {
  readonly value: ReadonlySignal<object>;
  /** Why the hub did not take it. */
  readonly error: ReadonlySignal<unknown>;
  /** What can be said against it without asking the hub; nothing before somebody has tried to save it. */
  readonly found: ReadonlySignal<Problems>;
  change(patch: object, step?: string): void;
  /** Says what is wrong with a text that cannot even be sent; undefined when it is right again. */
  blame(field: string, problem: string | undefined): void;
  /** Returns an answer of the hub's that the draft will take a part from, and lets nobody save it before. */
  await<T>(part: Promise<T>): Promise<T>;
}

/** The version of the hub's that a draft was last compared with, other than by a change event. */
interface ReadAgain<K extends Kind> {
  readonly theirs: Entities[K];
  /** The newest version that was known then: with a newer one, this one is old. */
  readonly after: Entities[K] | undefined;
}

/**
 * An entity while it is being edited, with all steps that lead back. What is not changed here stays as it is in the hub.
 */
export class EntityDraft<K extends Kind> implements AnyDraft {
  readonly kind: K;
  readonly value: Signal<Draft<K>>;
  readonly error = signal<unknown>(undefined);
  readonly isSaving = signal(false);
  /** A part of it is being worked out by the hub; it is not to be saved without it. */
  readonly isAwaited: ReadonlySignal<boolean>;
  readonly canUndo: ReadonlySignal<boolean>;
  readonly canRedo: ReadonlySignal<boolean>;
  readonly isChanged: ReadonlySignal<boolean>;
  readonly problems = signal<ReadonlyMap<string, string>>(new Map());
  readonly found: ReadonlySignal<Problems>;
  /** What the hub has; undefined for what is not created yet. */
  readonly kept: Signal<Entities[K] | undefined>;
  /** The last version of the hub's that was taken over here, or that was replaced knowingly. */
  seen: Entities[K] | undefined;
  /** What was left unsaved of it before the page was loaded, and may be taken up again. */
  readonly offered = signal<KeptDraft | undefined>(undefined);
  /** The newest version of the hub's. */
  latest: Entities[K] | undefined;
  readonly #first: Signal<Draft<K>>;
  readonly #past = signal<readonly Draft<K>[]>([]);
  readonly #future = signal<readonly Draft<K>[]>([]);
  readonly #awaited = signal(0);
  readonly #answers = signal<Answers>(new Map());
  readonly #readAgain = signal<ReadAgain<K> | undefined>(undefined);
  /** Whoever has just begun is not told of what is still to come. */
  readonly #isTried = signal(false);
  #lastStep: string | undefined;

  constructor(kind: K, { kept, first }: { readonly kept?: Entities[K] | undefined; readonly first?: Draft<K> }) {
    this.kind = kind;
    const begin = kept === undefined ? (first ?? ({} as Draft<K>)) : withoutShown(kept);
    this.kept = signal(kept);
    this.seen = kept;
    this.latest = kept;
    this.value = signal(begin);
    this.#first = signal(begin);
    this.canUndo = computed(() => this.#past.value.length > 0);
    this.canRedo = computed(() => this.#future.value.length > 0);
    this.isAwaited = computed(() => this.#awaited.value > 0);
    this.found = computed(() => (this.#isTried.value ? problemsOf(kind, this.value.value) : NO_PROBLEMS));
    this.isChanged = computed(() => !equal(this.value.value, this.#first.value));
  }

  /**
   * Changes members; undefined takes one away. Changes that follow each other with the same `step`, such as the letters
   * of a word, are taken back together.
   */
  change(patch: Patch<K>, step?: string): void {
    const next: Record<string, unknown> = { ...this.value.peek() };
    for (const [name, value] of Object.entries(patch)) {
      if (value === undefined) delete next[name];
      else next[name] = value;
    }
    if (equal(next, this.value.peek())) return;
    const continues = step !== undefined && step === this.#lastStep && this.#past.peek().length > 0;
    if (!continues) this.#past.value = [...this.#past.peek().slice(-PAST_MAX), this.value.peek()];
    this.#lastStep = step;
    this.#future.value = [];
    this.value.value = next as Draft<K>;
    this.#forgive(Object.keys(patch));
  }

  undo(): void {
    const before = this.#past.peek().at(-1);
    if (before === undefined) return;
    this.#past.value = this.#past.peek().slice(0, -1);
    this.#future.value = [...this.#future.peek(), this.value.peek()];
    this.#go(before);
  }

  redo(): void {
    const after = this.#future.peek().at(-1);
    if (after === undefined) return;
    this.#future.value = this.#future.peek().slice(0, -1);
    this.#past.value = [...this.#past.peek(), this.value.peek()];
    this.#go(after);
  }

  blame(field: string, problem: string | undefined): void {
    if (this.problems.peek().get(field) === problem) return;
    const next = new Map(this.problems.peek());
    if (problem === undefined) next.delete(field);
    else next.set(field, problem);
    this.problems.value = next;
  }

  /** What the hub has, where `stored` is what its events have told: the answer to a question may be newer. */
  newest(stored: Entities[K] | undefined): Entities[K] | undefined {
    if (stored !== undefined) this.latest = stored;
    const read = this.#readAgain.value;
    return stored !== undefined && read?.after === stored ? read.theirs : stored;
  }

  /** What somebody else has made of the members since they were taken over here, and what was made of them here. */
  changesOf(theirs: Entities[K]): readonly MemberChange[] {
    const three = { first: this.#first.value, mine: this.value.value, theirs: withoutShown(theirs) };
    return memberChanges(three as ThreeVersions, this.#answers.value);
  }

  /** Keeps one of the two values of a member that was changed here and elsewhere. It can be undone, and chosen again. */
  choose(change: MemberChange, whose: Whose): void {
    this.#answers.value = new Map(this.#answers.peek()).set(keyOf(change.path), change);
    const value = withMember(this.value.peek() as Members, change.path, change[whose]);
    const [name = ''] = change.path;
    this.change({ [name]: value[name] } as Patch<K>);
  }

  /** What was changed here, in the form in which it can be kept elsewhere. */
  changed(): DraftChanges {
    return changesBetween(this.#first.value as Members, this.value.value as Members);
  }

  /** Takes up what was offered, or discards it. */
  takeOffer({ isDiscarded = false } = {}): void {
    const offered = this.offered.peek();
    if (offered !== undefined && !isDiscarded) this.restore(offered.changes);
    this.offered.value = undefined;
  }

  /** Changes what was changed before, on top of what the hub had then: what it has now by others is shown as theirs. */
  restore(changes: DraftChanges): void {
    const first: Record<string, unknown> = { ...this.#first.peek() };
    const next: Record<string, unknown> = { ...this.value.peek() };
    for (const [name, { was, is }] of Object.entries(changes)) {
      set(first, name, was);
      set(next, name, is);
    }
    this.#past.value = [...this.#past.peek().slice(-PAST_MAX), this.value.peek()];
    this.#future.value = [];
    if (this.kept.peek() !== undefined) {
      this.#first.value = first as Draft<K>;
      this.seen = undefined;
    }
    this.#go(next as Draft<K>);
  }

  /** Takes over what the hub has now. The way back stays open. */
  follow(kept: Entities[K]): void {
    this.kept.value = kept;
    this.seen = this.latest ?? kept;
    const next = withoutShown(kept);
    this.#first.value = next;
    this.#answers.value = new Map();
    this.#readAgain.value = undefined;
    if (!equal(next, this.value.peek())) this.#go(next);
  }

  /**
   * Creates the entity, or changes what was changed here; returns its id, or undefined where something is wrong with it:
   * `found` says what, all at once, or, where only the hub knows, `error`. What `read` says that the hub has is compared
   * first: where somebody else has changed what was changed here, and nobody has chosen, nothing is saved, and `newest`
   * has theirs. `alsoPlane` keeps a region in the plane of the draft, where it was kept in another.
   */
  async save({
    alsoPlane = false,
    read,
  }: {
    readonly alsoPlane?: boolean;
    readonly read?: () => Promise<Entities[K]>;
  } = {}): Promise<string | undefined> {
    const sent = this.value.peek();
    const kept = this.kept.peek();
    this.#isTried.value = true;
    if (this.found.peek().size > 0) return undefined;
    this.isSaving.value = true;
    try {
      if (kept === undefined) this.kept.value = await createEntity(this.kind, sent);
      else {
        const theirs = await read?.();
        if (theirs !== undefined && this.changesOf(theirs).some(isUndecided)) {
          this.#readAgain.value = { theirs, after: this.latest };
          return undefined;
        }
        this.seen = this.latest;
        await patchEntity(this.kind, kept.id, { before: this.#before(theirs), after: sent, alsoPlane });
        this.kept.value = { ...sent, id: kept.id } as Entities[K];
      }
      this.#first.value = sent;
      this.#answers.value = new Map();
      this.#readAgain.value = undefined;
      this.error.value = undefined;
      this.#isTried.value = false;
      return this.kept.peek()?.id;
    } catch (error) {
      this.error.value = error;
      return undefined;
    } finally {
      this.isSaving.value = false;
    }
  }

  /** What is to be changed into the draft: of members that somebody has chosen, the value that was chosen against. */
  #before(theirs: Entities[K] | undefined): Draft<K> {
    const first = this.#first.peek();
    if (theirs === undefined) return first;
    const chosen = this.changesOf(theirs).filter(({ isMine }) => isMine);
    return chosen.reduce(
      (before, change) => withMember(before, change.path, change.theirs),
      first as Members,
    ) as Draft<K>;
  }

  async await<T>(part: Promise<T>): Promise<T> {
    this.#awaited.value++;
    try {
      return await part;
    } finally {
      this.#awaited.value--;
    }
  }

  #go(to: Draft<K>): void {
    this.#lastStep = undefined;
    this.value.value = to;
    this.error.value = undefined;
  }

  /** A message about a member goes when the member is changed. */
  #forgive(names: readonly string[]): void {
    const { field } = (this.error.peek() ?? {}) as { readonly field?: string };
    if (field === undefined || names.some((name) => field === name || /^[.[]/.test(field.slice(name.length)))) {
      this.error.value = undefined;
    }
  }
}

/** Members that replies have and that cannot be set. */
function withoutShown<T extends object>(entity: T): T {
  const { children: _, ...rest } = entity as T & { readonly children?: unknown };
  return rest as unknown as T;
}

/** What an entity is called, if anything. */
export function nameOf(value: object): string | null {
  return (value as { readonly name?: string | null }).name ?? null;
}
