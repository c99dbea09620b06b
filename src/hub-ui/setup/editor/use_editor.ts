import { effect } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { useRoute } from 'wouter-preact';
import { EntityDraft } from '../../drafts/entity_draft.ts';
import { can } from '../../hub/access.ts';
import type { Entities, Kind } from '../../hub/entity_kinds.ts';
import { mirrorOf } from '../../hub/mirrors.ts';
import { type Draft, entityPath, request } from '../../hub/rest.ts';
import { type DraftKey, saveDraft, savedDraft } from '../../hub/saved_drafts.ts';
import { storeOf, useEntities } from '../../hub/stores.ts';

/** Unsaved drafts by kind and id, which survive navigation. */
const drafts = new Map<string, EntityDraft<Kind>>();

/** Parsed URL of a setup page. */
export type SetupRoute =
  | { readonly at: 'index' }
  | { readonly at: 'new' }
  | { readonly at: 'one'; readonly id: string };

/** Parses `/zones`, `/zones/new` and `/zones/<id>`. */
export function useSetupRoute(kind: Kind): SetupRoute {
  const [, params] = useRoute(`/${kind}/:id`);
  const items = useEntities(kind);
  const raw = params?.['id'];
  if (raw === undefined) return { at: 'index' };
  const id = decoded(raw);
  return id === 'new' && !items.has(id) ? { at: 'new' } : { at: 'one', id };
}

/** Reason why there is no draft. */
export type NoEditorState = 'waiting' | 'missing' | 'forbidden';

export interface Editor<K extends Kind> {
  readonly draft: EntityDraft<K>;
  /** Current version on the hub; undefined for a new entity. */
  readonly stored: Entities[K] | undefined;
  /** Version that another user has saved since the draft began; undefined if none has. */
  readonly overtakenBy: Entities[K] | undefined;
  /** Whether the user may create or change it. */
  readonly mayChange: boolean;
}

/** Current version on the hub; undefined if missing or not loaded. */
export function useStored<K extends Kind>(kind: K, id: string | undefined): Entities[K] | undefined {
  return useEntities(kind).get(id ?? '');
}

/**
 * Draft of an entity, or of a new one if `id` is undefined. `stored` is the current version on the hub. Returns `waiting`
 * until the entities are loaded, `missing` if there is no such id, and `forbidden` if the user may not create one.
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
  const isLoaded = id === undefined || stored !== undefined || drafts.has(key);
  const draft = useMemo(() => {
    if (!isLoaded) return undefined;
    const unsaved = drafts.get(key) as unknown as EntityDraft<K> | undefined;
    const found = unsaved ?? new EntityDraft(kind, id === undefined ? { first } : { saved: stored });
    if (unsaved === undefined) found.offered.value = savedDraft({ kind, id: id ?? '' }, Date.now());
    drafts.set(key, found as unknown as EntityDraft<Kind>);
    return found;
  }, [key, isLoaded]);
  useEffect(() => {
    return () => {
      // Discard unchanged drafts.
      if (draft !== undefined && drafts.get(key) === draft && !draft.isChanged.peek()) drafts.delete(key);
    };
  }, [key, draft]);
  useEffect(() => (draft === undefined ? undefined : persistEdits(draft, { kind, id: id ?? '' })), [key, draft]);
  // Adopt changes by other users unless the draft has edits.
  const theirs = draft?.newest(stored);
  const isChanged = draft?.isChanged.value === true;
  const isSaving = draft?.isSaving.value === true;
  const isNewer = draft !== undefined && stored !== undefined && !isSaving && theirs !== draft.seen;
  useEffect(() => {
    // Check again: the user may have started to type since the render.
    if (isNewer && theirs !== undefined && !draft.isChanged.peek()) draft.follow(theirs);
  }, [isNewer, isChanged, theirs, draft]);
  useUnsavedWarning(isChanged);
  const isNew = draft?.saved.value === undefined;
  const mayChange = isNew
    ? can('CREATE', `/${kind}`)
    : mirrorOf(stored) === undefined && can('UPDATE', entityPath(kind, id ?? ''));
  const isThere = items.value.has(id ?? '');
  if (draft === undefined) return state.value === 'waiting' || isThere ? 'waiting' : 'missing';
  if (isNew && !mayChange) return 'forbidden';
  const isOvertaken = isNewer && isChanged && theirs !== undefined && draft.changesOf(theirs).length > 0;
  return { draft, stored, overtakenBy: isOvertaken ? theirs : undefined, mayChange };
}

/** Debounce interval for storing the draft. */
const PERSIST_AFTER_MS = 300;

/** Stores the edits of a draft in the browser until they are saved or undone; returns a function that stops this. */
function persistEdits<K extends Kind>(draft: EntityDraft<K>, place: DraftKey): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const write = (): void => {
    clearTimeout(timer);
    timer = undefined;
    // An offered draft that is still unanswered stays, below the new edits.
    saveDraft(place, { atMs: Date.now(), changes: { ...draft.offered.peek()?.changes, ...draft.changed() } });
  };
  const flush = (): void => {
    if (timer !== undefined) write();
  };
  let isFirst = true;
  const stop = effect(() => {
    const isChanged = draft.isChanged.value && draft.value.value !== undefined;
    const isUntouched = isFirst && draft.offered.value !== undefined && !isChanged;
    isFirst = false;
    if (isUntouched) return;
    // Saved or undone edits are removed at once, so that a reload does not offer them.
    if (isChanged) timer ??= setTimeout(write, PERSIST_AFTER_MS);
    else write();
  });
  addEventListener('pagehide', flush);
  return () => {
    removeEventListener('pagehide', flush);
    stop();
    flush();
  };
}

/** Reads the current version of an entity in the edited form: a region in its stored plane. */
export function readAgain<K extends Kind>(kind: K, edited: Entities[K]): Promise<Entities[K]> {
  const { crs, zone_id: zoneId } = edited as { readonly crs?: string | null; readonly zone_id?: string | null };
  const isLocal = kind === 'fences' && crs === 'local' && zoneId != null;
  return request<Entities[K]>('GET', entityPath(kind, edited.id), {
    isOnce: true,
    ...(isLocal && { query: { crs: 'local', zone_id: zoneId } }),
  }).then((read) => (isLocal ? { ...read, zone_id: zoneId } : read));
}

/** Discards the draft of a deleted entity. */
export function forgetDraft(kind: Kind, id: string): void {
  drafts.delete(`${kind} ${id}`);
  saveDraft({ kind, id }, { atMs: 0, changes: {} });
}

/** Moves the draft of a new entity to its id after creation. */
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
    // The router has already decoded an id that contains a percent sign.
    return text;
  }
}
