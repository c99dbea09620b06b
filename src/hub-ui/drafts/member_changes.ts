import { equal } from '../json/equal.ts';

/**
 * What two people have made of one entity. A member counts as a whole, be it a name or a shape; of properties each counts
 * by itself, since they are many, and of many.
 */

export type Members = Readonly<Record<string, unknown>>;

export type Whose = 'theirs' | 'mine';

/** A member that somebody else has changed. */
export interface MemberChange {
  /** The name of the member, and that of the property in it. */
  readonly path: readonly string[];
  readonly theirs: unknown;
  readonly mine: unknown;
  /** Whether it was changed here, too, and into something else: then somebody has to choose. */
  readonly isMine: boolean;
  /** Whose value is in the draft because somebody has chosen it; undefined before that. */
  readonly whose: Whose | undefined;
}

/** Choices that were made, by the keys of their paths. */
export type Answers = ReadonlyMap<string, MemberChange>;

export interface ThreeVersions {
  /** What both have begun with. */
  readonly first: Members;
  readonly mine: Members;
  readonly theirs: Members;
}

/** Members of a draft that were changed: what they were, and what they are. Absent is absent. */
export type DraftChanges = Readonly<Record<string, { readonly was?: unknown; readonly is?: unknown }>>;

/** The members that somebody else has changed, each with both values and with what was chosen. */
export function memberChanges({ first, mine, theirs }: ThreeVersions, answers: Answers): readonly MemberChange[] {
  return namesOf(first, theirs).flatMap((name) => {
    const [was, is, their] = [first[name], mine[name], theirs[name]];
    if (name !== 'properties' || ![was, is, their].every(isObjectOrAbsent)) {
      return memberChange([name], { first: was, mine: is, theirs: their }, answers) ?? [];
    }
    const [from, here, there] = [was, is, their].map((value) => (value ?? {}) as Members) as [
      Members,
      Members,
      Members,
    ];
    return namesOf(from, there).flatMap(
      (key) => memberChange([name, key], { first: from[key], mine: here[key], theirs: there[key] }, answers) ?? [],
    );
  });
}

function memberChange(
  path: readonly string[],
  { first, mine, theirs }: { readonly first: unknown; readonly mine: unknown; readonly theirs: unknown },
  answers: Answers,
): MemberChange | undefined {
  if (equal(theirs ?? null, first ?? null)) return undefined;
  const answer = answers.get(keyOf(path));
  // Once they have changed it again, the choice was about something else.
  const isAnswered = answer !== undefined && equal(answer.theirs ?? null, theirs ?? null);
  const isTheirs = equal(mine ?? null, theirs ?? null);
  if (isTheirs)
    return { path, theirs, mine: answer?.mine, isMine: isAnswered, whose: isAnswered ? 'theirs' : undefined };
  const isMine = isAnswered || !equal(mine ?? null, first ?? null);
  return { path, theirs, mine, isMine, whose: isAnswered ? 'mine' : undefined };
}

/** Whether somebody has to choose between two values, and has not. */
export function isUndecided({ isMine, whose }: MemberChange): boolean {
  return isMine && whose === undefined;
}

/** What is to be saved: what was made of it here, and, of what was not touched here or was left to them, theirs. */
export function merged({ mine }: ThreeVersions, changes: readonly MemberChange[]): Members {
  const taken = changes.filter(({ isMine, whose }) => !isMine || whose === 'theirs');
  return taken.reduce((members, { path, theirs }) => withMember(members, path, theirs), mine);
}

/** What a path is called in a map. */
export function keyOf(path: readonly string[]): string {
  return JSON.stringify(path);
}

/** Members with another value at a path; undefined takes it away, and properties go with the last of them. */
export function withMember(members: Members, [name = '', ...inner]: readonly string[], value: unknown): Members {
  const next: Record<string, unknown> = { ...members };
  if (inner.length === 0) {
    set(next, name, value);
    return next;
  }
  const within = withMember((members[name] ?? {}) as Members, inner, value);
  set(next, name, Object.keys(within).length === 0 ? undefined : within);
  return next;
}

/** Sets a member, or takes it away. */
export function set(members: Record<string, unknown>, name: string, value: unknown): void {
  if (value === undefined) delete members[name];
  else members[name] = value;
}

/** The members in which one version differs from another. */
export function changesBetween(first: Members, value: Members): DraftChanges {
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

function namesOf(...all: readonly Members[]): readonly string[] {
  return [...new Set(all.flatMap((members) => Object.keys(members)))];
}

function isObjectOrAbsent(value: unknown): boolean {
  return value == null || (typeof value === 'object' && !Array.isArray(value));
}
