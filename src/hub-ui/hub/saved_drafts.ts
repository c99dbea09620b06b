import { session } from './access.ts';
import { PREFIX } from './api_path.ts';
import type { Kind } from './entity_kinds.ts';

/**
 * Unsaved edits of forms, stored in the browser so that they survive a lost connection and a reload. Each user has their
 * own drafts, and signing out deletes them.
 */

/** Prefix of the storage keys, different for each hub on an origin. */
const KEY_START = `${PREFIX}hub-draft `;
/** Maximum number of drafts; the oldest are deleted. */
const DRAFTS_MAX = 50;
const CHARACTERS_MAX = 1_000_000;
const MAX_AGE_MS = 30 * 24 * 3_600_000;

/** Subject of a draft: an entity, with an empty id if it is new, or the rules of the hub. */
export interface DraftKey {
  readonly kind: Kind | 'rules';
  readonly id: string;
}

export interface SavedDraft {
  readonly atMs: number;
  /** Old and new values by member name. An absent value means an absent member. */
  readonly changes: Readonly<Record<string, { readonly was?: unknown; readonly is?: unknown }>>;
}

/** Returns the user's stored draft of an entity, if any. */
export function savedDraft({ kind, id }: DraftKey, nowMs: number): SavedDraft | undefined {
  const saved = read(keyOf(kind, id));
  return saved !== undefined && nowMs - saved.atMs < MAX_AGE_MS ? saved : undefined;
}

/** Returns the ids of a kind with stored drafts of the user; empty for a new entity. */
export function savedDraftIds(kind: Kind): ReadonlySet<string> {
  const ids = keys().map((key) => JSON.parse(key.slice(KEY_START.length)) as readonly string[]);
  return new Set(ids.flatMap(([who, of, id = '']) => (who === person() && of === kind ? [id] : [])));
}

/** Stores a draft, or deletes it if it has no changes. Returns false if it is too large. */
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

/** Deletes all drafts of the user. */
export function deleteDrafts(): void {
  for (const key of keys()) {
    const [who] = JSON.parse(key.slice(KEY_START.length)) as readonly string[];
    if (who === person()) localStorage.removeItem(key);
  }
}

/** Deletes expired drafts, and the oldest beyond the limit. */
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

/** Runs a storage operation, which fails if storage is full or disabled. */
function attempt(act: () => void): boolean {
  try {
    act();
    return true;
  } catch {
    return false;
  }
}
