import { effect } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { useRoute } from 'wouter-preact';
import { EntityDraft } from '../../drafts/entity_draft.ts';
import { can } from '../../hub/access.ts';
import type { Entities, Kind } from '../../hub/entity_kinds.ts';
import { type Draft, entityPath, request } from '../../hub/rest.ts';
import { type DraftPlace, keepDraft, keptDraft } from '../../hub/saved_drafts.ts';
import { storeOf, useEntities } from '../../hub/stores.ts';

/** Drafts that were left unsaved, by kind and id: whoever comes back finds them. */
const drafts = new Map<string, EntityDraft<Kind>>();

/** What the address of a set-up page means. */
export type Asked = { readonly at: 'index' } | { readonly at: 'new' } | { readonly at: 'one'; readonly id: string };

/** Reads `/zones`, `/zones/new` and `/zones/<id>`. */
export function useAsked(kind: Kind): Asked {
  const [, params] = useRoute(`/${kind}/:id`);
  const items = useEntities(kind);
  const raw = params?.['id'];
  if (raw === undefined) return { at: 'index' };
  const id = decoded(raw);
  return id === 'new' && !items.has(id) ? { at: 'new' } : { at: 'one', id };
}

/** Address of the page that edits an entity. */
export function editorPath(kind: Kind, id: string): string {
  return `/${kind}/${encodeURIComponent(id)}`;
}

/** Why there is no draft to be edited. */
export type NoEditorState = 'waiting' | 'missing' | 'forbidden';

export interface Editor<K extends Kind> {
  readonly draft: EntityDraft<K>;
  /** What the hub has now; undefined for what is new. */
  readonly stored: Entities[K] | undefined;
  /** What somebody else has made of it since the draft began; undefined where nobody has. */
  readonly overtakenBy: Entities[K] | undefined;
  /** Whether the user may create it, or change it. */
  readonly mayChange: boolean;
}

/** The entity as the hub has it now; undefined when it has none, or has not said yet. */
export function useStored<K extends Kind>(kind: K, id: string | undefined): Entities[K] | undefined {
  return useEntities(kind).get(id ?? '');
}

/**
 * The draft of an entity, or of a new one where `id` is undefined. `stored` is the entity as the hub has it now. Returns
 * `waiting` until the entities are known, `missing` where there is none of the id, and `forbidden` where the user may
 * not create one.
 */
export function useEditor<K extends Kind>(
  kind: K,
  {
    id,
    stored,
    first,
  }: { readonly id: string | undefined; readonly stored: Entities[K] | undefined; readonly first: Draft<K> },
): Editor<K> | NoEditorState {
  const { state, items } = storeOf(kind);
  const key = `${kind} ${id ?? ''}`;
  const isKnown = id === undefined || stored !== undefined || drafts.has(key);
  const draft = useMemo(() => {
    if (!isKnown) return undefined;
    const left = drafts.get(key) as unknown as EntityDraft<K> | undefined;
    const found = left ?? new EntityDraft(kind, id === undefined ? { first } : { kept: stored });
    if (left === undefined) found.offered.value = keptDraft({ kind, id: id ?? '' }, Date.now());
    drafts.set(key, found as unknown as EntityDraft<Kind>);
    return found;
  }, [key, isKnown]);
  useEffect(() => {
    return () => {
      // What was not changed is begun anew the next time.
      if (draft !== undefined && drafts.get(key) === draft && !draft.isChanged.peek()) drafts.delete(key);
    };
  }, [key, draft]);
  useEffect(() => (draft === undefined ? undefined : keepWhatIsWritten(draft, { kind, id: id ?? '' })), [key, draft]);
  // What others change is taken over, unless it would undo what is being done here.
  const theirs = draft?.newest(stored);
  const isChanged = draft?.isChanged.value === true;
  const isSaving = draft?.isSaving.value === true;
  const isNewer = draft !== undefined && stored !== undefined && !isSaving && theirs !== draft.seen;
  useEffect(() => {
    // Asked anew: somebody may have begun to write since this was drawn.
    if (isNewer && theirs !== undefined && !draft.isChanged.peek()) draft.follow(theirs);
  }, [isNewer, isChanged, theirs, draft]);
  useUnsavedWarning(isChanged);
  const isNew = draft?.kept.value === undefined;
  const mayChange = isNew ? can('CREATE', `/${kind}`) : can('UPDATE', entityPath(kind, id ?? ''));
  const isThere = items.value.has(id ?? '');
  if (draft === undefined) return state.value === 'waiting' || isThere ? 'waiting' : 'missing';
  if (isNew && !mayChange) return 'forbidden';
  const isOvertaken = isNewer && isChanged && theirs !== undefined && draft.changesOf(theirs).length > 0;
  return { draft, stored, overtakenBy: isOvertaken ? theirs : undefined, mayChange };
}

/** How long somebody goes on writing before it is kept. */
const KEEP_AFTER_MS = 300;

/** Keeps what is written in the browser until it is saved or taken back; returns what ends that. */
function keepWhatIsWritten<K extends Kind>(draft: EntityDraft<K>, place: DraftPlace): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const write = (): void => {
    clearTimeout(timer);
    timer = undefined;
    // What is offered and not answered yet stays, below what is written now.
    keepDraft(place, { atMs: Date.now(), changes: { ...draft.offered.peek()?.changes, ...draft.changed() } });
  };
  const flush = (): void => {
    if (timer !== undefined) write();
  };
  let isFirst = true;
  const end = effect(() => {
    const isChanged = draft.isChanged.value && draft.value.value !== undefined;
    const isUntouched = isFirst && draft.offered.value !== undefined && !isChanged;
    isFirst = false;
    if (isUntouched) return;
    // What is saved or taken back is not offered again, however soon the page is left.
    if (isChanged) timer ??= setTimeout(write, KEEP_AFTER_MS);
    else write();
  });
  addEventListener('pagehide', flush);
  return () => {
    removeEventListener('pagehide', flush);
    end();
    flush();
  };
}

/** What the hub has now of an entity, in the form in which it is edited: a region in the plane that it is kept in. */
export function readAgain<K extends Kind>(kind: K, edited: Entities[K]): Promise<Entities[K]> {
  const { crs, zone_id: zoneId } = edited as { readonly crs?: string | null; readonly zone_id?: string | null };
  const isLocal = kind === 'fences' && crs === 'local' && zoneId != null;
  return request<Entities[K]>('GET', entityPath(kind, edited.id), {
    isOnce: true,
    ...(isLocal && { query: { crs: 'local', zone_id: zoneId } }),
  }).then((read) => (isLocal ? { ...read, zone_id: zoneId } : read));
}

/** Forgets the draft of what is deleted. */
export function forgetDraft(kind: Kind, id: string): void {
  drafts.delete(`${kind} ${id}`);
  keepDraft({ kind, id }, { atMs: 0, changes: {} });
}

/** What was new has its id by now, and is edited on. */
export function moveDraft(kind: Kind, id: string): void {
  const draft = drafts.get(`${kind} `);
  drafts.delete(`${kind} `);
  if (draft !== undefined) drafts.set(`${kind} ${id}`, draft);
}

function useUnsavedWarning(isOn: boolean): void {
  useEffect(() => {
    if (!isOn) return;
    const warn = (event: BeforeUnloadEvent): void => event.preventDefault();
    addEventListener('beforeunload', warn);
    return () => removeEventListener('beforeunload', warn);
  }, [isOn]);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // The router has decoded it already, and there was a percent sign in it.
    return text;
  }
}
