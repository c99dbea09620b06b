import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { Entities, Kind } from '../hub/entity_kinds.ts';
import { createEntity, type Draft, patchEntity } from '../hub/rest.ts';
import type { SavedDraft } from '../hub/saved_drafts.ts';
import { equal } from '../json/equal.ts';
import { type Problems, problemsOf } from './draft_problems.ts';
import {
  type Resolutions,
  changesBetween,
  type DraftChanges,
  isUndecided,
  keyOf,
  type RemoteChange,
  type DraftMembers,
  memberChanges,
  set,
  type ThreeVersions,
  type ConflictSide,
  withMember,
} from './member_changes.ts';
import { UndoHistory } from './undo_history.ts';

const NO_PROBLEMS: Problems = new Map();

/** Members to change; undefined removes a member. */
export type Patch<K extends Kind> = { readonly [F in keyof Draft<K>]?: Draft<K>[F] | undefined };

/** Draft as seen by editors of single members. */
export interface AnyDraft {
  readonly value: ReadonlySignal<object>;
  /** Error with which the hub rejected it. */
  readonly error: ReadonlySignal<unknown>;
  /** Problems detected by the page; empty until the first attempt to save. */
  readonly found: ReadonlySignal<Problems>;
  change(patch: object, step?: string): void;
  /** Sets the problem of an input that cannot be sent; undefined clears it. */
  blame(field: string, problem: string | undefined): void;
  /** Blocks saving until a pending response of the hub has arrived that completes the draft. Returns the response. */
  await<T>(part: Promise<T>): Promise<T>;
}

/** Version on the hub that was read for comparison, independently of change events. */
interface ReadAgain<K extends Kind> {
  readonly theirs: Entities[K];
  /** Newest version from events at that time: a newer event supersedes the read. */
  readonly after: Entities[K] | undefined;
}

/** Draft of an entity, with undo and redo. Saving changes only the edited members. */
export class EntityDraft<K extends Kind> implements AnyDraft {
  readonly kind: K;
  readonly value: ReadonlySignal<Draft<K>>;
  readonly error = signal<unknown>(undefined);
  readonly isSaving = signal(false);
  /** Whether a response of the hub is pending that completes the draft; saving waits for it. */
  readonly isAwaited: ReadonlySignal<boolean>;
  readonly canUndo: ReadonlySignal<boolean>;
  readonly canRedo: ReadonlySignal<boolean>;
  readonly isChanged: ReadonlySignal<boolean>;
  readonly problems = signal<ReadonlyMap<string, string>>(new Map());
  readonly found: ReadonlySignal<Problems>;
  /** Version on the hub; undefined for a new entity. */
  readonly saved: Signal<Entities[K] | undefined>;
  /** Last version of the hub that the user has adopted or knowingly overwritten. */
  seen: Entities[K] | undefined;
  /** Stored draft of an earlier visit that the user may restore. */
  readonly offered = signal<SavedDraft | undefined>(undefined);
  /** Newest version on the hub. */
  latest: Entities[K] | undefined;
  readonly #first: Signal<Draft<K>>;
  readonly #versions: UndoHistory<Draft<K>>;
  readonly #awaited = signal(0);
  readonly #resolutions = signal<Resolutions>(new Map());
  readonly #readAgain = signal<ReadAgain<K> | undefined>(undefined);
  /** Whether the user has tried to save. Before that, incomplete members are not reported. */
  readonly #isTried = signal(false);

