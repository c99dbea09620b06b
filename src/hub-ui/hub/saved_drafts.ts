import { session } from './access.ts';
import { PREFIX } from './api_path.ts';
import type { Kind } from './entity_kinds.ts';

/**
 * What was changed in a form and is not saved yet, kept by the browser: neither a lost connection nor a page that is
 * loaded again takes it. Each person who signs in has their own, and signing out takes them away.
 */

/** Several hubs may share an origin. */
const KEY_START = `${PREFIX}hub-draft `;
/** The oldest go where there are more. */
const DRAFTS_MAX = 50;
const CHARACTERS_MAX = 1_000_000;
const MAX_AGE_MS = 30 * 24 * 3_600_000;

/** What a draft is of: an entity, which has no id yet where it is new, or the rules of the hub. */
export interface DraftKey {
  readonly kind: Kind | 'rules';
  readonly id: string;
}

export interface SavedDraft {
  readonly atMs: number;
  /** By the names of members: what they were, and what they are to be. Absent is absent. */
  readonly changes: Readonly<Record<string, { readonly was?: unknown; readonly is?: unknown }>>;
}

/** The draft of an entity that this person has left unsaved, if any. */
export function savedDraft({ kind, id }: DraftKey, nowMs: number): SavedDraft | undefined {
  const saved = read(keyOf(kind, id));
  return saved !== undefined && nowMs - saved.atMs < MAX_AGE_MS ? saved : undefined;
}

/** The ids of a kind of which this person has left drafts unsaved; of a new one it is empty. */
export function savedDraftIds(kind: Kind): ReadonlySet<string> {
  const ids = keys().map((key) => JSON.parse(key.slice(KEY_START.length)) as readonly string[]);
  return new Set(ids.flatMap(([who, of, id = '']) => (who === person() && of === kind ? [id] : [])));
}

/** Keeps a draft, or forgets it where nothing is changed. Returns false for one that is too large to be kept. */
export function saveDraft({ kind, id }: DraftKey, draft: SavedDraft): boolean {
  const key = keyOf(kind, id);
  if (Object.keys(draft.changes).length === 0) {
    attempt(() => localStorage.removeItem(key));
    return true;
  }
  const text = JSON.stringify(draft);
  if (text.length > CHARACTERS_MAX) return false;
  prune(key, draft.atMs);
  return attempt(() => localStorage.setItem(key, text));
}

/** Forgets all drafts of this person. */
export function deleteDrafts(): void {
  for (const key of keys()) {
    const [who] = JSON.parse(key.slice(KEY_START.length)) as readonly string[];
    if (who === person()) localStorage.removeItem(key);
  }
}

/** Makes room: what is too old goes, and the oldest of too many. */
function prune(coming: string, nowMs: number): void {
  const others = keys().filter((key) => key !== coming);
  const byAge = others.map((key) => ({ key, atMs: read(key)?.atMs ?? 0 })).sort((a, b) => b.atMs - a.atMs);
  const stale = byAge.filter(({ atMs }, index) => index >= DRAFTS_MAX - 1 || nowMs - atMs > MAX_AGE_MS);
  for (const { key } of stale) localStorage.removeItem(key);
}

function person(): string {
  return session.peek()?.subject ?? '';
}

function keyOf(kind: DraftKey['kind'], id: string): string {
  return KEY_START + JSON.stringify([person(), kind, id]);
}

function keys(): readonly string[] {
  const found: string[] = [];
  attempt(() => {
    for (let i = 0; i < localStorage.length; i++) found.push(localStorage.key(i) ?? '');
  });
  return found.filter((key) => key.startsWith(KEY_START));
}

function read(key: string): SavedDraft | undefined {
  let saved: SavedDraft | null = null;
  attempt(() => {
    saved = JSON.parse(localStorage.getItem(key) ?? 'null') as SavedDraft | null;
  });
  return saved ?? undefined;
}

/** A browser may have no room, or be told to keep nothing. */
function attempt(act: () => void): boolean {
  try {
    act();
    return true;
  } catch {
    return false;
  }
}
