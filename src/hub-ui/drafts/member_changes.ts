import { equal } from '../json/equal.ts';

/**
 * Three-way merge of an entity that two users have edited. Members merge as a whole, except for `properties`, which merge one
 * by one.
 */

export type DraftMembers = Readonly<Record<string, unknown>>;

export type ConflictSide = 'theirs' | 'mine';

/** Member that another user has changed. */
export interface RemoteChange {
  /** Name of the member, and of the property in it. */
  readonly path: readonly string[];
  readonly theirs: unknown;
  readonly mine: unknown;
  /** Whether this user has also changed it, to another value: a conflict. */
  readonly isMine: boolean;
  /** Side that the user has chosen; undefined while unresolved. */
  readonly whose: ConflictSide | undefined;
}

/** Resolved conflicts, by the keys of their paths. */
export type Resolutions = ReadonlyMap<string, RemoteChange>;

export interface ThreeVersions {
  /** Common base. */
  readonly first: DraftMembers;
  readonly mine: DraftMembers;
  readonly theirs: DraftMembers;
}

/** Edited members of a draft: old and new values. Absent values are undefined. */
export type DraftChanges = Readonly<Record<string, { readonly was?: unknown; readonly is?: unknown }>>;

/** Members that another user has changed, each with both values and the resolution. */
export function memberChanges(
  { first, mine, theirs }: ThreeVersions,
  resolutions: Resolutions,
): readonly RemoteChange[] {
  return namesOf(first, theirs).flatMap((name) => {
    const [was, is, their] = [first[name], mine[name], theirs[name]];
    if (name !== 'properties' || ![was, is, their].every(isObjectOrAbsent)) {
      return memberChange([name], { first: was, mine: is, theirs: their }, resolutions) ?? [];
    }
    const [from, here, there] = [was, is, their].map((value) => (value ?? {}) as DraftMembers) as [
      DraftMembers,
      DraftMembers,
      DraftMembers,
    ];
    return namesOf(from, there).flatMap(
      (key) => memberChange([name, key], { first: from[key], mine: here[key], theirs: there[key] }, resolutions) ?? [],
    );
  });
}

function memberChange(
  path: readonly string[],
  { first, mine, theirs }: { readonly first: unknown; readonly mine: unknown; readonly theirs: unknown },
  resolutions: Resolutions,
): RemoteChange | undefined {
  if (equal(theirs ?? null, first ?? null)) return undefined;
  const resolution = resolutions.get(keyOf(path));
  // A later change by the other user invalidates the user's choice.
  const isResolved = resolution !== undefined && equal(resolution.theirs ?? null, theirs ?? null);
  const isTheirs = equal(mine ?? null, theirs ?? null);
  if (isTheirs)
    return { path, theirs, mine: resolution?.mine, isMine: isResolved, whose: isResolved ? 'theirs' : undefined };
  const isMine = isResolved || !equal(mine ?? null, first ?? null);
  return { path, theirs, mine, isMine, whose: isResolved ? 'mine' : undefined };
}

/** Whether a change is an unresolved conflict. */
export function isUndecided({ isMine, whose }: RemoteChange): boolean {
  return isMine && whose === undefined;
}

/** Merged version to save: this user's edits, and the other user's changes that are without conflict or were chosen. */
export function merged({ mine }: ThreeVersions, changes: readonly RemoteChange[]): DraftMembers {
  const taken = changes.filter(({ isMine, whose }) => !isMine || whose === 'theirs');
  return taken.reduce((members, { path, theirs }) => withMember(members, path, theirs), mine);
}

/** Key of a path in a map. */
export function keyOf(path: readonly string[]): string {
  return JSON.stringify(path);
}

/** Sets the value at a path; undefined removes it. Removing the last property removes `properties`. */
export function withMember(
  members: DraftMembers,
  [name = '', ...inner]: readonly string[],
  value: unknown,
): DraftMembers {
  const next: Record<string, unknown> = { ...members };
  if (inner.length === 0) {
    set(next, name, value);
    return next;
  }
  const within = withMember((members[name] ?? {}) as DraftMembers, inner, value);
  set(next, name, Object.keys(within).length === 0 ? undefined : within);
  return next;
}

/** Sets a member; undefined removes it. */
export function set(members: Record<string, unknown>, name: string, value: unknown): void {
  if (value === undefined) delete members[name];
  else members[name] = value;
}

/** Members in which two versions differ. */
export function changesBetween(first: DraftMembers, value: DraftMembers): DraftChanges {
  const changes: Record<string, { was?: unknown; is?: unknown }> = {};
  for (const name of namesOf(first, value)) {
    if (equal(first[name] ?? null, value[name] ?? null)) continue;
    changes[name] = {
      ...(first[name] !== undefined && { was: first[name] }),
      ...(value[name] !== undefined && { is: value[name] }),
    };
  }
  return changes;
}

function namesOf(...all: readonly DraftMembers[]): readonly string[] {
  return [...new Set(all.flatMap((members) => Object.keys(members)))];
}

function isObjectOrAbsent(value: unknown): boolean {
  return value == null || (typeof value === 'object' && !Array.isArray(value));
}