  constructor(kind: K, { saved, first }: { readonly saved?: Entities[K] | undefined; readonly first?: Draft<K> }) {
    this.kind = kind;
    const begin = saved === undefined ? (first ?? ({} as Draft<K>)) : withoutReadOnly(saved);
    this.saved = signal(saved);
    this.seen = saved;
    this.latest = saved;
    this.#versions = new UndoHistory(begin);
    this.value = this.#versions.value;
    this.canUndo = this.#versions.canUndo;
    this.canRedo = this.#versions.canRedo;
    this.#first = signal(begin);
    this.isAwaited = computed(() => this.#awaited.value > 0);
    this.found = computed(() => (this.#isTried.value ? problemsOf(kind, this.value.value) : NO_PROBLEMS));
    this.isChanged = computed(() => !equal(this.value.value, this.#first.value));
  }

  /**
   * Changes members; undefined removes one. Consecutive changes with the same `step`, such as the letters of a word, are
   * one undo step.
   */
  change(patch: Patch<K>, step?: string): void {
    const next: Record<string, unknown> = { ...this.value.peek() };
    for (const [name, value] of Object.entries(patch)) {
      if (value === undefined) delete next[name];
      else next[name] = value;
    }
    if (equal(next, this.value.peek())) return;
    this.#versions.add(next as Draft<K>, step);
    this.#forgive(Object.keys(patch));
  }

  undo(): void {
    if (this.canUndo.peek()) this.error.value = undefined;
    this.#versions.undo();
  }

  redo(): void {
    if (this.canRedo.peek()) this.error.value = undefined;
    this.#versions.redo();
  }

  blame(field: string, problem: string | undefined): void {
    if (this.problems.peek().get(field) === problem) return;
    const next = new Map(this.problems.peek());
    if (problem === undefined) next.delete(field);
    else next.set(field, problem);
    this.problems.value = next;
  }

  /** Newest version on the hub. A read may be newer than `stored`, the version from change events. */
  newest(stored: Entities[K] | undefined): Entities[K] | undefined {
    if (stored !== undefined) this.latest = stored;
    const read = this.#readAgain.value;
    return stored !== undefined && read?.after === stored ? read.theirs : stored;
  }

  /** Members that another user has changed, with both values. */
  changesOf(theirs: Entities[K]): readonly RemoteChange[] {
    const three = { first: this.#first.value, mine: this.value.value, theirs: withoutReadOnly(theirs) };
    return memberChanges(three as ThreeVersions, this.#resolutions.value);
  }

  /** Resolves a conflict with one of the two values. The user can undo or change the choice. */
  choose(change: RemoteChange, whose: ConflictSide): void {
    this.#resolutions.value = new Map(this.#resolutions.peek()).set(keyOf(change.path), change);
    const value = withMember(this.value.peek() as DraftMembers, change.path, change[whose]);
    const [name = ''] = change.path;
    this.change({ [name]: value[name] } as Patch<K>);
  }

  /** Edits of this draft, in serializable form. */
  changed(): DraftChanges {
    return changesBetween(this.#first.value as DraftMembers, this.value.value as DraftMembers);
  }

  /** Restores the offered draft, or discards it. */
  takeOffer({ isDiscarded = false } = {}): void {
    const offered = this.offered.peek();
    if (offered !== undefined && !isDiscarded) this.restore(offered.changes);
    this.offered.value = undefined;
  }

  /** Reapplies stored edits to the version on which they were made. Changes since then appear as those of another user. */
  restore(changes: DraftChanges): void {
    const first: Record<string, unknown> = { ...this.#first.peek() };
    const next: Record<string, unknown> = { ...this.value.peek() };
    for (const [name, { was, is }] of Object.entries(changes)) {
      set(first, name, was);
      set(next, name, is);
    }
    if (this.saved.peek() !== undefined) {
      this.#first.value = first as Draft<K>;
      this.seen = undefined;
    }
    this.#versions.add(next as Draft<K>);
    this.error.value = undefined;
  }

  /** Adopts the hub's version; undo still works. */
  follow(saved: Entities[K]): void {
    this.saved.value = saved;
    this.seen = this.latest ?? saved;
    const next = withoutReadOnly(saved);
    this.#first.value = next;
    this.#resolutions.value = new Map();
    this.#readAgain.value = undefined;
    if (equal(next, this.value.peek())) return;
    this.#versions.replace(next);
    this.error.value = undefined;
  }

  /**
   * Creates the entity, or updates the edited members. Returns the id, or undefined if the draft is invalid: `found` then has
   * all problems, or `error` the one that only the hub can detect. `read` fetches the version on the hub first. If another user
   * has changed an edited member and the conflict is unresolved, nothing is saved and `newest` returns their version.
   * `alsoPlane` stores a region in the draft's plane even if the hub has it in another.
   */
  async save({
    alsoPlane = false,
    read,
  }: {
    readonly alsoPlane?: boolean;
    readonly read?: () => Promise<Entities[K]>;
  } = {}): Promise<string | undefined> {
    const sent = this.value.peek();
    const saved = this.saved.peek();
    this.#isTried.value = true;
    if (this.found.peek().size > 0) return undefined;
    this.isSaving.value = true;
    try {
      if (saved === undefined) this.saved.value = await createEntity(this.kind, sent);
      else {
        const theirs = await read?.();
        if (theirs !== undefined && this.changesOf(theirs).some(isUndecided)) {
          this.#readAgain.value = { theirs, after: this.latest };
          return undefined;
        }
        this.seen = this.latest;
        await patchEntity(this.kind, saved.id, { before: this.#before(theirs), after: sent, alsoPlane });
        this.saved.value = { ...sent, id: saved.id } as Entities[K];
      }
      this.#first.value = sent;
      this.#resolutions.value = new Map();
      this.#readAgain.value = undefined;
      this.error.value = undefined;
      this.#isTried.value = false;
      return this.saved.peek()?.id;
    } catch (error) {
      this.error.value = error;
      return undefined;
    } finally {
      this.isSaving.value = false;
    }
  }

  /** Base version of the update; resolved members have the value that the user decided against. */
  #before(theirs: Entities[K] | undefined): Draft<K> {
    const first = this.#first.peek();
    if (theirs === undefined) return first;
    const conflicts = this.changesOf(theirs).filter(({ isMine }) => isMine);
    return conflicts.reduce(
      (before, change) => withMember(before, change.path, change.theirs),
      first as DraftMembers,
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

  /** Clears the error of members that change. */
  #forgive(names: readonly string[]): void {
    const { field } = (this.error.peek() ?? {}) as { readonly field?: string };
    if (field === undefined || names.some((name) => field === name || /^[.[]/.test(field.slice(name.length)))) {
      this.error.value = undefined;
    }
  }
}

/** Removes read-only members, which requests must not contain. */
function withoutReadOnly<T extends object>(entity: T): T {
  const { children: _, ...rest } = entity as T & { readonly children?: unknown };
  return rest as unknown as T;
}

/** Name of an entity; null if it has none. */
export function nameOf(value: object): string | null {
  return (value as { readonly name?: string | null }).name ?? null;
}
